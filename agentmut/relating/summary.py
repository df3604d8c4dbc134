"""From lanes to `relations.json`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut._base import __version__, canonical_json, digest_of, gone_again, jsonable
from agentmut.assessment import SequentialComparison
from agentmut.campaign import (
    ISOLATED_AFTERWARDS,
    Session,
    Spend,
    Stop,
    age_note,
    agent_of,
    bounds_of,
    cost_of,
    money_notes,
)
from agentmut.nouns import Expectation
from agentmut.project import RelationSettings
from agentmut.relating.judges import judges_of
from agentmut.relating.lane import NOT_STORED, Lane, ViolatingPair
from agentmut.relating.pooling import PooledRelation, pooled
from agentmut.relating.preparation import Fit, Wish
from agentmut.relating.state import RelationsPlan
from agentmut.stats import (
    Correction,
    Decision,
    Judgement,
    SuiteVerdict,
    Verdict,
    descriptive,
    suite_verdict,
    wilson,
)
from agentmut.store import (
    Counts,
    Finding,
    PooledCounts,
    RelationReport,
    RelationRow,
    RelationSummary,
    Violation,
)

SHOWN = 400
"""Characters of a text that an example keeps."""
FAMILY = "relations on scenarios"
TOGETHER = "over all scenarios:"
"""Begins the names of tests of one relation over all its scenarios."""
ORDER = (Finding.FAIL, Finding.INCONCLUSIVE, Finding.PASS, Finding.NOT_APPLICABLE)
"""Worst first."""
NO_SOURCE = "no run of the unchanged agent has an answer to start from"
NO_CONTROL = "no two runs of the unchanged agent could be judged, so there is nothing to compare with"
SAYS_NOTHING_ALONE = "the relation does not apply to two runs of the unchanged agent"
LEAST_CONTROLS = 6
"""Groups of the identity that PASS takes. Simulated at beta .1, PASS was false in .153 of all cases with three of
them, in .13 with five or eight, and in .1 with twenty."""
NOT_BEGUN = "no pair was judged before the end"


class CheckedRelations(NamedTuple):
    """The runs of a check, and how it ended."""

    plan: RelationsPlan
    stop: Stop
    spend: Spend
    problem: str = ""
    refused: bool = False
    """Whether the problem is one of the project file."""
    lanes: Sequence[Lane] = ()
    identity: Sequence[Counts | None] = ()
    notes: tuple[str, ...] = ()
    forgot: bool = False
    """Whether runs that never began are not reused."""


def report_relations(session: Session, wanted: Wish, checked: CheckedRelations) -> RelationReport:
    """Return the report of a check, finished or not."""
    plan, alpha = checked.plan, session.project.statistics.alpha_of_a_look
    judged = {str(i): found for i, lane in enumerate(checked.lanes) if (found := judgement_of(lane))}
    together = pooled(checked.lanes, checked.identity, alpha, session.project.relations.tolerance)
    judged |= {f"{TOGETHER} {label}": one.judgement for label, one in together.items()}
    suite = suite_verdict(judged, alpha, Correction.HOLM, FAMILY) if judged else None
    rows = _rows(checked, suite, session.project.relations)
    rows += [_unfit(fit) for fit in wanted.fits if fit.lack]
    rows += _not_reached(wanted, rows)
    summaries = tuple(_summaries(wanted, rows, together, suite))
    failed_together = [one for one in summaries if one.pooled and one.pooled.failed]
    return RelationReport(
        agentmut_version=__version__,
        run_id=plan.run_id,
        status=checked.stop.value,
        problem=checked.problem,
        forgotten=checked.forgot,
        seed=plan.seed,
        project=session.project.path.name,
        agent=agent_of(session),
        finding=overall([*rows, *failed_together]),
        reason=_reason(rows, failed_together),
        alpha=alpha,
        family=str(suite.adjusted) if suite else "",
        needed=suite.needed if suite else None,
        relations=summaries,
        rows=tuple(rows),
        cost=cost_of(checked.spend, plan.environment),
        judges=judges_of(checked.lanes, session.project),
        settings=plan.settings,
        notes=(*checked.notes, *_notes(wanted, checked, rows)),
    )


def judgement_of(lane: Lane) -> Judgement | None:
    """Return the verdict of the pairs so far; None if none was judged."""
    if lane.rule is None or not (lane.held or _untestable(lane)):
        return None
    found = lane.rule.judgement(lane.held)
    if found.verdict is Verdict.PASS and _few_controls(lane):
        return found._replace(verdict=Verdict.INCONCLUSIVE, needed=None)
    return found


def _few_controls(lane: Lane) -> bool:
    """Return whether the agent's own rate is too uncertain for PASS, which would err more often than `beta`."""
    return isinstance(lane.rule, SequentialComparison) and lane.rule.table.n0 < LEAST_CONTROLS


