"""Evaluator functions in the form of LangSmith and openevals: of inputs, outputs and reference outputs."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

from agentmut._base import (
    NotJudgedError,
    UsageError,
    arguments,
    check_reference,
    error_location,
    import_callable,
    one_line,
    passes,
    plain_score,
    read_pass_score,
    score_reason,
)
from agentmut.judging.evaluators.json_values import as_text, shown, written_json
from agentmut.nouns import Action, AgentTrace, Check, Scenario
from agentmut.recording import completed
from agentmut.seams import HasSource

KEYS = ("function", "reference", "args", "pass_score", "input_key", "output_key", "reference_key", "outputs")
_GIVEN = ("inputs", "outputs", "reference_outputs")
_OLD = ("run", "example")
_OPTIONS: Mapping[str, str] = MappingProxyType({
    "reference": "reference_outputs", "reference_key": "reference_outputs", "input_key": "inputs",
    "output_key": "outputs", "outputs": "outputs",
})  # fmt: skip
"""Option -> the argument of the function that it needs."""


class LangSmith(HasSource):
    """`langsmith: module:function`, or a mapping with `function` and more.

    The function is called with those of `inputs`, `outputs` and `reference_outputs` that it takes by name, and with
    what `args` holds. `inputs` is what the user says (a list where there are several turns), `outputs` the answer, or
    with `outputs: trajectory` the run as a list of messages; `reference_outputs` is `reference`. With `input_key`,
    `output_key` or `reference_key` each is a mapping of one key. It returns true or false, a number, a mapping with
    `score`, `key` and `comment`, or a list of such; all must pass. Numbers pass from `pass_score` on. A score of None
    or NaN is none: unless another score fails, the run is not judged then. Sync or async.
    """

    def __init__(self, argument: JsonValue) -> None:
        given: Mapping[str, Any] = {"function": argument} if isinstance(argument, str) else _mapping(argument)
        self.reference = arguments.text(given["function"], "module:function")
        self.function = _imported(self.reference)
        self.given = given
        self.pass_score = read_pass_score(given.get("pass_score"))
        self._takes = _accepted_names(self.function, self.reference, given)

    @cached_property
    def source(self) -> str:
        """Return the text of the function's module, if there is one: a change of it may change the judgement."""
        module = inspect.getmodule(inspect.unwrap(self.function))
        file = getattr(module, "__file__", None)
        return Path(file).read_text("utf-8", "replace") if file and Path(file).is_file() else ""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Call the function on the trace; its own scores decide."""
        every = {
            "inputs": self._keyed("input_key", _inputs(scenario)),
            "outputs": self._keyed("output_key", self._outputs(scenario, trace)),
            "reference_outputs": self._keyed("reference_key", self.given.get("reference")),
        }
        named = {name: value for name, value in every.items() if name in self._takes}
        result = self._called(**named, **self.given.get("args", {}))
        scores = [self._keyed_score(one) for one in _scores(result)]
        if not scores:
            raise TypeError(f"{self.reference} returned {result!r}; expected a score, or a list of scores")
        judged = [self._judged(*one) for one in scores if not _is_no_score(one[1])]
        passed, reason = next((one for one in judged if not one[0]), (True, ""))
        if passed and len(judged) < len(scores):
            key = next(key for key, score, _ in scores if _is_no_score(score))
            raise NotJudgedError(f"{self.reference} gives no score for {key}, so it does not judge this run")
        reason = reason or judged[0][1]
        return Check(evaluator="langsmith", passed=passed, reason=reason)

    def _called(self, **given: Any) -> Any:
        try:
            return completed(self.function(**given))
        except Exception as error:
            raise NotJudgedError(
                f"{self.reference} raised {one_line(error)} ({error_location(error)})"
            ) from error

    def _outputs(self, scenario: Scenario, trace: AgentTrace) -> Any:
        return list(_messages(scenario, trace)) if self.given.get("outputs") == "trajectory" else trace.output

    def _keyed(self, option: str, value: Any) -> Any:
        key = self.given.get(option)
        return value if key is None else {key: value}

    def _keyed_score(self, score: Any) -> tuple[str, Any, str]:
        """Return a score with its name and comment. A mapping without `score` is no score."""
        fields = score if isinstance(score, Mapping) else {"score": score}
        key = str(fields.get("key") or self.reference.rpartition(":")[2])
        return key, plain_score(fields.get("score", score)), str(fields.get("comment") or "")

    def _judged(self, key: str, score: Any, comment: str) -> tuple[bool, str]:
        """Return whether a score passes, and the reason."""
        passed = passes(score, key, self.pass_score)
        if passed is None:
            raise TypeError(
                f"{self.reference} gives {shown(score) if _plain(score) else repr(score)}, which neither passes nor "
                "fails; it has to give true or false, or a number with `pass_score`, the least that passes"
            )
        return passed, score_reason(score, key, self.pass_score, comment)


def _mapping(argument: JsonValue) -> dict[str, JsonValue]:
    given = arguments.mapping(argument, KEYS[:1], KEYS[1:])
    if not isinstance(given.get("args", {}), dict):
        raise ValueError(f"args expects a mapping of keyword arguments, got {given['args']!r}")
    if given.get("outputs", "answer") not in ("answer", "trajectory"):
        raise ValueError(f"outputs is `answer` or `trajectory`, got {given['outputs']!r}")
    for key in ("input_key", "output_key", "reference_key"):
        if key in given:
            arguments.text(given[key], f"{key}: the name of a key")
    return given


def _imported(reference: str) -> Callable[..., Any]:
    package = check_reference(reference).partition(":")[0].partition(".")[0]
    try:
        return import_callable(reference)
    except UsageError as error:
        if package in ("openevals", "langsmith") and isinstance(error.__cause__, ImportError | None):
            raise UsageError(f"{error} openevals comes with: pip install 'agentmut[openevals]'") from error
        raise


def _accepted_names(
    function: Callable[..., Any], reference: str, argument: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the names by which the function takes what it judges. Raise `ValueError` if it needs other arguments."""
    parameters = inspect.signature(function).parameters.values()
    known = {one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}
    args = argument.get("args", {})
    if known & set(_OLD) and not known & set(_GIVEN):
        raise ValueError(
            f"{reference} takes LangSmith's (run, example); write it with inputs, outputs and reference_outputs"
        )
    if unnamed := [o.name for o in parameters if o.kind is o.POSITIONAL_ONLY and o.default is o.empty]:
        raise ValueError(f"{reference} takes {unnamed[0]!r} by position only; it has to take it by name")
    if both := sorted(args.keys() & set(_GIVEN)):
        raise ValueError(f"args may not hold {both[0]!r}, which is what the function judges")
    everything = any(one.kind is one.VAR_KEYWORD for one in parameters)
    required = [one.name for one in parameters if one.default is one.empty and one.name in known]
    for name in required:
        if name not in _GIVEN and name not in args:
            raise ValueError(f"{reference} needs the argument {name!r}; give it under `args`")
    if "reference_outputs" in required and "reference" not in argument:
        raise ValueError(f"{reference} needs reference_outputs; give the expected output as `reference`")
    if not everything and (unknown := sorted(args.keys() - known)):
        raise ValueError(f"{reference} takes no argument {unknown[0]!r}")
    for option, name in _OPTIONS.items():
        if option in argument and name not in known and not everything:
            raise ValueError(f"{option} is of no use: {reference} does not take {name!r}")
    if everything:
        known |= {name for name in _GIVEN if name != "reference_outputs" or "reference" in argument}
    return tuple(name for name in _GIVEN if name in known)


