"""Two runs in two columns, with the differences marked."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.text import Text

from agentmut.insight import Event, EventKind, EventPair, RunView, SideBySide
from agentmut.report.paint import Page, clean
from agentmut.report.report_wording import WHY_CHOSEN

LONGEST = 700
"""Characters of one event that are shown; `agentmut trials --trial N` prints all."""
MOST_WORDS = 12
LONGEST_WORD = 40
_LABELS = {
    EventKind.USER: "user: ",
    EventKind.CALL: "calls ",
    EventKind.RESULT: "  gets ",
    EventKind.ANSWER: "answers: ",
    EventKind.END: "ends: ",
}
_GUTTER = " | "


def add_side_by_side(page: Page, found: Sequence[SideBySide], mutant: str) -> None:
    """Print each pair of runs; what both did goes over the whole width, what only one did in its own column."""
    for number, pair in enumerate(found):
        if number:
            page.add()
        page.add(f"Side by side on {clean(pair.scenario)}: {WHY_CHOSEN[pair.chosen]}", style="bold")
        _columns(page, [_head("original", pair.original)], [_head("mutant", pair.mutant)], "bold")
        for events in pair.pairs:
            _add_events(page, events)
        for side in (pair.original, pair.mutant):
            if side.outcome != "pass" and side.reason:
                page.hang(f"trial {side.trial} fails: {clean(side.reason)}", indent=0, style="yellow")
    if found:
        page.add()
        page.add(
            f"`agentmut show {mutant} --trial N` shows another run, `agentmut trials {found[0].scenario} --mutant "
            f"{mutant}` lists them."
        )
        page.add()


def _head(who: str, run: RunView) -> str:
    cost = "" if run.usd is None or not run.tokens else f", ${run.usd:.4f}"
    return f"{who}, trial {run.trial}: {run.outcome}, {run.seconds:.1f} s{cost}"


def _add_events(page: Page, pair: EventPair) -> None:
    if pair.same:
        for line in _lines(pair.original, page.width - 2):
            page.line(f"  {line}")
        return
    width = (page.width - len(_GUTTER)) // 2
    _columns(page, _lines(pair.original, width), _lines(pair.mutant, width))
    if pair.original and pair.mutant:
        for said in _words_of_one(pair.original, pair.mutant):
            page.hang(said, indent=4, style="cyan")


def _columns(page: Page, left: Sequence[str], right: Sequence[str], style: str = "") -> None:
    width = (page.width - len(_GUTTER)) // 2
    wrapped = [
        [part for line in side for part in textwrap.wrap(line, width) or [""]] for side in (left, right)
    ]
    for one, other in zip_longest(*wrapped, fillvalue=""):
        line = Text(f"{one:<{width}}", style=style or "red")
        line.append(_GUTTER, style="default")
        line.append(other, style=style or "green")
        page.add(line)


def _lines(event: Event | None, width: int) -> list[str]:
    if event is None:
        return [""]
    text = clean(f"{_LABELS[event.kind]}{event.text[:LONGEST]}")
    left_out = len(event.text) - LONGEST
    if left_out > 0:
        text += f" ... ({left_out} more characters)"
    return [part for line in text.splitlines() for part in textwrap.wrap(line, width, subsequent_indent="  ")]


def _words_of_one(original: Event, mutant: Event) -> Iterator[str]:
    """Yield which words only the original's event has, and which only the mutant's."""
    ours, theirs = (clean(event.text[:LONGEST]).split() for event in (original, mutant))
    for who, own, other in (("the original", ours, theirs), ("the mutant", theirs, ours)):
        known = {_bare(word) for word in other}
        only = list(dict.fromkeys(word for w in own if (word := _bare(w)) and word not in known))
        if only:
            more = f" and {len(only) - MOST_WORDS} more" if len(only) > MOST_WORDS else ""
            yield f"only {who} says: {', '.join(word[:LONGEST_WORD] for word in only[:MOST_WORDS])}{more}"


def _bare(word: str) -> str:
    return word.strip(".,;:!?()\"'")
