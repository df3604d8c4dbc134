"""Which instructions a model follows in this conversation."""

from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.language import Topics
from agentmut.simulator.mind.profiles import Profile
from agentmut.simulator.mind.rules import Rule
from agentmut.simulator.mind.situation import Briefing, Situation


def followed(situation: Situation, dice: Dice, profile: Profile) -> tuple[Rule, ...]:
    """The rules that the model keeps to; drawn once a conversation, not once a request."""
    diluting = irrelevant_words(situation.briefing, situation.known)
    return tuple(
        rule
        for rule in situation.briefing.rules
        if not rule.states and dice.chance(f"follow:{rule.text}", probability(rule, diluting, profile))
    )


def probability(rule: Rule, irrelevant: int, profile: Profile) -> float:
    """Chance that `profile` follows `rule` amid so many words that are beside the point."""
    base = profile.obeys[rule.modality]
    odds = base / (1 - base)
    odds *= 1 - profile.middle * 4 * rule.position * (1 - rule.position)
    odds /= 1 + irrelevant / profile.attention
    odds /= profile.hasty if _has_condition(rule) else 1
    return odds / (1 + odds)


def _has_condition(rule: Rule) -> bool:
    return rule.when is not None or any(clause.when for clause in rule.clauses)


def irrelevant_words(briefing: Briefing, known: Topics) -> int:
    """Words of the system message in passages that share nothing with the conversation."""
    return sum(p.words for p in briefing.passages if p.topics.isdisjoint(known))
