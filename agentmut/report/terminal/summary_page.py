"""The summary of a run, in 25 lines of 80 columns: what a person needs to decide what to do next."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentmut.mutation import LEFT_OUT
from agentmut.nouns import (
    CUT_BY_BUDGET,
    SHORT_OF_BUDGET,
    CheapModel,
    Effect,
    Intent,
    MutantRow,
    Result,
    Score,
    Status,
)
from agentmut.report.bounded import FIELD, bounded, one_line, place
from agentmut.report.paint import WIDTH, Page, clean, shorten
from agentmut.report.proof_wording import GRADES, for_drops, is_few, visible_line
from agentmut.report.ranking import losses, rank
from agentmut.report.report_wording import (
    counted,
    duration,
    interval,
    money,
    part_of_suite,
    percent,
    status_counts,
)
from agentmut.report.terminal.larger_budget import resume_with_more

if TYPE_CHECKING:
    from agentmut.store import Rescored

LINES = 25
"""Lines of a summary, problems of the run not counted."""
SHOWN_SURVIVORS = 5
FEWEST_SURVIVORS = 2
LONGEST_PLACE = 40
LONGEST_REASON = 96
"""Characters of the reason why mutants were left out."""
LONGEST_OPTION = 25
"""Characters of an option that each command is printed with; a longer one is printed once, below all commands."""
_ENDED = {
    "budget": "The budget ended the run early: the score counts the decided mutants only.",
    "interrupted": "Interrupted: the score counts the decided mutants only. `agentmut resume` goes on.",
}
_OF_BUDGET = (SHORT_OF_BUDGET, CUT_BY_BUDGET)
"""How notes begin that an unfinished run shows in its summary, too."""


def render_summary(
    result: Result,
    color: bool = False,
    where: str = "",
    width: int = WIDTH,
    rescored: "Rescored | None" = None,
    html: str = "",
) -> str:
    """Return score, classes, the most important unnoticed changes, trust, cost, and the next command.

    `where` is the option that leads other verbs to the project, `html` the path of the page if one was written.
    """
    head = [*_state(result), *_score(result)]
    if rescored is not None:
        head.append(f"Judged again by `agentmut rescore`: {interval(rescored.after)}")
    each = "" if len(where) > LONGEST_OPTION else where
    foot = list(_foot(result, each, html))
    last = f"Each of these commands takes{where}" if where != each else ""
    for shown, grouped in _layouts():
        survivors = list(_survivors(result, shown, each, width, grouped=grouped))
        sections = [head, list(_rows(result)), survivors, foot]
        for gaps in range(len(sections) - 1, -1, -1):
            text = _page(sections, color, width, gaps, last)
            if text.count("\n") <= LINES:
                return text
    return text


def _layouts() -> Iterator[tuple[int, bool]]:
    """Yield how many survivors to show, and whether advice stands once below those that share it; the best first."""
    for shown in range(SHOWN_SURVIVORS, FEWEST_SURVIVORS - 1, -1):
        yield shown, False
        yield shown, True


def _page(sections: Sequence[Sequence[str]], color: bool, width: int, gaps: int, last: str) -> str:
    """Return the sections as text, with an empty line before each of the last `gaps` ones.

    The last line is not wrapped: it has a path to copy.
    """
    page = Page(color, width)
    told = [section for section in sections if section]
    for number, section in enumerate(told):
        if number and number >= len(told) - gaps:
            page.add()
        for line in section:
            bold = number == 0 and line.startswith(("Mutation score", "Selective score"))
            page.hang(clean(line), 0, "bold" if bold and color else "")
    if last:
        page.line(clean(last))
    return page.text()


def _state(result: Result) -> Iterator[str]:
    if result.problem:
        yield bounded(result.problem)
    if result.status in _ENDED:
        yield _ENDED[result.status]
    if result.status == "budget":
        told = (note for note in result.notes if note.startswith(_OF_BUDGET))
        yield from (bounded(f"{note[0].upper()}{note[1:].rstrip('.')}.") for note in told)
    if result.shard:
        yield f"Shard {result.shard}: the score counts its mutants only. `agentmut merge` puts the shards together."
    if result.suite_part:
        yield part_of_suite(result.suite_part)


def _score(result: Result) -> Iterator[str]:
    kind = "Mutation" if result.selective is None else "Selective"
    score = result.score
    yield f"{kind} score {interval(score)}{for_drops(score)}: {status_counts(score)}"
    if line := visible_line(result):
        yield line


def _rows(result: Result) -> Iterator[str]:
    """Yield one line a class, in columns, and one for the harmless changes."""
    rows = [(name, *_class(score)) for name, score in result.classes.items()]
    if result.robustness.value is not None:
        rows.append(("robustness", *_robust(result.robustness)))
    # a sentence in the place of the counts has no further column, so it makes no column wide
    in_columns = [row for row in rows if row[2] or row[3]] or rows
    widths = [
        max((len(row[column]) for row in (in_columns if column else rows)), default=0) for column in range(3)
    ]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)).rstrip()


def _class(score: Score) -> tuple[str, str, str]:
    reached = score.killed + score.survived + score.no_coverage
    if not reached:
        return _nothing_decided(score), "", ""
    weakest = next((grade for grade in reversed(GRADES) if getattr(score, grade)), "")
    sure = (weakest and f"{weakest} kills") if is_few(score) else interval(score)
    open_ones = [
        f"{number} {noun}"
        for number, noun in (
            (score.no_coverage, "no coverage"),
            (score.undecided, "undecided"),
            (score.untestable, "untestable"),
        )
        if number
    ]
    return f"{score.killed} of {reached} noticed", sure, ", ".join(open_ones)


def _nothing_decided(score: Score) -> str:
    """Return a sentence on a class none of whose mutants is decided; empty of mutants, it says so."""
    left = score.undecided + score.not_drawn
    if score.untestable and not left:
        return f"{counted(score.untestable, 'mutant')} untestable: the agent fails too often"
    if not left:
        return "no mutant counts"
    return f"the run decided none of {counted(left + score.untestable, 'mutant')}"


def _robust(score: Score) -> tuple[str, str, str]:
    decided = score.killed + score.survived + score.no_coverage
    return f"{decided - score.killed} of {decided} harmless", "" if is_few(score) else interval(score), ""


def _survivors(result: Result, shown: int, where: str, width: int, *, grouped: bool) -> Iterator[str]:
    ranked = rank(result.mutants)
    if not ranked:
        brittle = sum(row.intent is Intent.PRESERVE and row.status is Status.KILLED for row in result.mutants)
        if brittle:
            yield f"Harmless changes that lower a pass rate: {brittle}. `agentmut report --full{where}` lists them."
        return
    changes = counted(len(ranked), "unnoticed change")
    yield f"The {shown} most important of {changes}" if shown < len(ranked) else changes
    yield from (_grouped if grouped else _each)(ranked[:shown], where, width)
    yield from _losses(result)


def _each(rows: Sequence[MutantRow], where: str, width: int) -> Iterator[str]:
    """Yield two lines a survivor: what was changed, and what to do about it."""
    for number, row in enumerate(rows, 1):
        yield _change(number, row, width)
        yield f"   {_advice(row, where, row.id)}"


def _grouped(rows: Sequence[MutantRow], where: str, width: int) -> Iterator[str]:
    """Yield a line a survivor, and below them each advice once, with the numbers that it is for."""
    numbers: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        yield _change(number, row, width)
        numbers.setdefault(_advice(row, where, "ID"), []).append(str(number))
    for advice, those in numbers.items():
        yield f"   {', '.join(those)}: {advice}"


def _change(number: int, row: MutantRow, width: int) -> str:
    head = f"{number}. {row.id}  {_short_place(row)}  "
    return head + shorten(row.description, max(width - len(head), 20))


def _losses(result: Result) -> Iterator[str]:
    """Yield one line on the rules and tools whose loss no scenario notices, which users ask for most; none without."""
    found = [
        (noun, *map(len, losses(result.mutants, effect)))
        for noun, effect in (("instructions", Effect.DROPS_RULE), ("tools", Effect.DROPS_TOOL))
    ]
    told = [f"{noun} whose loss no scenario notices: {lost} of {of}" for noun, of, lost in found if lost]
    if told:
        line = "; ".join(told).replace("; tools whose loss no scenario notices", "; tools")
        yield line[0].upper() + line[1:]


def _short_place(row: MutantRow) -> str:
    """Return the place, with a long path cut to its end, which has the file's name and line."""
    found = place(row)
    return found if len(found) <= LONGEST_PLACE else f"...{found[3 - LONGEST_PLACE :]}"


