"""The topics of texts, compared by word stems."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from math import log

from agentmut.language import NUMBER_WORDS, stems

Topics = frozenset[str]

_CLAUSE_BREAK = re.compile(
    r"(?:,\s*+|(?<!\s)\s++)(?:and|but|then|also|plus)\s+|[;:]\s+|(?<=[.!?])\s+|\n+", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|without|cannot|nothing|none|neither|nor|unable|fail(?:s|ed)?)\b|n['’]t\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16_384)
def topics(words: str) -> Topics:
    """Return the stems of a text's content words, forms of one word taken together.

    >>> topics("verify_lamp") == topics("verified lamps")
    True
    """
    return frozenset(stem.removesuffix("i") for stem in stems(words))


@lru_cache(maxsize=4_096)
def clauses(words: str) -> tuple[str, ...]:
    """Return the parts of a message that can each want something.

    >>> clauses("My lamp broke. Send a new one and call me!")
    ('My lamp broke', 'Send a new one', 'call me')
    """
    parts = (part.strip(" \t,.!") for part in _CLAUSE_BREAK.split(words))
    return tuple(part for part in parts if part)


def negated(words: str) -> bool:
    """Return whether a text denies something: not, never, without, failed."""
    return _NEGATION.search(words) is not None


@lru_cache(maxsize=16_384)
def subject(words: str) -> Topics:
    """Return the topics of a sentence, without figures, affirmations and denials.

    >>> subject("Oil costs 20 pounds.") == subject("Oil does not cost thirty pounds.")
    True
    """
    return frozenset(t for t in topics(words) if not t[:1].isdigit()) - topics(" ".join(NUMBER_WORDS))


class Weights:
    """The weight of each topic: 1 if only one of the texts has it, near 0 if all have it."""

    def __init__(self, texts: Iterable[Topics]) -> None:
        counts: dict[str, int] = {}
        total = 0
        for found in texts:
            total += 1
            for topic in found:
                counts[topic] = counts.get(topic, 0) + 1
        scale = log(total + 1) or 1.0
        self._weights = {topic: log((total + 1) / count) / scale for topic, count in counts.items()}

    def weight(self, topic: str) -> float:
        """Return the weight of a topic, from 0 to 1; 1 for a topic in no text."""
        return self._weights.get(topic, 1.0)

    def total(self, found: Iterable[str]) -> float:
        """Return the weights of several topics together."""
        return sum(self._weights.get(topic, 1.0) for topic in found)

    def share(self, wanted: Topics, among: Collection[str]) -> float:
        """Return how much of `wanted` is in `among`, between 0 and 1; 0 where nothing is wanted."""
        total = self.total(wanted)
        return self.total(topic for topic in wanted if topic in among) / total if total else 0.0


def ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and a straight line between.

    >>> ramp(0.3, 0.2, 0.4)
    0.5
    """
    return round(min(1.0, max(0.0, (value - low) / (high - low))), 9)
