"""Print the verdicts at the end of a pytest run."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from agentmut.pytest_plugin.stochastic.finding import ERROR, Finding, read_finding
from agentmut.stats import Verdict

_COLOURS = {Verdict.PASS.value: "green", Verdict.FAIL.value: "red", ERROR: "red"}


def write_summary(reporter: Any) -> None:
    """Write a line for each marked test, and what their number means for errors; nothing without marked tests."""
    rows = sorted(findings(report for reports in reporter.stats.values() for report in reports))
    if not rows:
        return
    reporter.section("agentmut")
    for node, finding in rows:
        verdict = f"{finding.verdict:<12}"
        reporter.write(verdict, **{_COLOURS.get(finding.verdict, "yellow"): True})
        reporter.write_line(f" {node}: {str(finding).partition(': ')[2]}")
    for line in family([finding for _, finding in rows]):
        reporter.write_line(line)


def findings(reports: Iterable[Any]) -> Iterator[tuple[str, Finding]]:
    """Yield each test with its finding, once: setup and teardown reports repeat it."""
    seen: dict[str, Finding] = {}
    for report in reports:
        finding = read_finding(getattr(report, "user_properties", ()))
        if finding is not None:
            seen.setdefault(report.nodeid, finding)
    yield from seen.items()


def family(rows: list[Finding]) -> Iterator[str]:
    """Return how many verdicts there are, and what alpha holds for."""
    counts = Counter(finding.verdict for finding in rows)
    names = (*(verdict.value for verdict in Verdict), ERROR)
    said = ", ".join(f"{counts[name]} {name}" for name in names if counts[name])
    yield f"{said}; {sum(row.trials for row in rows)} trials"
    if len(rows) > 1:
        levels = sorted({row.alpha for row in rows})
        together = min(1.0, sum(row.alpha for row in rows))
        yield (
            f"alpha is per test ({', '.join(f'{level:g}' for level in levels)}): that some of {len(rows)} tests which "
            f"meet their thresholds says FAIL has a chance of up to {100 * together:.0f} %"
        )
