"""The identity: the agent against itself."""

from collections.abc import Iterable

from agentmut.metamorphic import same_facts
from agentmut.protocols import RelationExample
from agentmut.relation import SAME_AGAIN, Expectation, Family, FollowUp, Pair, Source
from agentmut.relations.base import FitsAll, run, source
from agentmut.trace import Check


class NoChange(FitsAll):
    """`oracle.no_change`: the same request again shows the same facts.

    How often it does not is what every invariant relation is compared with: the agent's own unsteadiness.
    """

    id = "oracle.no_change"
    version = 1
    family = Family.ORACLE
    expectation = Expectation.INVARIANT
    why = "The same request gets different facts from one run to the next."

    def follow_up(self, source: Source) -> FollowUp | None:
        """The same again."""
        return SAME_AGAIN

    def holds(self, pair: Pair) -> Check | None:
        """Whether both runs show the same facts."""
        return same_facts(self.id, pair)

    def examples(self) -> Iterable[RelationExample]:
        """An answer in other words, and one with another amount."""
        asked = source("What does it cost?", said="It costs $20.")
        return (
            RelationExample(asked, (run("The price is 20 dollars."),), holds=True),
            RelationExample(asked, (run("It costs $25."),), holds=False),
        )