def _advice(row: MutantRow, where: str, name: str) -> str:
    """Return what to do about a mutant that no scenario noticed; a command calls the mutant by `name`."""
    if row.status is Status.NO_COVERAGE:
        return "No scenario reaches it: add one that does."
    if row.gap == "assertion":
        return f"Its behaviour changed unseen: add an assertion, `agentmut suggest{where}`."
    if row.gap == "scenario":
        return "Its behaviour here is as before: add a scenario in which it matters."
    if row.gap is None:
        return "Its runs were not compared: the notes of the full report say why."
    return f"No change was found: read its runs, `agentmut show {name}{where}`."


def _foot(result: Result, where: str, html: str) -> Iterator[str]:
    yield f"Trust  {_trust(result)}"
    cost = result.cost
    spent = (
        f"{cost.trials:,} runs of the agent, {cost.tokens:,} tokens, {money(cost)}, {duration(cost.seconds)}"
    )
    left_out = (note.removeprefix(LEFT_OUT) for note in result.notes if note.startswith(LEFT_OUT))
    if result.cheap_model:
        yield f"Proxy  {_cheap(result.cheap_model)}"
    yield from (f"Left out  {_cut_before_command(one_line(note, FIELD))}." for note in left_out)
    yield f"Cost   {spent}" + (
        f"; {cost.reused:,} run{'s' * (cost.reused != 1)} reused" if cost.reused else ""
    )
    yield f"Page   {one_line(html) or f'`agentmut report{where} --format html --output report.html`'}"
    yield f"Next   {_next(result, where)}"


