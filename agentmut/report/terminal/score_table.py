"""The table of scores by class and operator, for a terminal."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.table import Table

from agentmut.nouns import Intent, OperatorClass, Result, Score
from agentmut.report.bounded import one_line
from agentmut.report.proof_wording import group_score

COUNTS = ("killed", "survived", "no coverage", "undecided")
UNTESTABLE = "untestable"
"""A column for runs that have such mutants."""


def score_table(result: Result, width: int) -> Table:
    """Return the table of scores by class and operator.

    Numbers are never cut. A name that has no room goes on below, after a dot or `_`.
    """
    rows = list(_score_rows(result))
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", overflow="fold")
    names = (*COUNTS, UNTESTABLE) if any(row.score.untestable for row in rows) else COUNTS
    head = ("score [95 %]", *names)
    for name in head:
        table.add_column(name, justify="right", no_wrap=True)
    numbers = max(len(head[0]), *(len(row.shown) for row in rows)) + sum(map(len, names)) + len(head)
    for row in rows:
        counts = (getattr(row.score, name.replace(" ", "_")) for name in names)
        shown = (str(count) if count else "-" for count in counts)
        table.add_row(
            folded_name(row.name, width - numbers), row.shown, *shown, style="bold" if row.bold else None
        )
    return table


class _ScoreRow(NamedTuple):
    """A line of the table of scores: a class, an operator, or harmless changes."""

    name: str
    score: Score
    bold: bool = False
    harmless: bool = False

    @property
    def shown(self) -> str:
        """Return the score with its interval."""
        return group_score(self.score, harmless=self.harmless)


def _score_rows(result: Result) -> Iterator[_ScoreRow]:
    """Yield classes with their operators, then harmless changes, then pairs."""
    for name, score in result.classes.items():
        yield from _class_rows(result, name, score)
    preserving = [name for name in result.operators if _is_preserving(result, name)]
    pairs = [name for name in preserving if name.startswith(f"{OperatorClass.HIGHER_ORDER}.")]
    preserving = [name for name in preserving if name not in pairs]
    if preserving:
        yield _ScoreRow("robustness", result.robustness, bold=True, harmless=True)
        yield from (_ScoreRow(f"  {name}", result.operators[name], harmless=True) for name in preserving)
    yield from (_ScoreRow(name, result.operators[name], bold=True) for name in pairs)


def _class_rows(result: Result, group: str, score: Score) -> Iterator[_ScoreRow]:
    """Yield a class and its operators; a class of one operator stands there once, by that operator's name."""
    own = {
        n: s
        for n, s in result.operators.items()
        if n.startswith(f"{group}.") and not _is_preserving(result, n)
    }
    if list(own.values()) == [score]:
        yield _ScoreRow(next(iter(own)), score, bold=True)
        return
    yield _ScoreRow(group, score, bold=True)
    yield from (_ScoreRow(f"  {name.partition('.')[2]}", each) for name, each in own.items())


def _is_preserving(result: Result, operator: str) -> bool:
    return all(row.intent is Intent.PRESERVE for row in result.mutants if row.operator == operator)


def folded_name(name: str, room: int) -> str:
    """Return a name on lines of at most `room` characters that end with a dot or `_`, where it has any.

    >>> folded_name("  prompt.reorder_instructions", 20)
    '  prompt.reorder_\\n    instructions'
    """
    lead = " " * (len(name) - len(name.lstrip()))
    lines = [lead]
    for part in re.findall(r"[^._]*[._]?", one_line(name)):
        if len(lines[-1]) + len(part) > room and lines[-1].strip():
            lines.append(f"{lead}  ")
        lines[-1] += part
    return "\n".join(lines)
