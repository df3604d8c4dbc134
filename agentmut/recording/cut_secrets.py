"""Secrets that a cut divided: a reason that quotes the beginning of an answer may hold half of a secret."""

import re
from collections.abc import Iterable

LEAST = 4
"""Characters of a piece of a secret that is looked for at a cut."""
_CUT = re.compile(r"\.\.\.|…|$")
LEAST_WHOLE = 9
"""Characters of a piece that is looked for everywhere; a phrase of words has shorter ones."""
_PIECES = re.compile("[\\\\\\s\"'\u00ad\u200b-\u200d\u2060\ufeff]+")
"""What a reason spells in another way than the answer: quotation marks, ends of lines, invisible characters."""


def without_cut_secrets(text: str, secrets: Iterable[str], mask: str) -> str:
    """Return the text with a mask over the beginning of a secret before a cut, and over its end after a cut.

    A cut is `...`, `…`, or the end of the text. Whole secrets are masked, too: what told one, such as the quotation
    mark behind it, may be cut off.

    >>> without_cut_secrets("it said 'the key is q7Xk2LmP...'", ["q7Xk2LmPz9RtV4bN"], "[redacted]")
    "it said 'the key is [redacted]...'"
    """
    secrets = tuple(secrets)
    pieces = [piece for secret in secrets for piece in _PIECES.split(secret) if len(piece) > LEAST]
    if not pieces:
        return text
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, mask) if len(secret) > LEAST else text
    for piece in pieces:
        text = text.replace(piece, mask) if len(piece) >= LEAST_WHOLE else text
    parts, end = [], 0
    for cut in _CUT.finditer(text):
        parts += [_cleaned(text[end : cut.start()], pieces, mask, begins_at_cut=end > 0), cut[0]]
        end = cut.end()
    return "".join((*parts, text[end:]))


def _cleaned(part: str, pieces: list[str], mask: str, *, begins_at_cut: bool) -> str:
    ending = max((_shared(piece, part) for piece in pieces), default=0)
    beginning = max((_shared(part, piece) for piece in pieces), default=0) if begins_at_cut else 0
    if ending >= LEAST:
        part = part[:-ending] + mask
    return mask + part[beginning:] if beginning >= LEAST else part


def _shared(begins: str, ends: str) -> int:
    """Return the length of the longest suffix of `ends` that is a prefix of `begins`."""
    longest = min(len(begins), len(ends))
    return next((n for n in range(longest, 0, -1) if ends.endswith(begins[:n])), 0)
