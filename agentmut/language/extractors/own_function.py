"""Facts that a user's own function reads from a run."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import (
    RunError,
    arguments,
    briefly,
    error_location,
    import_callable,
    required_parameters,
    storable,
)
from agentmut.nouns import IS, AgentTrace, Fact, Scenario

MOST_FACTS = 100_000
"""Facts that a function may read from one run."""


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
        return frozenset(Fact(self.name, value) for value in self.values(scenario, trace))

    def values(self, scenario: Scenario, trace: AgentTrace) -> list[str]:
        """Return the facts as texts. Raises like `facts`."""
        try:
            found = self.function(scenario, trace) if self.takes_scenario else self.function(trace)
            values = _texts(found)
        except KeyboardInterrupt:  # Ctrl-C
            raise
        except BaseException as error:  # anybody's code
            where = f"({error_location(error)}). Fix the function."
            raise RunError(f"{self.label(scenario)}, raised {briefly(error)} {where}") from error
        if values is None:
            said = f"returned {_shown(found)}; expected at most {MOST_FACTS:,} texts, or a mapping of names to values"
            raise RunError(f"{self.label(scenario)}, {said}. Fix the function.")
        return values

    def label(self, scenario: Scenario) -> str:
        """Return the function's name for messages."""
        return f"{self.reference}, which reads facts of scenario {scenario.name!r}"


def _texts(found: Any) -> list[str] | None:
    """Return what a function returned as texts; None for what is neither texts nor a mapping, or has no end."""
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        return None
    if isinstance(found, Mapping):
        return [storable(f"{name}{IS}{value}") for name, value in found.items()]
    values = [storable(str(value)) for value in islice(found, MOST_FACTS + 1)]
    return values if len(values) <= MOST_FACTS else None


def _shown(found: Any) -> str:
    try:
        return f"{storable(repr(found))[:80]} ({type(found).__name__})"
    except Exception:  # of a `__repr__` of users
        return f"a {type(found).__name__}"