def _inputs(scenario: Scenario) -> Any:
    return scenario.turns[0] if len(scenario.turns) == 1 else list(scenario.turns)


def _scores(result: Any) -> list[Any]:
    """Return the scores in an evaluator's result: one, a list of them, or LangSmith's {"results": [...]}."""
    if isinstance(result, Mapping) and isinstance(result.get("results"), list):
        return list(result["results"])
    return list(result) if isinstance(result, list | tuple) else [result]


def _is_no_score(score: Any) -> bool:
    """Return whether the value stands for no score: "not applicable"."""
    return score is None or (isinstance(score, float) and math.isnan(score))


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _messages(scenario: Scenario, trace: AgentTrace) -> Iterator[dict[str, Any]]:
    """Yield the run as chat messages: user turns, tool calls with their results, and answers."""
    for turn, said in enumerate(scenario.turns):
        yield {"role": "user", "content": as_text(said)}
        for place, step in enumerate(step for step in trace.steps if step.turn == turn):
            if step.action is Action.CALL_TOOL:
                call_id = step.call_id or f"call_{turn}_{place}"
                called = {"name": step.tool or "", "arguments": written_json(step.arguments or {})}
                call = {"id": call_id, "type": "function", "function": called}
                yield {"role": "assistant", "content": "", "tool_calls": [call]}
                yield {"role": "tool", "tool_call_id": call_id, "content": as_text(step.error or step.output)}
        if turn < len(trace.outputs):
            yield {"role": "assistant", "content": as_text(trace.outputs[turn])}
