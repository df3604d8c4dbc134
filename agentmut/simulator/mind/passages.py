"""Finding the sentences of documents that answer a question."""

from collections.abc import Iterable

from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.language import clauses, subject
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.situation import TELLING, Passage

_ALSO_TELLING = 0.8  # share of the best weight for a second one
_MOST = 2


def telling(mind: Mind, clause: str) -> list[tuple[float, Passage]]:
    """The passages that speak of what a clause speaks of, with their weights."""
    weighed = mind.situation.weighed(clause)
    best = max((weight for weight, _ in weighed), default=0.0)
    return [(weight, p) for weight, p in weighed if weight >= max(TELLING, _ALSO_TELLING * best)]


def quoted(mind: Mind) -> list[Passage]:
    """Sentences that answer the last message: the best ones of its clauses, if they are found."""
    said = mind.situation.said[-1] if mind.situation.said else ""
    weighed = [found for clause in clauses(said) for found in telling(mind, clause)]
    best = sorted(weighed, key=lambda found: -found[0])
    distinct = _agreeing(dict.fromkeys(passage for _, passage in best), mind.dice)[:_MOST]
    return [p for p in distinct if mind.dice.chance(f"find:{p.text}", mind.profile.retrieval)]


def _agreeing(passages: Iterable[Passage], dice: Dice) -> list[Passage]:
    """The passages, and of those that contradict each other, any one."""
    versions: dict[object, list[Passage]] = {}
    for passage in passages:
        about = subject(passage.text)
        versions.setdefault(about or passage, []).append(passage)
    return [_any_of(same, dice) for same in versions.values()]


def _any_of(same: list[Passage], dice: Dice) -> Passage:
    different = sorted({passage.text for passage in same})
    chosen = (
        different[int(dice.uniform(f"version:{different}") * len(different))] if same[1:] else same[0].text
    )
    return next(passage for passage in same if passage.text == chosen)
