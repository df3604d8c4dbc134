"""Texts as descriptions of changes quote them."""

_LONGEST = 60


def quoted(text: str) -> str:
    """A text on one line, in quotes, cut where it gets long.

    >>> quoted("Be\\n  kind.")
    '"Be kind."'
    """
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST else f'"{line[: _LONGEST - 1].rstrip()}…"'
