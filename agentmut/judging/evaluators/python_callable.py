"""An evaluator in the user's Python code."""

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentmut._base import arguments, import_callable, required_parameters
from agentmut.nouns import AgentTrace, Check, Scenario
from agentmut.seams import HasSource, shown


class PythonCallable(HasSource):
    """`python: module:function`: the function judges the trace.

    It is called with `(scenario, trace)`, or with `(trace)` when it has one required parameter, and
    returns true or false, `(passed, reason)`, or a `Check`. A failed `assert` in it fails the trial; any
    other exception is an error of the evaluator.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.reference = arguments.text(argument, "module:function")
        self.function = import_callable(self.reference)
        if inspect.iscoroutinefunction(self.function):
            raise ValueError(f"expects a plain function; {self.reference} is async")
        self.takes_scenario = required_parameters(self.function, self.reference) == 2

    @cached_property
    def source(self) -> str:
        """Return the text of the function's module, if there is one: a change of it may change the judgement."""
        file = inspect.getsourcefile(inspect.unwrap(self.function))
        return Path(file).read_text("utf-8", "replace") if file and Path(file).is_file() else ""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Call the function."""
        try:
            verdict = self.function(scenario, trace) if self.takes_scenario else self.function(trace)
        except AssertionError as error:
            return self._check(False, f"{self.reference}: {error}" if str(error) else "")
        return self._read(verdict)

    def _read(self, verdict: Any) -> Check:
        match verdict:
            case Check():
                return verdict
            case bool(passed):
                return self._check(passed)
            case (bool(passed), str(reason)):
                return self._check(passed, reason)
        raise TypeError(
            f"{self.reference} returned {shown(verdict)}; expected true or false, (passed, reason), or a Check"
        )

    def _check(self, passed: bool, reason: str = "") -> Check:
        said = reason or f"{self.reference} {'holds' if passed else 'does not hold'}"
        return Check(evaluator="python", passed=passed, reason=said)