def overall(rows: Sequence[RelationRow | RelationSummary]) -> Finding:
    """Return FAIL if any fails, PASS if all applicable ones pass; not applicable if none applies."""
    found = {row.finding for row in rows}
    if found <= {Finding.NOT_APPLICABLE}:
        return Finding.NOT_APPLICABLE
    if Finding.FAIL in found:
        return Finding.FAIL
    return Finding.INCONCLUSIVE if Finding.INCONCLUSIVE in found else Finding.PASS


def _rows(
    checked: CheckedRelations, suite: SuiteVerdict | None, settings: RelationSettings
) -> list[RelationRow]:
    return [
        _row(lane, identity, suite, str(i), settings)
        for i, (lane, identity) in enumerate(zip(checked.lanes, checked.identity, strict=True))
    ]


def _row(
    lane: Lane, identity: Counts | None, suite: SuiteVerdict | None, key: str, settings: RelationSettings
) -> RelationRow:
    tolerance = settings.tolerance
    found = suite.scenarios.get(key) if suite else None
    chosen, pairs = lane.subject.chosen, len(lane.held)
    finding, reason = _finding(lane, identity, found, tolerance)
    interval = wilson(lane.violations, pairs) if pairs else None
    return RelationRow(
        relation=chosen.label,
        family=chosen.relation.family,
        expectation=chosen.relation.expectation,
        scenario=lane.subject.scenario.name,
        finding=finding,
        reason=reason,
        violations=lane.violations,
        pairs=pairs,
        interval=bounds_of(interval if lane.to_the_end else descriptive(interval)) if interval else None,
        identity=identity,
        tolerance=None if identity else tolerance,
        compared=lane.subject.material.comparison.kinds
        if chosen.relation.expectation is Expectation.INVARIANT
        else (),
        silent={**lane.silent, **lane.no_evidence},
        needed=found.needed if found and finding is Finding.INCONCLUSIVE else None,
        p_fail=found.p_fail if found else 1.0,
        p_adjusted=suite.p_values[key] if suite and found else 1.0,
        method=found.method if found else "",
        measured=measured_by(lane, settings),
        free=lane.free,
        example=violation(lane.subject.scenario.turns, lane.example) if lane.example else None,
    )


def measured_by(lane: Lane, settings: RelationSettings) -> dict[str, str]:
    """Return what a lane's pairs were made and judged by, by name."""
    chosen, scenario, _, _ = lane.subject
    compare = [jsonable(settings.compare), [spec.model_dump(mode="json") for spec in scenario.compare]]
    return {
        "the scenario": scenario.digest[:12],
        "the relation's version": str(chosen.relation.version),
        "what is compared": digest_of(compare)[:12],
        "relations.sources": str(settings.sources),
    }


def _finding(
    lane: Lane, identity: Counts | None, found: Judgement | None, tolerance: float
) -> tuple[Finding, str]:
    if found is not None:
        return Finding(found.verdict), _verdict_reason(lane, identity, found, tolerance)
    return _without_pairs(lane)


