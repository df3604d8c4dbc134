"""The comparison of two results, for a terminal and as Markdown."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from agentmut.nouns import Score, Status
from agentmut.report.bounded import bounded, one_line
from agentmut.report.comparison_wording import costs, in_common, kinds
from agentmut.report.files.markdown import LONGEST, fitting, fitting_rows
from agentmut.report.files.markdown_text import code, diff, folded, table
from agentmut.report.paint import Page, diff_lines, shorten
from agentmut.report.report_wording import counted, interval, without_marker
from agentmut.report.terminal.run_page import LINES
from agentmut.store import Comparison, MutantChange, ScoreChange

SHOWN = 15
"""Mutants that a terminal lists of one kind."""
_TEXT = 600
_HEAD = ("", "old [95 %]", "new [95 %]", "difference")
_OVERLAP = "~: the intervals overlap, so the difference may be due to chance."


def render_comparison(found: Comparison, color: bool = False, width: int = 80) -> str:
    """Return the comparison as text."""
    page = Page(color, width)
    page.add(
        Text(
            f"What changed from run {_name(found.old.run_id)} to run {_name(found.new.run_id)}", style="bold"
        )
    )
    if found.unfair:
        page.title("Compare with care: these runs do not measure quite the same")
        for reason in found.unfair:
            page.hang(bounded(reason, _TEXT), style="yellow")
    page.add()
    page.add(_table(found.scores))
    if any(score.overlap and score.difference for score in found.scores):
        page.add(_OVERLAP)
    page.add()
    page.add(in_common(found.in_common))
    for kind in kinds(found):
        page.title(f"{kind.title} ({len(kind.changes)})")
        for change in kind.changes[:SHOWN]:
            _add(page, change, width)
        if len(kind.changes) > SHOWN:
            page.add(f"  ... and {len(kind.changes) - SHOWN} more, which --format json lists")
    page.title("Cost")
    for line in costs(found):
        page.add(line)
    return page.text()


def markdown_comparison(found: Comparison) -> str:
    """Return the comparison as Markdown, at most `LONGEST` bytes; what was written by others stands within code."""
    head = [f"## agentmut: from run {code(found.old.run_id)} to run {code(found.new.run_id)}"]
    if found.unfair:
        reasons = "\n".join(f"- {code(reason, _TEXT)}" for reason in found.unfair)
        head.append(f"**Compare with care: these runs do not measure quite the same.**\n\n{reasons}")
    rows = [
        (code(score.name) if number > 1 else score.name, *_cells(score))
        for number, score in enumerate(found.scores)
    ]
    head += [table(_HEAD, fitting_rows(rows)), _OVERLAP, in_common(found.in_common)]
    tail = [folded("Cost", "\n".join(f"- {line}" for line in costs(found)))]
    room = LONGEST - len("\n\n".join((*head, *tail)).encode()) - 2_000
    for kind in kinds(found):
        shown = fitting([_item(change) for change in kind.changes], room)
        room -= sum(len(block.encode()) + 2 for block in shown)
        left = len(kind.changes) - len(shown)
        more = f"{left} more are left out here for their length: `--format json` has all." if left else ""
        title = f"{kind.title} ({len(kind.changes)})"
        if kind.worse:
            head += [f"### {title}", *shown, *([more] if more else [])]
        else:
            head.append(folded(title, *shown, more))
    return "\n\n".join((*head, *tail)) + "\n"


def _table(scores: Iterable[ScoreChange]) -> Table:
    shown = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for number, name in enumerate(_HEAD):
        shown.add_column(name, justify="right" if number else "left", no_wrap=True)
    for number, score in enumerate(scores):
        shown.add_row(one_line(score.name, 40), *_cells(score), style="bold" if number == 0 else None)
    return shown


def _cells(score: ScoreChange) -> tuple[str, str, str]:
    difference = "n/a" if score.difference is None else f"{score.difference:+.2f}"
    return (
        _interval(score.old),
        _interval(score.new),
        difference + (" ~" if score.overlap and score.difference else ""),
    )


def _interval(score: Score | None) -> str:
    return "-" if score is None else interval(score)


def _add(page: Page, change: MutantChange, width: int) -> None:
    page.add(Text(f"  {_name(change.id)}  {_name(change.operator)}  {_where(change)}"))
    page.add(Text(f"    {_statuses(change)}"))
    if _in_text(change):
        lines = list(diff_lines(without_marker(change.before), without_marker(change.after), width=width))
        for line in lines[:LINES]:
            page.add(line)
        if len(lines) > LINES:
            page.add(f"    ... and {counted(len(lines) - LINES, 'more line')}")
    else:
        page.add(Text(f"    {shorten(change.description[:_TEXT], width - 4)}"))


def _item(change: MutantChange) -> str:
    where = _where(change)
    head = f"{code(change.id)} {code(change.operator)}{f' at {code(where)}' if where else ''} ({_statuses(change)})"
    return f"{head}\n\n{(_in_text(change) and diff(change.before, change.after, 1_200)) or code(change.description)}"


def _in_text(change: MutantChange) -> bool:
    return (
        change.operator.startswith(("prompt.", "context.")) and len(change.before) + len(change.after) < _TEXT
    )


def _statuses(change: MutantChange) -> str:
    if change.old is None:
        return f"new: {_words(change.new)}"
    if change.new is None:
        return f"{_words(change.old)} before, gone now"
    return f"{_words(change.old)} before, {_words(change.new)} now"


def _words(status: Status | None) -> str:
    return str(status).replace("_", " ")


def _where(change: MutantChange) -> str:
    line = f":{change.target.line}" if change.target.line else ""
    return one_line(f"{change.target.path or ''}{line}")


def _name(text: str) -> str:
    return one_line(text, 80)
