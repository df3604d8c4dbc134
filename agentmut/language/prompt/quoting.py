"""Quote texts in descriptions of changes."""

_LONGEST = 60


def quoted(text: str) -> str:
    """Return a text on one line, in quotes, cut if it is long.

    >>> quoted("Be\\n  kind.")
    '"Be kind."'
    """
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST else f'"{line[: _LONGEST - 1].rstrip()}…"'
