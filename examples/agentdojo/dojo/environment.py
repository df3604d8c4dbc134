"""An AgentDojo suite: its tools, an environment for each run, and its own checks of what a run did."""

import json
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from agentdojo.functions_runtime import Function, FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from pydantic_core import to_jsonable_python

import agentmut
from agentmut import AgentTrace, Scenario

VERSION = "v1.2.2"


class Dojo:
    """One suite of AgentDojo. What its tools change belongs to the run that calls them."""

    def __init__(self, suite: str, tools: tuple[str, ...]) -> None:
        """`tools` are the names of those that the agent has."""
        self._suite = get_suite(VERSION, suite)
        self._original = self._suite.load_and_inject_default_environment({})
        self._runtime = FunctionsRuntime(self._suite.tools)
        self._here: ContextVar[Any] = ContextVar(f"environment of {suite}")
        known = {tool.name: tool for tool in self._suite.tools}
        self._judged = lru_cache(maxsize=10_000)(self._judge)  # many runs are alike, and some checks are slow
        self.tools = [_described(known[name]) for name in tools]
        self.functions = {name: agentmut.tool(self._callable(name)) for name in tools}

    def enter(self) -> None:
        """Give the run that calls this an environment of its own."""
        self._here.set(self._fresh())

    def task_done(self, scenario: Scenario, trace: AgentTrace) -> bool:
        """AgentDojo's own check of the user task that the scenario is.

        The environment after the run is made again from the calls in the trace, so stored runs can be judged too.
        """
        calls = [
            {"function": step.tool, "args": step.arguments or {}}
            for step in trace.tool_calls
            if step.tool in self.functions and not step.error
        ]
        return self._judged(scenario.turns, trace.text, json.dumps(calls))

    def _judge(self, turns: tuple[Any, ...], answer: str, made: str) -> bool:
        task = next(t for t in self._suite.user_tasks.values() if turns == (t.PROMPT,))
        calls = [FunctionCall(**call) for call in json.loads(made)]
        before, after = self._fresh(), self._fresh()
        for call in calls:
            self._runtime.run_function(after, call.function, call.args)
        seen = task.utility_from_traces(answer, before, after, calls)
        return bool(task.utility(answer, before, after) if seen is None else seen)

    def _fresh(self) -> Any:
        return self._original.model_copy(deep=True)

    def _callable(self, name: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            result, _ = self._runtime.run_function(self._here.get(), name, arguments, raise_on_error=True)
            return to_jsonable_python(result)

        call.__name__ = name
        return call


def _described(tool: Function[..., Any]) -> dict[str, Any]:
    schema = json.loads(json.dumps(tool.parameters.model_json_schema()))
    return {"name": tool.name, "description": tool.description, "parameters": {**schema, "title": tool.name}}
