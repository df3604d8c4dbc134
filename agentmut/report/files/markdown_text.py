"""Untrusted text in GitHub-flavoured Markdown: always within code, where it is no markup, link or mention."""

import re
from collections.abc import Iterable, Sequence

from agentmut.report.bounded import FIELD, NAME, bounded, one_line

_TICKS = re.compile("`+")


def code(text: str, limit: int = NAME) -> str:
    """Return the text as inline code on one line, whatever it holds; fit for a table's cell too.

    A bar would end the cell even within code, so another sign stands for it.

    >>> code("a `b` @c")
    '`` a `b` @c ``'
    >>> code("a|b")
    '`a¦b`'
    """
    flat = one_line(text, limit).replace("|", "\u00a6") or "-"
    ticks = "`" * (_longest(flat) + 1)
    return f"{ticks} {flat} {ticks}" if len(ticks) > 1 else f"`{flat}`"


def fence(lines: Iterable[str], language: str = "") -> str:
    """Return the lines as a block of code, with a fence longer than any that they hold.

    >>> fence(["- ```"], "diff")
    '````diff\\n- ```\\n````'
    """
    inside = "\n".join(lines)
    ticks = "`" * max(3, _longest(inside) + 1)
    return f"{ticks}{language}\n{inside}\n{ticks}"


def diff(before: str, after: str, limit: int = FIELD) -> str:
    """Return a block with what stood there and what stands there now; empty where neither says anything."""
    lines = [*_marked("-", before, limit), *_marked("+", after, limit)]
    return fence(lines, "diff") if lines else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with its first column to the left and the others to the right; cells are Markdown."""
    lines = [head, ("---", *("---:" for _ in head[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def folded(summary: str, *blocks: str) -> str:
    """Return blocks that are shown on a click. The summary is text of our own: it is not escaped."""
    inside = "\n\n".join(block for block in blocks if block)
    return f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"


def _marked(mark: str, text: str, limit: int) -> list[str]:
    return [f"{mark} {line.strip()}" for line in bounded(text, limit).splitlines() if line.strip()]


def _longest(text: str) -> int:
    """Return the longest run of backticks."""
    return max(map(len, _TICKS.findall(text)), default=0)
