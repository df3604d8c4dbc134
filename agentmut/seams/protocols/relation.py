"""The protocol of a metamorphic relation."""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from pydantic import JsonValue

from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
)
from agentmut.seams.capability import Capability


class RelationExample(NamedTuple):
    """A relation's documentation and test: a pair in which it holds, or one in which it does not."""

    source: Source
    traces: tuple[AgentTrace, ...]
    """The traces of the follow-up runs that `follow_up(source)` asks for."""
    holds: bool


class HasExampleArgument(Capability, kind="relations"):
    """The relation needs an argument, and its examples are written for one."""

    example_argument: ClassVar[JsonValue]
    """The argument of the examples."""


@runtime_checkable
class Relation(Protocol):
    """A metamorphic relation: transformation, constraints, expectation.

    Built as `Class(argument)`; argument None where none is given. A bad argument raises `ValueError` with what is
    expected.
    """

    id: ClassVar[str]
    """`family.name`."""
    version: ClassVar[int]
    """Raised whenever the same source gives another follow-up or another judgement."""
    family: ClassVar[Family]
    expectation: ClassVar[Expectation]
    why: ClassVar[str]
    """One line: what a violation means."""

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply to this scenario, in a phrase; empty if it does."""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the follow-up of a source run; None if the relation does not apply to this run.

        A function of the source alone. What depends on `source.trace` is run after it.
        """

    def holds(self, pair: Pair) -> Check | None:
        """Return the check of a pair; None if the relation does not apply to the pair.

        An invariant relation is also asked about `SAME_AGAIN`, which must be judged in the same way.
        """

    def examples(self) -> Iterable[RelationExample]:
        """Return at least one pair in which it holds and one in which it does not."""
