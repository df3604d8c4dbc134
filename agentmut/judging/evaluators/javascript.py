"""A JavaScript condition over one run, as in Cerberus."""

import json
from functools import cached_property
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import NotJudgedError, arguments
from agentmut.judging.evaluators.javascript_engines import Engine, ScriptError, installed_engine
from agentmut.judging.evaluators.json_values import as_text, shown
from agentmut.nouns import AgentTrace, Check, Scenario


class JavaScript:
    """`javascript: "output.meta.exitCode === 0"`, or a mapping with `assert`, and `metadata` of the scenario.

    Names: `output.meta` (`raw`, `stderr`, `exitCode`, `durationMs`, `jsonParsed`), `output.parsed` (the answer, where
    it is a JSON object, else an empty one), `scenario` (`input`, `metadata`). Any true value passes. A condition that
    raises says nothing about the agent.
    """

    id: ClassVar[str] = "javascript"

    def __init__(self, argument: JsonValue) -> None:
        mapped = arguments.mapping(argument, ["assert"], ["metadata"]) if isinstance(argument, dict) else {}
        self.condition = arguments.text(mapped.get("assert", argument), "a condition in JavaScript")
        self.metadata = mapped.get("metadata")
        self._check_syntax()

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Evaluate the condition over the trace. Raise `NotJudgedError` if it raises."""
        data = {"output": _output(trace), "scenario": self._scenario(scenario)}
        literal = json.dumps(json.dumps(data))  # as text: no key of it can mean anything to the engine
        call = f"(({{output, scenario}}) => Boolean({self.condition}))(JSON.parse({literal}))"
        try:
            passed = self._engine.is_true(f'"use strict"; {call}')
        except ScriptError as error:
            raise NotJudgedError(f"`{self.condition}` raised {error}") from error
        said = "holds" if passed else f"does not hold; output: {shown(trace.text)}"
        return Check(evaluator=self.id, passed=passed, reason=f"`{self.condition}` {said}")

    def _scenario(self, scenario: Scenario) -> dict[str, JsonValue]:
        given: dict[str, JsonValue] = {"input": as_text(scenario.turns[0])}
        return given if self.metadata is None else given | {"metadata": self.metadata}

    def _check_syntax(self) -> None:
        try:
            self._engine.is_true(f"(() => {{ (output, scenario) => Boolean({self.condition}) }})()")
        except ScriptError as error:
            raise ValueError(f"expects a condition in JavaScript: {error} in {self.condition!r}") from None

    @cached_property
    def _engine(self) -> Engine:
        return installed_engine()


def _output(trace: AgentTrace) -> dict[str, Any]:
    parsed = _parsed(trace.text)
    meta = {
        "raw": trace.text,
        "stderr": trace.stderr,
        "exitCode": trace.exit_code or 0,  # an agent that is no program has answered
        "durationMs": trace.seconds * 1000,
        "jsonParsed": parsed is not None,
    }
    return {"meta": meta, "parsed": parsed or {}}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