def _without_pairs(lane: Lane) -> tuple[Finding, str]:
    """Return why no pair was judged: missing evidence, or a relation that does not apply."""
    reasons = (
        (not lane.subject.material.sources, Finding.INCONCLUSIVE, NO_SOURCE),
        (lane.rule is None and _has_controls(lane), Finding.NOT_APPLICABLE, SAYS_NOTHING_ALONE),
        (lane.planned and lane.rule is None, Finding.INCONCLUSIVE, NO_CONTROL),
        (set(lane.no_evidence) == {NOT_STORED}, Finding.NOT_APPLICABLE, NOT_STORED),
        (lane.no_evidence, Finding.INCONCLUSIVE, f"no pair could be judged: {_commonest(lane.no_evidence)}"),
        (lane.consumed < lane.most, Finding.INCONCLUSIVE, NOT_BEGUN),
        (True, Finding.NOT_APPLICABLE, _commonest(lane.silent)),
    )
    return next((finding, reason) for applies, finding, reason in reasons if applies)


def _has_controls(lane: Lane) -> bool:
    """Return whether the unchanged agent was checked, so that more runs would not help."""
    controls = lane.subject.material.controls(max(1, lane.again))
    return bool(lane.planned) and any(
        not any(run.masked for run in (first, *rest)) for first, rest in controls
    )


def _deciding(lane: Lane) -> str:
    """Return which pairs decided, if further pairs were run."""
    rule, held = lane.rule, lane.held
    first = next((n for n in range(1, len(held)) if rule and rule.ended(held[:n])), None)
    return f", decided by {held[:first].count(False)} of the first {first}" if first else ""


def _verdict_reason(lane: Lane, identity: Counts | None, found: Judgement, tolerance: float) -> str:
    seen = f"violated in {lane.violations} of {len(lane.held)} pairs{_deciding(lane)}"
    if identity is None:
        measure = f"the tolerance is {tolerance:g}"
    else:
        measure = (
            f"the unchanged agent violates it against itself in {identity.violations} of {identity.pairs}"
        )
    if _untestable(lane):
        return f"the agent differs from itself too often for a difference to show: {measure}"
    if found.verdict is Verdict.FAIL:
        return f"{seen}; {measure}"
    if found.verdict is Verdict.PASS:
        return f"{seen}; {measure}; a difference that matters is ruled out"
    if found.p_fail < 1 and "correction" in found.reason:
        return f"{seen}; {measure}; not enough after the correction for the number of relations"
    if _few_controls(lane):
        return f"{seen}; {measure}: PASS takes {LEAST_CONTROLS} of these, from more `relations.sources`"
    return f"{seen}; {measure}; too few pairs to decide"


def _untestable(lane: Lane) -> bool:
    rule = lane.rule
    return isinstance(rule, SequentialComparison) and rule.table.decide(0, 0) is Decision.UNTESTABLE


def _unfit(fit: Fit) -> RelationRow:
    return RelationRow(
        relation=fit.chosen.label,
        family=fit.chosen.relation.family,
        expectation=fit.chosen.relation.expectation,
        scenario=fit.scenario.name,
        finding=Finding.NOT_APPLICABLE,
        reason=fit.lack,
    )


def _not_reached(wanted: Wish, rows: Sequence[RelationRow]) -> list[RelationRow]:
    """Return applicable relations without a lane, for lack of source runs: no evidence either way."""
    there = {(row.relation, row.scenario) for row in rows}
    missing = [fit for fit in wanted.fitting if (fit.chosen.label, fit.scenario.name) not in there]
    return [
        _unfit(fit).model_copy(update={"finding": Finding.INCONCLUSIVE, "reason": NO_SOURCE})
        for fit in missing
    ]


