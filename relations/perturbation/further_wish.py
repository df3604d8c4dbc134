"""The user adds a wish: the agent still does and says what the first request asked for."""

from collections.abc import Iterable
from typing import ClassVar

from agentmut.nouns import AgentConfig, AgentTrace, Check, Family, FollowUp, Pair, Scenario, Source, ToolSpec
from agentmut.relations.base import check, in_one_answer
from agentmut.relations.invariants import Invariant, reworded
from agentmut.relations.turns import Turn, lack_of_turns, said, turns_of
from agentmut.seams import RelationExample, answer, example

_WISHES = (
    "Please also tell me what else you can help me with.",
    "And please tell me which other questions you can answer.",
    "Please add a sentence on what you can do for me another time.",
)
_OF_WHOLES = frozenset({"text", "judge"})
"""Kinds of comparison that look at whole answers."""


class FurtherWish(Invariant):
    """The user also asks what else the agent can do: the run still has all facts and calls of the first request.

    What the answer says beyond them is not looked at.
    """

    id: ClassVar[str] = "perturbation.further_wish"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "Asked for one thing more, the agent leaves out what was asked for first."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no wish can be added, in a phrase; empty where one can."""
        if why := lack_of_turns(scenario):
            return why
        found = _last(scenario, config)
        return "" if found else "the last turn is no text that a wish can be added to"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the last turn with a further wish; None where the answer is read by programs."""
        turn = _last(source.scenario, source.config)
        if turn is None or not _is_prose(source.trace):
            return None
        wish = source.rng.choice(_WISHES)
        return reworded(source.scenario, turn, [turn.with_sentence(wish, f"{said(wish)} added")])

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the follow-up has every fact of the source; further facts are allowed.

        None where answers are compared as wholes: a wish that is met makes another text.
        """
        if any(one.name in _OF_WHOLES for one in pair.comparison.extractors):
            return None
        both = in_one_answer((pair.source, pair.trace))
        further = pair.comparison.differences(pair.scenario, pair.source, both)
        differing = pair.comparison.differences(pair.scenario, pair.source, pair.trace)
        faults = [one for one in differing if one not in further]
        result = check(self.id, faults, "what was asked for first is still there")
        return result.model_copy(update={"reason": f"{pair.follow_up.description}: {result.reason}"})

    def examples(self) -> Iterable[RelationExample]:
        """Yield a refund that is made although the user asks for more, and one that is not."""
        config = AgentConfig(tools=(ToolSpec(name="issue_refund"),))
        asked = "Please refund my order A-1007."
        refunded = answer("Order A-1007 is refunded: 89.90 euros.", ("issue_refund", {"order": "A-1007"}))
        more = f"{refunded.output} I can also look up orders for you."
        yield example(asked, refunded, answer(more, ("issue_refund", {"order": "A-1007"})), True, config)
        yield example(asked, refunded, answer("I can look up orders for you."), False, config)


def _last(scenario: Scenario, config: AgentConfig) -> Turn | None:
    last = len(scenario.turns) - 1
    return next((turn for turn in turns_of(scenario, config) if turn.number == last), None)


def _is_prose(trace: AgentTrace) -> bool:
    return isinstance(trace.output, str) and trace.output.lstrip()[:1] not in ("", "{", "[", "<")
