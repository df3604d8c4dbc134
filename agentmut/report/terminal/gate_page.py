"""The gate's decision for a terminal."""

from agentmut.report.paint import Page, clean
from agentmut.report.report_wording import counted, origins_line
from agentmut.usecases import Decision, GateReport, Standing

_STYLES = {Decision.DEPLOY: "green", Decision.BLOCK: "red", Decision.MANUAL: "yellow"}
_MARKS = {
    Standing.MET: "green",
    Standing.FAILED: "red",
    Standing.OPEN: "yellow",
    Standing.SHORT: "yellow",
    Standing.MISSING: "yellow",
}
_WORDS = {
    Standing.MET: "is met",
    Standing.FAILED: "is not met",
    Standing.OPEN: "is open",
    Standing.SHORT: "falls short",
    Standing.MISSING: "has no evidence",
}


def render_gate(report: GateReport, color: bool = False) -> str:
    """Return the decision, every requirement, and what was not used."""
    page = Page(color)
    page.add(f"agentmut {report.agentmut_version}  gate of {clean(report.project)}")
    page.add()
    page.add(f"Decision: {report.decision}{_because(report)}", style=_STYLES[report.decision])
    if not report.requirements:
        page.hang(clean(" ".join(report.reasons)))
    for each in report.requirements:
        of = f" (run {each.run})" if each.run else ""
        name = clean(f"{each.name[:1].upper()}{each.name[1:]}")
        page.hang(f"{name} {_WORDS[each.standing]}: {clean(each.reason)}{of}", style=_MARKS[each.standing])
    if report.left_out:
        page.title("Not used")
        for left in report.left_out:
            page.hang(clean(left))
    for note in report.notes:
        page.hang(f"Note: {clean(note)}.", indent=0)
    page.add()
    page.hang(origins_line(report.origins), indent=0)
    page.hang(
        f"Not enough evidence either way means {report.inconclusive} here (gate.inconclusive); no evidence at all is "
        "always manual.",
        indent=0,
    )
    return page.text()


def _because(report: GateReport) -> str:
    """Return how many of the requirements made the decision."""
    if not report.reasons or not report.requirements:
        return ""
    by = "let through" if report.decision is Decision.DEPLOY else "decided"
    return f" ({by} by {len(report.reasons)} of {counted(len(report.requirements), 'requirement')})"
