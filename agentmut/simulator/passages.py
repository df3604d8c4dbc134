"""Finding the sentences of documents that answer a question."""

from agentmut.simulator.language import clauses, topics
from agentmut.simulator.mind import Mind
from agentmut.simulator.situation import Passage

_TELLING, _ALSO_TELLING = 1.2, 0.8  # weight from which a passage answers; share of the best for a second one
_MOST = 2


def telling(mind: Mind, clause: str) -> list[tuple[float, Passage]]:
    """The passages that speak of what a clause speaks of, with their weights."""
    briefing, about = mind.situation.briefing, topics(clause)
    weighed = [(briefing.passage_weights.total(about & p.topics), p) for p in briefing.passages]
    best = max((weight for weight, _ in weighed), default=0.0)
    return [(weight, p) for weight, p in weighed if weight >= max(_TELLING, _ALSO_TELLING * best)]


def quoted(mind: Mind) -> list[Passage]:
    """Sentences that answer the last message: the best ones of its clauses, if they are found."""
    said = mind.situation.said[-1] if mind.situation.said else ""
    weighed = [found for clause in clauses(said) for found in telling(mind, clause)]
    best = sorted(weighed, key=lambda found: -found[0])
    distinct = list(dict.fromkeys(passage for _, passage in best))[:_MOST]
    return [p for p in distinct if mind.dice.chance(f"find:{p.text}", mind.profile.retrieval)]
