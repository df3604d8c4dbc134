"""Facts: what an answer states or a run does, in a form in which wording makes no difference."""

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from agentmut.scenario import Scenario
from agentmut.trace import AgentTrace


class Fact(NamedTuple):
    """One fact. Two are the same fact when `kind` and `value` are equal."""

    kind: str
    """The extractor's name."""
    value: str
    """Normalised, so that `$1,200.00` and `1200 dollars` are equal."""


@runtime_checkable
class Extractor(Protocol):
    """Reads facts of one kind off a run. Built as `Class(argument)`; argument None where none is given."""

    name: ClassVar[str]

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """The facts that the run shows. Pure and deterministic."""
        ...
