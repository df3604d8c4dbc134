"""Tests, comparisons, and checks of relations or survivors as JUnit XML, as Markdown and as an HTML page."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from agentmut.report.files.markdown_text import code, folded, table
from agentmut.report.files.outcome_rows import KILLED, OutcomeRow, Outcomes, bounded_outcomes, outcomes_of
from agentmut.report.reliability_wording import reliability_properties, scenario_properties

if TYPE_CHECKING:
    from agentmut.nouns import RepeatedRuns
    from agentmut.report.files.outcome_rows import Reported

ROWS = 100
"""Rows of a table in Markdown."""
OUTCOME_FORMATS = ("html", "junit", "markdown")


def outcomes_as(report: "Reported", format: str) -> str:
    """Return a whole document with its last line break; `format` is one of `OUTCOME_FORMATS`."""
    found = bounded_outcomes(outcomes_of(report))
    return {"html": _html, "junit": _junit, "markdown": _markdown}[format](found)


def _junit(found: Outcomes) -> str:
    """Return a test case for each row: a bad one is a failure, and what is open or says nothing is skipped."""
    own = {row.scenario: row for row in found.reliability.scenarios} if found.reliability else {}
    cases = [*_unfinished(found), *(_case(row, found.kind, own.get(row.name)) for row in found.rows)]
    suite = ET.Element("testsuite", name=f"agentmut.{found.kind}", time=f"{found.seconds:.3f}")
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="agentmut.verdict", value=found.outcome)
    share = f"{found.origins.foreign_share:g}"
    ET.SubElement(properties, "property", name="agentmut.evidence.foreign_share", value=share)
    _add_properties(properties, reliability_properties(found.reliability) if found.reliability else ())
    suite.extend(cases)
    root = ET.Element("testsuites", name="agentmut")
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(row: OutcomeRow, kind: str, runs: "RepeatedRuns | None") -> ET.Element:
    case = ET.Element("testcase", name=row.name, classname=f"agentmut.{kind}")
    if runs is not None:
        _add_properties(ET.SubElement(case, "properties"), scenario_properties(runs))
    if not row.good:
        tag = "failure" if row.bad else "skipped"
        ET.SubElement(case, tag, type=row.outcome, message=row.reason).text = row.failure
    return case


def _add_properties(parent: ET.Element, named: Iterable[tuple[str, str]]) -> None:
    for name, value in named:
        ET.SubElement(parent, "property", name=name, value=value)


def _unfinished(found: Outcomes) -> Iterator[ET.Element]:
    if found.status != "finished":
        case = ET.Element("testcase", name="the run is finished", classname=f"agentmut.{found.kind}")
        ET.SubElement(case, "error", type=found.status, message=found.problem or f"it ended: {found.status}")
        yield case


def _markdown(found: Outcomes) -> str:
    blocks = [f"## {found.title}: {found.outcome}", code(found.reason, 1_000)]
    if found.status != "finished":
        blocks.append(f"**The run is not finished ({code(found.status)}).**")
    rows = [(code(row.name), *row.cells, row.outcome) for row in found.rows]
    left = len(rows) - ROWS
    more = f"\n\n{left} more are left out here for their length." if left > 0 else ""
    blocks.append(table(found.head, rows[:ROWS]) + more)
    shown = {"Failures": ("FAIL",), "Kills": (KILLED,)}
    for title, outcomes in shown.items():
        told = [row for row in found.rows if row.outcome in outcomes]
        if told:
            lines = "\n".join(f"- {code(row.name)}: {code(row.failure or row.reason, 400)}" for row in told)
            blocks.append(f"**{title}**\n\n{lines}")
    blocks.append(folded("Notes and cost", "\n".join(f"- {code(note, 400)}" for note in found.notes)))
    return "\n\n".join(blocks) + "\n"


def _html(found: Outcomes) -> str:
    from agentmut.report.html.templating import rendered

    return rendered("outcomes.html", (), found=found).rstrip() + "\n"
