"""The identity relation: the agent compared with itself."""

from collections.abc import Iterable

from agentmut.nouns import SAME_AGAIN, Check, EvaluatorSpec, Expectation, Family, FollowUp, Pair, Source
from agentmut.relations.base import FitsAll, check, run, source
from agentmut.seams import RelationExample, same_facts


class NoChange(FitsAll):
    """`oracle.no_change`: the same request again gets no answer that contradicts the first.

    Other invariant relations are compared with how often two runs of the agent differ. This one asks for that itself,
    and is compared with the tolerance: compared with itself no agent is unsteady. What only one of the answers mentions
    is no contradiction; where kinds of facts were asked for, all of them have to be the same.
    """

    id = "oracle.no_change"
    version = 4
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "The same request gets different facts from one run to the next."

    def follow_up(self, source: Source) -> FollowUp | None:
        """Repeat the source run."""
        return SAME_AGAIN

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the runs contradict each other, or differ in the chosen facts; None if too few are known."""
        if not pair.comparison.unasked:
            return same_facts(self.id, pair)
        apart = pair.comparison.contradictions(pair.scenario, pair.source, pair.trace)
        if apart is None:
            return None
        return check(self.id, apart, "the runs do not contradict each other")

    def examples(self) -> Iterable[RelationExample]:
        """Yield an answer in other words, and an answer with another amount."""
        asked = source("What does it cost?", answer="It costs $20.")
        numbers = asked.scenario.model_copy(update={"compare": (EvaluatorSpec(name="numbers"),)})
        asked = asked._replace(scenario=numbers)
        return (
            RelationExample(asked, (run("The price is 20 dollars."),), holds=True),
            RelationExample(asked, (run("It costs $25."),), holds=False),
        )
