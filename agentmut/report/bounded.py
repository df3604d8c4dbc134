"""Text of models and users for files that other programs read: cleaned, and never longer than told."""

from collections.abc import Iterable

from agentmut.nouns import MutantRow
from agentmut.report.paint import clean

FIELD = 2_000
"""Characters that a text of one mutant may take in a report."""
NAME = 200
"""Characters that a name may take: of a scenario, an operator, a file."""


def bounded(text: str, limit: int = FIELD) -> str:
    """Return the text without control characters, cut to about `limit` characters, with a note on the cut.

    >>> bounded("a\\x1bb"), bounded("abcdef", 3)
    ('a?b', 'abc ... (3 more characters)')
    """
    if len(text) <= limit:
        return clean(text)
    return f"{clean(text[:limit])} ... ({len(text) - limit} more characters)"


def one_line(text: str, limit: int = NAME) -> str:
    """Return the text on one line, bounded.

    >>> one_line("a\\n  b")
    'a b'
    """
    return " ".join(bounded(text, limit).split())


def names(texts: Iterable[str], most: int = 20) -> str:
    """Join names into one line, at most `most` names.

    >>> names(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    found = [one_line(text) for text in texts]
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def place(row: MutantRow) -> str:
    """Return `file:line` of a mutant, as far as the place is known."""
    line = f":{row.target.line}" if row.target.line else ""
    return one_line(f"{row.target.path or ''}{line}")
