"""The change of violations since an earlier version (Proposition 6.1 of the AgentAssay paper)."""

from collections import Counter

from agentmut.relating.summary import FAMILY
from agentmut.stats import Correction, Judgement, SuiteVerdict, Verdict, regression_verdict, suite_verdict
from agentmut.store import Change, Counts, RelationReport, RelationRow


def compared(
    report: RelationReport, earlier: RelationReport, name: str, beta: float, delta: float
) -> RelationReport:
    """Return the report with the changes since an earlier one (Proposition 6.1 of the AgentAssay paper).

    Both have run every pair, so the counts are those of fixed samples; FAIL keeps `alpha` over all rows (Holm).
    """
    then = {(row.relation, row.scenario): row for row in earlier.rows if row.pairs}
    both = [
        (str(i), row, then[row.relation, row.scenario])
        for i, row in enumerate(report.rows)
        if row.pairs and (row.relation, row.scenario) in then
    ]
    raw = {
        key: _change(row, before, report.alpha, beta, delta)
        for key, row, before in both
        if row.measured == before.measured
    }
    notes = (*report.notes, *(_left_out(row, before, name) for key, row, before in both if key not in raw))
    if not raw:
        said = "no relation has pairs that can be compared on the same scenario in both reports"
        return report.model_copy(
            update={"against": name, "changed": Verdict.INCONCLUSIVE, "changed_reason": said, "notes": notes}
        )
    suite = suite_verdict(raw, report.alpha, Correction.HOLM, FAMILY)
    rows = [
        _with_change(row, then[row.relation, row.scenario], suite, str(i)) if str(i) in raw else row
        for i, row in enumerate(report.rows)
    ]
    counts = Counter(found.verdict for found in suite.scenarios.values())
    reason = (
        f"{counts[Verdict.FAIL]} of {len(raw)} violated more often than in {name!r}, "
        f"{counts[Verdict.PASS]} not, {counts[Verdict.INCONCLUSIVE]} open"
    )
    found = {"changed": suite.verdict, "changed_reason": reason, "rows": tuple(rows)}
    return report.model_copy(update={"against": name, "notes": notes, **found})


def _left_out(row: RelationRow, then: RelationRow, name: str) -> str:
    """Return why the violations of two rows cannot be compared."""
    changed = [what for what, value in row.measured.items() if then.measured.get(what) != value]
    where = (
        f"{row.relation} on {row.scenario} is not compared with {name!r}: {', '.join(changed)} changed since"
    )
    return where if then.measured else f"{where}, or was not noted then"


def _change(row: RelationRow, then: RelationRow, alpha: float, beta: float, delta: float) -> Judgement:
    held = then.pairs - then.violations, then.pairs, row.pairs - row.violations, row.pairs
    return regression_verdict(*held, alpha=alpha, beta=beta, delta=delta)


def _with_change(row: RelationRow, then: RelationRow, suite: SuiteVerdict, key: str) -> RelationRow:
    found = suite.scenarios[key]
    word = {Verdict.FAIL: "more often", Verdict.PASS: "not more often"}.get(
        found.verdict, "perhaps more often"
    )
    change = Change(
        earlier=Counts(violations=then.violations, pairs=then.pairs),
        verdict=found.verdict,
        reason=f"{word}: {row.violations}/{row.pairs} now, {then.violations}/{then.pairs} then",
        p_adjusted=suite.p_values[key],
    )
    return row.model_copy(update={"change": change})
