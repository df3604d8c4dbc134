"""Verdicts as Markdown, for pull-request comments and step summaries."""

from collections.abc import Iterator

from agentmut.report.behaviour_wording import behaviour_lines
from agentmut.report.files.markdown_text import code, folded, table
from agentmut.report.reliability_wording import reliability_details, reliability_lines
from agentmut.report.report_wording import bounds_text, counted, judged_with, money, origins_line
from agentmut.store import ScenarioVerdict, VerdictReport

ROWS = 100
"""Rows of the table."""
LONGEST = 400
"""Characters of a reason."""


def verdicts_markdown(report: VerdictReport) -> str:
    """Return the report of `agentmut test` and `agentmut baseline compare` as Markdown, with its last line break."""
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: VerdictReport) -> Iterator[str]:
    kind = "Comparison with a baseline" if report.kind == "compare" else "Test of the agent"
    yield f"## {kind}: {report.verdict}"
    yield code(report.reason, LONGEST)
    if report.status != "finished":
        yield f"**The run is not finished ({code(report.status)}).**"
    yield _scenarios(report)
    if report.reliability is not None:
        found = report.reliability
        lines = (*reliability_lines(found, code), *reliability_details(found, code))
        yield "**Reliability**\n\n" + _listed(iter(lines))
    if report.behaviour is not None:
        against = f"**Behaviour, against baseline {code(report.behaviour.baseline)}**\n\n"
        yield against + _listed(behaviour_lines(report.behaviour, code))
    cost = report.cost
    told = [code(note, LONGEST) for note in report.notes]
    told.append(
        f"{counted(cost.foreign, 'recorded run')} of another tool; the agent was not run"
        if cost.foreign and cost.foreign == cost.trials + cost.reused
        else f"{counted(cost.trials, 'run')} of the agent, {money(cost)}, {cost.seconds:.0f} s; {cost.reused} reused"
    )
    told.extend(code(line, LONGEST) for line in judged_with(report))
    told.append(origins_line(cost.origins))
    told.append(f"run {code(report.run_id)}, config {code(report.agent.digest[:12])}, seed {report.seed}")
    yield folded("Notes and cost", _listed(iter(told)))


def _scenarios(report: VerdictReport) -> str:
    compared = report.baseline is not None
    head = ("scenario", "passed", *(("baseline", "change") if compared else ("asked", "rate")), "verdict")
    left = len(report.scenarios) - ROWS
    more = f"\n\n{left} more are left out here for their length." if left > 0 else ""
    return table(head, map(_cells, report.scenarios[:ROWS])) + more


def _cells(row: ScenarioVerdict) -> tuple[str, ...]:
    passed, verdict = f"{row.passes}/{row.trials}", row.verdict.value
    if row.baseline is not None:
        before = f"{row.baseline.passes}/{row.baseline.trials}"
        return code(row.scenario), passed, before, bounds_text(row.interval, "+.2f"), verdict
    asked = "-" if row.threshold is None else f"{row.threshold:g}"
    return code(row.scenario), passed, asked, bounds_text(row.anytime or row.interval, ".2f"), verdict


def _listed(lines: Iterator[str]) -> str:
    """Return a list; a line that begins with two blanks belongs to the one before it."""
    return "\n".join(f"  - {line.strip()}" if line.startswith("  ") else f"- {line}" for line in lines)
