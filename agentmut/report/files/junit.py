"""JUnit XML, the dialect of Jenkins (junit-10.xsd): one test case a mutant.

A change that the suite did not notice is a failure, as is a harmless change that lowers a pass rate. What
says nothing about the suite (undecided, not applied, ignored, equivalent) is skipped.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from agentmut.campaign import baseline_reliability
from agentmut.nouns import Intent, MutantRow, Result, Score, Status
from agentmut.report.bounded import bounded, names, one_line, place
from agentmut.report.reliability_wording import reliability_properties
from agentmut.report.report_wording import MEANING

_FAILED = (Status.SURVIVED, Status.NO_COVERAGE)


class Ending(NamedTuple):
    """How a test case ended: the tag of JUnit, its type, and why."""

    tag: str
    type: str
    message: str


def junit_report(result: Result) -> str:
    """Return the report as an XML document."""
    groups = _groups(result.mutants)
    suites = [_suite(name, rows, result) for name, rows in groups.items()]
    if unfinished := _unfinished(result):
        suites.insert(0, unfinished)
    root = ET.Element("testsuites", name="agentmut", time=f"{result.cost.seconds % 1_000_000:.3f}")
    for kind in ("tests", "failures", "errors"):
        root.set(kind, str(sum(int(suite.get(kind, "0")) for suite in suites)))
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def ending(row: MutantRow) -> Ending | None:
    """Return how the test case of a mutant ended; None where it passed."""
    if row.status is Status.ERROR:
        return Ending("error", row.status, bounded(row.reason) or MEANING[row.status])
    if row.status not in (*_FAILED, Status.KILLED):
        return Ending("skipped", row.status, bounded(row.reason) or MEANING[row.status])
    if row.intent is Intent.DEGRADE:
        return Ending("failure", row.status, MEANING[row.status]) if row.status in _FAILED else None
    if row.status is Status.KILLED:
        return Ending("failure", "brittle", f"A harmless change lowers a pass rate: {names(row.killed_by)}")
    return Ending("skipped", row.status, MEANING[row.status]) if row.status is Status.NO_COVERAGE else None


def _groups(rows: Iterable[MutantRow]) -> dict[str, list[MutantRow]]:
    groups: dict[str, list[MutantRow]] = {}
    for row in rows:
        kind = row.operator_class.value
        harmless = row.intent is Intent.PRESERVE and not row.parts
        groups.setdefault("robustness" if harmless else kind, []).append(row)
    return groups


def _suite(name: str, rows: Sequence[MutantRow], result: Result) -> ET.Element:
    endings = [ending(row) for row in rows]
    tags = [found.tag for found in endings if found]
    suite = ET.Element("testsuite", name=f"agentmut.{name}", tests=str(len(rows)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(tags.count(tag)))
    own = result.robustness if name == "robustness" else result.classes.get(name)
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(result, own):
        ET.SubElement(properties, "property", name=key, value=value)
    suite.extend(_case(row, found, name) for row, found in zip(rows, endings, strict=True))
    return suite


def _case(row: MutantRow, found: Ending | None, suite: str) -> ET.Element:
    title = one_line(f"{row.id} {row.operator} {place(row)}")
    case = ET.Element("testcase", name=title, classname=f"agentmut.{suite}")
    if found:
        outcome = ET.SubElement(case, found.tag, type=found.type, message=one_line(found.message, 1000))
        outcome.text = _details(row)
    return case


def _details(row: MutantRow) -> str:
    lines = [one_line(row.description, 1000), f"{row.trials} runs"]
    lines += [f"- {line}" for line in bounded(row.before).splitlines() if line.strip()]
    lines += [f"+ {line}" for line in bounded(row.after).splitlines() if line.strip()]
    if row.gap:
        lines.append(f"gap: {one_line(row.gap)}")
    return "\n".join(lines)


def _properties(result: Result, own: Score | None) -> Iterator[tuple[str, str]]:
    yield "agentmut._base.version", one_line(result.agentmut_version)
    yield "agentmut.run", one_line(result.run_id)
    yield "agentmut.status", one_line(result.status)
    yield "agentmut.nouns.config", one_line(result.agent.digest)
    yield "agentmut.seed", str(result.seed)
    yield from _score("agentmut.score", result.score)
    if own is not None:
        yield from _score("agentmut.suite_score", own)
    if found := baseline_reliability(result):
        yield from reliability_properties(found)
    yield "agentmut.control.unchanged_agents_killed", str(result.controls.identity.killed)
    yield "agentmut.control.destroyed_agent", result.controls.destroyed.status or "not run"
    yield "agentmut.cost.trials", str(result.cost.trials)
    yield "agentmut.evidence.foreign_share", f"{result.cost.origins.foreign_share:g}"
    yield "agentmut.cost.usd", "unknown" if result.cost.usd is None else f"{result.cost.usd:g}"


def _score(name: str, score: Score) -> Iterator[tuple[str, str]]:
    for key, value in (("", score.value), (".low", score.low), (".high", score.high)):
        yield f"{name}{key}", "n/a" if value is None else f"{value:g}"
    yield f"{name}.level", f"{score.level:g}"
    for status in Status:
        yield f"{name}.{status}", str(getattr(score, status.value))


def _unfinished(result: Result) -> ET.Element | None:
    """Add a failing test suite for an unfinished run: a run without mutants would look green otherwise."""
    if result.status == "finished":
        return None
    suite = ET.Element("testsuite", name="agentmut.run", tests="1", failures="0", errors="1", skipped="0")
    case = ET.SubElement(suite, "testcase", name="the run is finished", classname="agentmut.run")
    message = bounded(result.problem) or f"The run ended as {one_line(result.status)}: its score is partial."
    ET.SubElement(case, "error", type=one_line(result.status), message=message)
    return suite
