"""The gate's requirements, each a pure function of a stored report and a limit."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentmut.nouns import Controls, Cost, Result, Score, Status
from agentmut.stats import Verdict
from agentmut.store import VerdictReport
from agentmut.usecases.gate_decision import Requirement, Standing

if TYPE_CHECKING:
    from agentmut.stats import Interval

SUITE = "suite verdict"
SCORE = "mutation score"
COVERAGE = "coverage"
MOST_LOST = 0.2
"""The share of mutants that may be lost to errors or not have been applied before a score is for a person to judge."""
REGRESSION = "regression"
OLDER = "the evaluators of {scenarios} are newer than the runs that they judge"
"""Why evidence does not count without a person."""
_STANDINGS: Mapping[Verdict, Standing] = {
    Verdict.PASS: Standing.MET,
    Verdict.FAIL: Standing.FAILED,
    Verdict.INCONCLUSIVE: Standing.OPEN,
}


def missing(name: str, why: str) -> Requirement:
    """Return a requirement without current evidence."""
    return Requirement(name=name, standing=Standing.MISSING, reason=why)


def suite_verdict(report: VerdictReport) -> Requirement:
    """Return the verdict of `agentmut test` (V_suite of Eq. 26)."""
    found = _STANDINGS[report.verdict], f"{report.verdict}: {report.reason}"
    standing, reason = _unless_older(*found, report)
    return Requirement(name=SUITE, standing=standing, reason=reason, run=report.run_id)


def _unless_older(standing: Standing, text: str, report: Result | VerdictReport) -> tuple[Standing, str]:
    """Leave to a person what rests on runs that the evaluators may have been chosen by.

    Such evaluators flatter the original and add kills, so what is not met all the same is not met.
    """
    older = report.evidence_older_than_evaluators
    if not older or standing not in (Standing.MET, Standing.OPEN):
        return standing, text
    return Standing.SHORT, f"{text}, but {OLDER.format(scenarios=', '.join(older))}"


def baseline_verdict(
    result: Result, alpha: float, thresholds: Mapping[str, float] = MappingProxyType({})
) -> Requirement:
    """Return V_suite from the campaign's own runs of the unchanged agent.

    Their number is fixed before they are judged, so the exact interval against each threshold (Eq. 4, Clopper-Pearson)
    with Holm's correction over the scenarios (Eq. 12) holds as in `agentmut test --method fixed`. `thresholds` are
    those that are asked today, by scenario; a scenario that is not among them keeps the one of the run.
    """
    from agentmut.stats import fixed_verdict
    from agentmut.stats import suite_verdict as over_scenarios

    judged = {
        row.scenario: fixed_verdict(
            row.passes, row.trials, thresholds.get(row.scenario, row.threshold), alpha
        )
        for row in result.baseline
    }
    if not judged:
        return missing(SUITE, f"run {result.run_id} has no baseline")
    found = over_scenarios(judged, alpha)
    reason = f"{found.verdict}: {found.reason} (on the baseline of the campaign)"
    standing, reason = _unless_older(_STANDINGS[found.verdict], reason, result)
    return Requirement(name=SUITE, standing=standing, reason=reason, run=result.run_id)


def minimum_score(result: Result, least: float) -> Requirement:
    """Return met if the score's lower bound reaches `least`, not met if the upper bound does not, else open.

    Where a control says that the score cannot be trusted, where a drift of the service may explain kills, or where more
    than `MOST_LOST` of the mutants are missing from it, a person has to look, unless even the most favourable reading
    is too low.
    """
    score = result.score
    if score.value is None or score.low is None or score.high is None:
        return missing(SCORE, f"run {result.run_id} has no mutant that counts")
    bounds = f"{score.value:.2f} [{score.low:.2f}, {score.high:.2f}] at {100 * score.level:g} %"
    if score.low >= least:
        standing, said = Standing.MET, f"{bounds}: the lower bound is at least {least:g}"
    elif score.high < least:
        standing, said = Standing.FAILED, f"{bounds}: even the upper bound is below {least:g}"
    else:
        standing, said = Standing.OPEN, f"{bounds}: the lower bound is below {least:g}, the upper is not"
    failed = standing is Standing.FAILED
    doubt = (
        _doubt(result.controls, failed=failed)
        or _too_many_lost(score, least, failed=failed)
        or _kills_in_doubt(result, failed=failed)
    )
    if doubt:
        standing, said = Standing.SHORT, f"{said}, but {doubt}"
    standing, said = _unless_older(standing, said, result)
    return Requirement(name=SCORE, standing=standing, reason=said, run=result.run_id)


def _doubt(controls: Controls, *, failed: bool) -> str:
    """Return what the campaign's controls show against its score; empty if nothing."""
    if controls.identity.killed and not failed:
        return "the unchanged agent was killed, so its kills cannot be trusted"
    if controls.destroyed.status is Status.SURVIVED:
        return "the destroyed agent survived, so survivors say nothing about the suite"
    return ""


