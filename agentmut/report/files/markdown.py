"""Markdown for pull-request comments and step summaries: what was not noticed first, details folded.

Whatever a model or a user wrote stands within code. The report is at most `LONGEST` bytes, as comments have a
limit; what is left out is counted.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from agentmut.nouns import Intent, MutantRow, Result, Score, Status
from agentmut.report.bounded import bounded, place
from agentmut.report.files.markdown_text import code, diff, fence, folded, table
from agentmut.report.proof_wording import (
    FEW_MEANS,
    GRADES_MEAN,
    for_drops,
    group_score,
    is_few,
    is_graded,
    proven,
    visible_line,
)
from agentmut.report.ranking import rank
from agentmut.report.reliability_wording import campaign_reliability
from agentmut.report.report_wording import (
    confirming_line,
    counted,
    interval,
    judged_again,
    judged_with,
    money,
    origins_line,
    part_of_suite,
)

if TYPE_CHECKING:
    from agentmut.store import Rescored

LONGEST = 60_000
"""Bytes. GitHub takes comments of 65,536 characters."""
SHOWN = 10
"""Survivors that are not folded."""
ROWS = 50
"""Rows of a table."""
_ASIDE = 400
"""Characters of a note or reason."""
_UNUSUAL = (
    (Status.UNDECIDED, "Undecided: not enough evidence either way"),
    (Status.UNTESTABLE, "Untestable: the agent fails too often, as it is, on the scenarios that reach these"),
    (Status.NOT_APPLIED, "Not applied: these changes never reached the agent, and are not in the score"),
    (Status.ERROR, "Could not be run, and not in the score"),
)


def markdown_report(result: Result, rescored: "Rescored | None" = None) -> str:
    """Return the report as Markdown, at most `LONGEST` bytes; see `terminal.render`."""
    rows = result.mutants
    again = judged_again(rescored) if rescored else ""
    head = [_title(result), *_warnings(result), _summary(result), again, _classes(result)]
    tail = [_brittle(rows), *_unusual(rows), _baseline(result), _trust(result)]
    fixed = "\n\n".join(block for block in (*head, *tail) if block)
    room = LONGEST - len(fixed.encode()) - 1_000  # for headings and what is said of the cut
    survivors = _survivors(rank(rows), room)
    return "\n\n".join(block for block in (*head, *survivors, *tail) if block) + "\n"


def fitting(blocks: Sequence[str], room: int) -> Sequence[str]:
    """Return the first blocks that fit into a number of bytes, each with a blank line."""
    for number, block in enumerate(blocks):
        room -= len(block.encode()) + 2
        if room < 0:
            return blocks[:number]
    return blocks


def fitting_rows(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the first rows of a table that fit into a tenth of the report."""
    lines = fitting([" | ".join(row) for row in rows], LONGEST // 10)
    return list(rows[: len(lines)])


def _title(result: Result) -> str:
    return f"## agentmut: mutation score {interval(result.score)}{for_drops(result.score)}"


def _warnings(result: Result) -> Iterable[str]:
    if result.status != "finished":
        yield f"**The run is not finished ({code(result.status)}): the score is partial.**"
    if result.problem:
        yield fence(bounded(result.problem, _ASIDE).splitlines())
    if result.controls.identity.killed:
        yield "**The unchanged agent was killed: kills of this run cannot be trusted.**"
    if result.shard:
        yield f"Shard {code(result.shard)}: the scores count its mutants only."
    if result.suite_part:
        yield part_of_suite(result.suite_part)


def _summary(result: Result) -> str:
    score = result.score
    total = score.killed + score.survived + score.no_coverage
    lines = [
        f"The suite noticed {score.killed} of {counted(total, 'harmful change')}. {score.survived} survived"
        f"{f', and {score.no_coverage} had no coverage' * bool(score.no_coverage)}."
        f"{f' {score.undecided} undecided.' * bool(score.undecided)}"
        f"{f' {score.untestable} untestable.' * bool(score.untestable)} "
        f"Brackets hold {100 * score.level:g} % intervals.",
        *filter(None, [visible_line(result)]),
        *proven(score, result.rule),
        *([GRADES_MEAN] if is_graded(score) else []),
    ]
    if result.robustness.value is not None:
        lines.append(
            f"Robustness, the share of harmless changes that lower no pass rate: {interval(result.robustness)}."
        )
    return "  \n".join(lines)


def _classes(result: Result) -> str:
    if not result.classes:
        return ""
    untestable = any(score.untestable for score in result.classes.values())
    names = ("killed", "survived", "no coverage", "undecided", *["untestable"] * untestable)
    rows = [(code(name), *_cells(score, names)) for name, score in result.classes.items()]
    head = ("class", "score", *names)
    note = f"\n\n{FEW_MEANS}" if any(map(is_few, result.classes.values())) else ""
    return table(head, fitting_rows(rows)) + note


def _cells(score: Score, names: Sequence[str]) -> list[str]:
    return [group_score(score), *(str(getattr(score, name.replace(" ", "_"))) for name in names)]


def _survivors(ranked: Sequence[MutantRow], room: int) -> list[str]:
    if not ranked:
        return []
    blocks = fitting([survivor(number, row) for number, row in enumerate(ranked, 1)], room)
    parts = [f"### Changes that no scenario notices ({len(ranked)})", *blocks[:SHOWN]]
    if rest := blocks[SHOWN:]:
        parts.append(folded(f"{len(rest)} more", *rest))
    if left := len(ranked) - len(blocks):
        parts.append(
            f"{left} more are left out here for their length: `agentmut report --format json` has all."
        )
    parts.append("`agentmut show ID` explains one, `agentmut suggest` proposes what to add.")
    return parts


def survivor(number: int, row: MutantRow) -> str:
    """Return a mutant with its place and its change."""
    reached = row.status is not Status.NO_COVERAGE
    about = [counted(row.trials, "run") if reached else "no coverage"]
    if row.ruled_out is not None:
        about.append(f"no drop of {row.ruled_out:g} or more")
    if row.gap and row.gap != "unknown":
        about.append(f"gap: {code(row.gap)}")
    where = f" at {code(place(row))}" if row.target.path else ""
    head = f"**{number}.** {code(row.id)} {code(row.operator)}{where} ({', '.join(about)})"
    in_text = row.operator_class in ("prompt", "context")
    change = diff(row.before, row.after, 1_200) if in_text else ""
    return f"{head}\n\n{change or code(row.description)}"


def _brittle(rows: Iterable[MutantRow]) -> str:
    found = [row for row in rows if row.intent is Intent.PRESERVE and row.status is Status.KILLED]
    if not found:
        return ""
    blocks = fitting([survivor(number, row) for number, row in enumerate(found, 1)], LONGEST // 6)
    return folded(
        f"Brittle: harmless changes that lower a pass rate ({len(found)})", *blocks, _rest(found, blocks)
    )


def _unusual(rows: Sequence[MutantRow]) -> Iterable[str]:
    for status, title in _UNUSUAL:
        found = sorted((row for row in rows if row.status is status), key=lambda row: row.reason)
        if found:
            groups = [
                _of_reason(reason, list(group)) for reason, group in groupby(found, lambda row: row.reason)
            ]
            blocks = fitting(groups, LONGEST // 10)
            yield folded(f"{title} ({len(found)})", *blocks, _rest(groups, blocks))


def _of_reason(reason: str, rows: Sequence[MutantRow]) -> str:
    ids = ", ".join(f"{code(row.id)} {code(row.operator)}" for row in rows[:6])
    more = f" and {len(rows) - 6} more" if len(rows) > 6 else ""
    return f"{ids}{more}" + (f"\n\n{fence([bounded(reason, _ASIDE)])}" if reason else "")


def _rest(everything: Sequence[object], shown: Sequence[object]) -> str:
    left = len(everything) - len(shown)
    return f"{left} more are left out here for their length." if left else ""


def _baseline(result: Result) -> str:
    rows: list[Sequence[str]] = []
    for row in result.baseline:
        rate = "-"
        if row.rate is not None and row.interval is not None:
            rate = f"{row.rate:.2f} [{row.interval.low:.2f}, {row.interval.high:.2f}]"
        rows.append((code(row.scenario), f"{row.passes}/{row.trials}", rate, "yes" if row.testable else "no"))
    rows = fitting_rows(rows)
    listed = table(("scenario", "passed", "rate", "testable"), rows)
    return folded(
        f"The agent as it is ({counted(len(result.baseline), 'scenario')})",
        listed,
        _rest(result.baseline, rows),
        confirming_line(result.baseline),
        _reliability(result),
    )


def _reliability(result: Result) -> str:
    return "\n".join(f"- {line}" for line in campaign_reliability(result, lambda name: code(name, _ASIDE)))


def _trust(result: Result) -> str:
    cost, controls = result.cost, result.controls
    lines = [
        f"- Unchanged agent run as a mutant: {'killed' if controls.identity.killed else 'not killed'} "
        f"({controls.identity.trials} runs; must not be killed)",
        f"- Destroyed agent: {controls.destroyed.status or 'not run'} (must be killed)",
        *fitting([f"- Note: {code(note, _ASIDE)}" for note in result.notes[:ROWS]], LONGEST // 10),
        f"- Cost: {counted(cost.trials, 'run')}, {cost.tokens:,} tokens, {money(cost)}, {cost.seconds:.0f} s; "
        f"{cost.reused} reused",
        *(f"- {code(line, _ASIDE)}" for line in judged_with(result)),
        f"- {origins_line(cost.origins)}",
        f"- Run {code(result.run_id)}, config {code(result.agent.digest[:12])}, seed {result.seed}, "
        f"agentmut {code(result.agentmut_version)}",
    ]
    return folded("Can this be trusted, and what did it cost?", "\n".join(lines))