def _summaries(
    wanted: Wish,
    rows: Sequence[RelationRow],
    together: Mapping[str, PooledRelation],
    suite: SuiteVerdict | None,
) -> Iterator[RelationSummary]:
    chosen = {fit.chosen.label: fit.chosen for fit in wanted.fits}
    for label, one in chosen.items():
        own = [row for row in rows if row.relation == label]
        counts = Counter(row.finding for row in own)
        found = _together(label, together, suite)
        failed = found is not None and found.failed
        yield RelationSummary(
            relation=label,
            finding=Finding.FAIL if failed else overall(own),
            pooled=found,
            why=one.relation.why,
            counts={finding.value: counts[finding] for finding in ORDER if counts[finding]},
        )


def _together(
    label: str, together: Mapping[str, PooledRelation], suite: SuiteVerdict | None
) -> PooledCounts | None:
    """Return a relation's counts over all scenarios, with its p-value among all tests of the report."""
    key = f"{TOGETHER} {label}"
    if label not in together or suite is None:
        return None
    failed = suite.scenarios[key].verdict is Verdict.FAIL
    return together[label].counts.model_copy(update={"p_adjusted": suite.p_values[key], "failed": failed})


def _checks(number: int) -> str:
    """Return the number of checks, each of one relation on one scenario.

    >>> _checks(1), _checks(3)
    ('1 check (a relation on a scenario)', '3 checks (each a relation on a scenario)')
    """
    return (
        "1 check (a relation on a scenario)"
        if number == 1
        else f"{number} checks (each a relation on a scenario)"
    )


def _reason(rows: Sequence[RelationRow], failed_together: Sequence[RelationSummary] = ()) -> str:
    counts = Counter(row.finding for row in rows)
    applying = len(rows) - counts[Finding.NOT_APPLICABLE]
    if not applying:
        return f"none of {_checks(len(rows))} applies"
    words = {Finding.FAIL: "fail", Finding.INCONCLUSIVE: "open", Finding.PASS: "pass"}
    said = ", ".join(f"{counts[finding]} {word}" for finding, word in words.items() if counts[finding])
    left = counts[Finding.NOT_APPLICABLE]
    if failed_together:
        said += f"; over all scenarios together {len(failed_together)} fail"
    return f"{_checks(applying)}: {said}{f'; {left} not applicable' if left else ''}"


def _notes(wanted: Wish, checked: CheckedRelations, rows: Sequence[RelationRow]) -> Iterator[str]:
    yield from wanted.notes
    for name, said in wanted.needs_argument.items():
        yield f"{name} was left out, since it needs an argument: {said}"
    if old := age_note(checked.spend.age, "verdicts rest on trials that are"):
        yield old
    yield from money_notes(checked.spend)
    if gone_again():
        yield ISOLATED_AFTERWARDS
    if checked.spend.abandoned:
        yield f"{checked.spend.abandoned} runs were abandoned at their timeout; `isolate: process` would end them"
    if failed := sum(lane.failed for lane in checked.lanes):
        yield (
            f"of relations that are no invariants, pairs in which the agent failed after the change ({failed}) count "
            "neither way"
        )
    if any(row.needed for row in rows):
        yield "pairs start from different source runs: more pairs take more `relations.sources` too"


def violation(turns: Sequence[object], shown: ViolatingPair) -> Violation:
    """Return an example of a violation, shortened."""
    planned, traces, check = shown
    run = planned.follow_up.runs[-1] if planned.follow_up.runs else None
    after = run.turns if run is not None and run.turns is not None else turns
    return Violation(
        repeat=planned.source.repeat,
        change=_cut(planned.follow_up.description),
        source_input=_cut(_text(turns)),
        source_output=_cut(planned.source.trace.text),
        follow_up_input=_cut(_text(after)) if run else "",
        follow_up_output=_cut(traces[-1].text) if traces else "",
        difference=_cut(check.reason),
    )


def _text(turns: Sequence[object]) -> str:
    return "\n".join(turn if isinstance(turn, str) else canonical_json(jsonable(turn)) for turn in turns)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _commonest(reasons: Mapping[str, int]) -> str:
    return Counter(reasons).most_common(1)[0][0] if reasons else ""
