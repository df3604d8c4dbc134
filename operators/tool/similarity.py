"""Which text is most like another, by the words that they share."""

from collections.abc import Iterable, Sequence

from agentmut.language import stems


def vocabularies(texts: Iterable[str]) -> list[frozenset[str]]:
    """The stems of each text, for `nearest`."""
    return [stems(text) for text in texts]


def nearest(
    index: int, others: Iterable[int], names: Sequence[str], said: Sequence[frozenset[str]]
) -> int | None:
    """Which of the others shares most words with the one at `index`; by name among equals."""
    return min(others, key=lambda other: (-len(said[index] & said[other]), names[other]), default=None)
