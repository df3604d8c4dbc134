"""Shorter inputs with the same effect: delta debugging over sentences, then over clauses.

Single words are not dropped: what is left has to be something that a user would say, and that a person can judge.
"""

import re
from collections.abc import Generator, Sequence

from agentmut.insight.generate.user_wording import sentences

Shrinking = Generator[str, bool, str]
"""Yields shorter texts and is sent whether they do the same; returns the shortest that does."""
_SEAM = re.compile(
    r"(?<=[,;])\s+(?=(?:and|but|or|so|please|I|can|could)\b)|(?<!\s)\s+(?=(?:because|since|but)\s)", re.I
)
"""Where a part begins that can stand for itself, or that can be left out."""
_DEPENDENT = re.compile(r"(?:because|since|who|which|that|whose|than|when|if|unless|while)\b", re.I)


def shrinking(text: str) -> Shrinking:
    """Ask about ever smaller parts of a text; 1-minimal in sentences, then in clauses, where all is answered.

    Whoever asks may stop at any time: the last text that was answered with True is the result so far.
    """
    kept = yield from _shrunk(sentences(text))
    parts = yield from _shrunk(tuple(part for sentence in kept for part in _SEAM.split(sentence)))
    return _tidy(parts)


def _tidy(parts: Sequence[str]) -> str:
    """Return the parts as one text with the beginning and end of a sentence.

    >>> _tidy(["and cancel it,", "please,"])
    'Cancel it, please.'
    """
    text = re.sub(r"^(?:and|but|or|so)\s+", "", " ".join(parts), flags=re.I)
    text = f"{text[:1].upper()}{text[1:]}"
    return re.sub(r"[,;:]$", ".", text)


def _shrunk(parts: Sequence[str]) -> Generator[str, bool, tuple[str, ...]]:
    """Yield shorter texts to be tried, and return the parts that are left: the shortest that was accepted.

    By ddmin (Zeller and Hildebrandt, 2002), complements only: the largest chunks are taken away first."""
    kept = tuple(parts)
    size = len(kept) // 2
    while size >= 1 and len(kept) > 1:
        start, removed = 0, False
        while start < len(kept) and len(kept) > 1:
            rest = kept[:start] + kept[start + size :]
            if rest and not _DEPENDENT.match(rest[0]) and (yield _tidy(rest)):
                kept, removed = rest, True
            else:
                start += size
        size = size if removed and size == 1 else size // 2
    return kept