def _cut_before_command(note: str) -> str:
    """Return the note with a long reason cut; the command at its end stays.

    >>> _cut_before_command("no " * 40 + "room. `agentmut mutants` lists them").partition("...")[2]
    ' `agentmut mutants` lists them'
    """
    reason, stop, command = note.rpartition(". ")
    if len(reason) <= LONGEST_REASON:
        return note
    return f"{shorten(reason, LONGEST_REASON)}{stop.strip('.')}{command}"


def _cheap(model: CheapModel) -> str:
    """Say how far the cheap model agrees with the agent's own, and what it costs and saves."""
    price = f", ${model.usd:.2f}" if model.usd else ""
    worth = (
        f"saves {percent(max(0.0, model.saved))} of the mutants"
        if model.is_worth_it
        else "not worth it (below 0.3)"
    )
    return f"{one_line(model.model)} rho {model.rho:.2f}: {worth}; {model.trials:,} runs{price} extra"


def _of_destroyed(status: Status | None) -> str:
    if status is None:
        return "the destroyed agent was not run"
    if status is Status.SURVIVED:
        return "the suite did not notice the destroyed agent, so its scenarios ask for too little"
    return f"the destroyed agent ended as {status}"


def _trust(result: Result) -> str:
    controls, score = result.controls, result.score
    if controls.identity.killed:
        said = "the unchanged agent was killed, so this score means nothing"
    elif controls.destroyed.status is Status.KILLED:
        said = "both controls hold"
    else:
        said = _of_destroyed(controls.destroyed.status)
    wrong = [
        f"at most {bound} of {counted(number, noun)} wrong"
        for bound, number, noun in (
            (score.false_kills, score.killed, "kill"),
            (score.missed, score.survived, "survivor"),
        )
        if bound is not None and number
    ]
    if len(wrong) == 2:
        wrong = [
            f"at most {score.false_kills} of {counted(score.killed, 'kill')} and {score.missed} of "
            f"{counted(score.survived, 'survivor')} wrong"
        ]
    notes = [counted(len(result.notes), "note")] if result.notes else []
    return "; ".join((said, *wrong, *notes))


def _next(result: Result, where: str) -> str:
    full = f"`agentmut report --full{where}` for all"
    if result.status == "budget":
        return f"{resume_with_more(result.ended_by, where)}; {full}"
    if result.status in _ENDED:
        return f"`agentmut resume{where}` goes on; {full}"
    if any(row.gap == "assertion" for row in rank(result.mutants)):
        return f"`agentmut suggest{where}` for assertions; {full}"
    if rank(result.mutants):
        return f"`agentmut show ID{where}` for one of them; {full}"
    return full
