"""Shorter inputs that do the same: delta debugging over sentences, then over the words of what is left."""

from collections.abc import Generator, Sequence
from typing import TypeVar

from agentmut.analysis.generate.wording import sentences

T = TypeVar("T")
Question = tuple[T, ...]
Shrinking = Generator[str, bool, str]
"""Yields shorter texts and is sent whether they do the same; returns the shortest that does."""


def shrinking(text: str) -> Shrinking:
    """Ask about ever smaller parts of a text; 1-minimal in sentences, and in words at the end where all is answered.

    Whoever asks may stop at any time: the last text that was answered with True is the result so far.
    """
    kept = yield from _shrunk(sentences(text))
    words = yield from _shrunk(tuple(" ".join(kept).split()))
    return " ".join(words)


def _shrunk(parts: Sequence[str]) -> Generator[str, bool, tuple[str, ...]]:
    """ddmin (Zeller and Hildebrandt, 2002), complements only: take a chunk away, the largest chunks first."""
    kept = tuple(parts)
    size = len(kept) // 2
    while size >= 1 and len(kept) > 1:
        start, removed = 0, False
        while start < len(kept) and len(kept) > 1:
            rest = kept[:start] + kept[start + size :]
            if rest and (yield " ".join(rest)):
                kept, removed = rest, True
            else:
                start += size
        size = size if removed and size == 1 else size // 2
    return kept