def _kills_in_doubt(result: Result, *, failed: bool) -> str:
    """Return how many kills a drift of the service may explain; empty if none, or if fewer kills change nothing."""
    drift = result.service and result.service.drift
    if failed or not drift or not drift.in_doubt:
        return ""
    return f"{len(drift.in_doubt)} of its {result.score.killed} kills may come from a drift of the service"


def lost(score: Score) -> str:
    """Return how many mutants the score should include and does not; empty if it includes all.

    Undecided ones are within its bounds; equivalent and ignored ones are left out on purpose.
    """
    missed, of = _lost_of(score)
    kinds = ((score.error, "ended in errors"), (score.not_applied, "not applied"))
    told = ", ".join(f"{number} {what}" for number, what in kinds if number)
    return f"{missed} of {of} mutants are not in the score ({told})" if missed else ""


def _too_many_lost(score: Score, least: float, *, failed: bool) -> str:
    """Return that too many mutants are lost; empty if few are, or if even kills of all would not raise it enough."""
    missed, of = _lost_of(score)
    if missed <= MOST_LOST * of:
        return ""
    if failed and score.high is not None and (score.high * (of - missed) + missed) / of < least:
        return ""
    return f"{lost(score)}, more than {100 * MOST_LOST:g} %"


def _lost_of(score: Score) -> tuple[int, int]:
    missed = score.error + score.not_applied
    return (
        missed,
        missed + score.killed + score.survived + score.no_coverage + score.undecided + score.untestable,
    )


def minimum_coverage(overall: float | None, least: float) -> Requirement:
    """Require that C_overall is at least C_min (Eq. 26); a person judges too little coverage."""
    if overall is None:
        return missing(COVERAGE, "the agent has no dimension that could be covered")
    standing, sign = (Standing.MET, "at least") if overall >= least else (Standing.SHORT, "below")
    return Requirement(name=COVERAGE, standing=standing, reason=f"{overall:.2f} is {sign} {least:g}")


def no_regression(report: VerdictReport) -> Requirement:
    """Return the verdict of `agentmut baseline compare` on whether the agent is worse than the baseline."""
    name = report.baseline.name if report.baseline else "?"
    standing, said = _STANDINGS[report.verdict], f"{report.verdict} against {name!r}: {report.reason}"
    left = report.baseline.not_compared if report.baseline else {}
    if left and standing is Standing.MET:
        standing, said = Standing.SHORT, f"{said} ({', '.join(left)})"
    # a baseline that looks too good fails an agent as good
    if older := report.evidence_older_than_evaluators:
        standing, said = Standing.SHORT, f"{said}, but {OLDER.format(scenarios=', '.join(older))}"
    return Requirement(name=REGRESSION, standing=standing, reason=said, run=report.run_id)


def spending(
    costs: Sequence[Cost], most_usd: float | None, most_minutes: float | None
) -> Iterable[Requirement]:
    """Yield what the evidence took together (t_max of Definition 6.3). More than allowed is for a person to judge.

    What no run counts for has cost nothing and shows nothing: no evidence.
    """
    if not costs:
        names = ((most_usd, "cost of the evidence"), (most_minutes, "time of the evidence"))
        yield from (missing(name, "no run counts as evidence") for most, name in names if most is not None)
        return
    if most_usd is not None:
        spent = None if any(cost.usd is None for cost in costs) else sum(cost.usd or 0.0 for cost in costs)
        yield _within("cost of the evidence", spent, most_usd, "${:.2f}")
    if most_minutes is not None:
        minutes = sum(cost.seconds for cost in costs) / 60
        yield _within("time of the evidence", minutes, most_minutes, "{:.1f} minutes")


def _within(name: str, spent: float | None, most: float, style: str) -> Requirement:
    if spent is None:
        return missing(name, "a model has no known price: set budget.prices")
    standing, sign = (Standing.MET, "at most") if spent <= most else (Standing.SHORT, "more than")
    return Requirement(
        name=name, standing=standing, reason=f"{style.format(spent)} is {sign} {style.format(most)}"
    )


def mean_at_most(name: str, mean: "Interval | None", most: float, unit: str) -> Requirement:
    """Judge the mean of the agent's own runs: met where its interval is below `most`, not met above, else open."""
    if mean is None or mean.estimate is None:
        return missing(name, "no stored run of the current agent shows it")
    said = f"{mean.estimate:.3g} {unit} a run [{mean.low:.3g}, {mean.high:.3g}], at most {most:g} asked"
    standing = Standing.MET if mean.high <= most else Standing.FAILED if mean.low > most else Standing.OPEN
    return Requirement(name=name, standing=standing, reason=f"{said} ({mean.n} runs)")
