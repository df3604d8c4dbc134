"""The identity: the agent against itself."""

from collections.abc import Iterable

from agentmut.metamorphic import same_facts
from agentmut.protocols import RelationExample
from agentmut.relation import SAME_AGAIN, Expectation, Family, FollowUp, Pair, Source
from agentmut.relations.base import FitsAll, check, run, source
from agentmut.trace import Check


class NoChange(FitsAll):
    """`oracle.no_change`: the same request again shows the same facts.

    How often it does not is what every invariant relation is compared with: the agent's own unsteadiness. This one is
    compared with the tolerance instead, for compared with itself an agent is never unsteady. Two runs violate it also
    where they contradict each other in facts that are too unsteady to be compared otherwise.
    """

    id = "oracle.no_change"
    version = 2
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "The same request gets different facts from one run to the next."

    def follow_up(self, source: Source) -> FollowUp | None:
        """The same again."""
        return SAME_AGAIN

    def holds(self, pair: Pair) -> Check | None:
        """Whether both runs show the same facts."""
        same = same_facts(self.id, pair)
        unsteady = pair.comparison.unsteadiness(pair.scenario, pair.source, pair.trace)
        return check(self.id, unsteady, same.reason) if same.passed else same

    def examples(self) -> Iterable[RelationExample]:
        """An answer in other words, and one with another amount."""
        asked = source("What does it cost?", said="It costs $20.")
        return (
            RelationExample(asked, (run("The price is 20 dollars."),), holds=True),
            RelationExample(asked, (run("It costs $25."),), holds=False),
        )
