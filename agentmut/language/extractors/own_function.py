"""Facts that a user's own function reads from a run."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import RunError, arguments, error_location, import_callable, required_parameters
from agentmut.nouns import IS, AgentTrace, Fact, Scenario


class OwnFunction:
    """`python: module:function`: the function returns the facts, as texts or as a mapping of names to values.

    It is called with `(scenario, trace)`, or with `(trace)` when it has one required parameter.
    """

    name: ClassVar[str] = "python"

    def __init__(self, argument: JsonValue = None) -> None:
        self.reference = arguments.text(argument, "module:function")
        self.function = import_callable(self.reference)
        self.takes_scenario = required_parameters(self.function, self.reference) == 2

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the facts that the function returns. Raise `RunError` if it fails or returns something else."""
        try:
            found = self.function(scenario, trace) if self.takes_scenario else self.function(trace)
            return frozenset(Fact(self.name, value) for value in self._values(found))
        except KeyboardInterrupt:  # Ctrl-C
            raise
        except BaseException as error:  # anybody's code
            raise RunError(
                f"{self.reference}, which reads facts of scenario {scenario.name!r}, raised "
                f"{type(error).__name__}: {error} ({error_location(error)}). Fix the function."
            ) from error

    def _values(self, found: Any) -> list[str]:
        if isinstance(found, Mapping):
            return [f"{name}{IS}{value}" for name, value in found.items()]
        if isinstance(found, str | bytes) or found is None:
            raise TypeError(f"returned {found!r}; expected a list of texts or a mapping of names to values")
        return [str(value) for value in found]
