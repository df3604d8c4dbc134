"""The gate's decision, and each of its requirements, on reports made by hand."""

from typing import Any

import pytest

from agentmut.nouns.mutant import Status
from agentmut.nouns.result import (
    BaselineRow,
    Controls,
    Cost,
    DestroyedControl,
    Drift,
    IdentityControl,
    Result,
    ServiceWatch,
)
from agentmut.nouns.result_figures import Score
from agentmut.stats.intervals.proportion import Interval
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import BaselineUsed, VerdictReport
from agentmut.usecases.gate_decision import Decision, Requirement, Standing, decide, reasons_of
from agentmut.usecases.gate_requirements import (
    baseline_verdict,
    mean_at_most,
    minimum_coverage,
    minimum_score,
    no_regression,
    spending,
    suite_verdict,
)


def asked(*standings: Standing) -> list[Requirement]:
    return [Requirement(name=f"r{n}", standing=s, reason=str(s)) for n, s in enumerate(standings)]


@pytest.mark.parametrize(
    ("standings", "inconclusive", "decision"),
    [
        ([Standing.MET, Standing.MET], "manual", Decision.DEPLOY),
        ([Standing.MET, Standing.FAILED, Standing.MISSING], "manual", Decision.BLOCK),
        ([Standing.MET, Standing.OPEN], "manual", Decision.MANUAL),
        ([Standing.MET, Standing.OPEN], "block", Decision.BLOCK),
        ([Standing.MET, Standing.OPEN], "deploy", Decision.DEPLOY),
        ([Standing.SHORT, Standing.MET], "deploy", Decision.MANUAL),
        ([Standing.MISSING], "deploy", Decision.MANUAL),
        ([Standing.MISSING], "block", Decision.MANUAL),
        ([Standing.FAILED], "deploy", Decision.BLOCK),
        ([], "deploy", Decision.MANUAL),
    ],
)
def test_the_most_serious_requirement_decides(
    standings: list[Standing], inconclusive: Any, decision: Decision
) -> None:
    assert decide(asked(*standings), inconclusive) is decision


def test_the_reasons_are_those_of_the_requirements_that_decided() -> None:
    found = asked(Standing.MET, Standing.OPEN, Standing.FAILED)
    assert reasons_of(found, Decision.BLOCK, "manual") == ("r2: not met",)
    assert reasons_of(found[:2], Decision.DEPLOY, "deploy") == ("r1: open",)


def controls_with(killed: int = 0, destroyed: Status = Status.KILLED) -> Controls:
    return Controls(
        identity=IdentityControl(mutants=1, killed=killed), destroyed=DestroyedControl(status=destroyed)
    )


def campaign(score: Score, *rows: tuple[str, int, int]) -> Result:
    baseline = tuple(
        BaselineRow(
            scenario=name, trials=n, passes=k, rate=k / n, interval=None, threshold=0.8, testable=True
        )
        for name, k, n in rows
    )
    controls = controls_with()
    parts: dict[str, Any] = {"run_id": "r", "score": score, "baseline": baseline, "controls": controls}
    return Result.model_construct(**parts)


def amid_a_drift(*in_doubt: str) -> ServiceWatch:
    drift = Drift(since=1.0, until=2.0, change=-0.2, p=0.001, in_doubt=in_doubt)
    return ServiceWatch(sentinels=9, confirming=9, drift=drift)


@pytest.mark.parametrize(
    ("least", "standing"), [(0.5, Standing.MET), (0.55, Standing.MET), (0.6, Standing.OPEN), (0.8, Standing.OPEN),
                            (0.81, Standing.FAILED)]
)  # fmt: skip
def test_a_score_is_met_by_its_lower_bound_and_failed_by_its_upper_one(
    least: float, standing: Standing
) -> None:
    assert minimum_score(campaign(Score(value=0.7, low=0.55, high=0.8)), least).standing is standing


@pytest.mark.parametrize(
    ("controls", "least", "standing"),
    [
        (controls_with(killed=1), 0.5, Standing.SHORT),
        (controls_with(killed=1), 0.81, Standing.FAILED),  # too low even with kills too many
        (controls_with(destroyed=Status.SURVIVED), 0.5, Standing.SHORT),
        (controls_with(destroyed=Status.SURVIVED), 0.81, Standing.SHORT),
        (controls_with(destroyed=Status.UNDECIDED), 0.5, Standing.MET),
    ],
)
def test_a_score_that_its_controls_speak_against_is_for_a_person(
    controls: Controls, least: float, standing: Standing
) -> None:
    found = campaign(Score(value=0.7, low=0.55, high=0.8)).model_copy(update={"controls": controls})
    assert minimum_score(found, least).standing is standing


@pytest.mark.parametrize(
    ("in_doubt", "least", "standing"),
    [
        ((), 0.5, Standing.MET),
        (("m1",), 0.5, Standing.SHORT),
        (("m1",), 0.81, Standing.FAILED),  # fewer kills make it lower still
    ],
)
def test_a_score_with_kills_that_a_drift_may_explain_is_for_a_person(
    in_doubt: tuple[str, ...], least: float, standing: Standing
) -> None:
    score = Score(value=0.7, low=0.55, high=0.8, killed=7, survived=3)
    found = campaign(score).model_copy(update={"service": amid_a_drift(*in_doubt)})
    requirement = minimum_score(found, least)
    assert requirement.standing is standing
    assert ("1 of its 7 kills may come from a drift" in requirement.reason) == (standing is Standing.SHORT)


@pytest.mark.parametrize(
    ("error", "not_applied", "least", "standing"),
    [
        (1, 1, 0.5, Standing.MET),  # 2 of 10 are a fifth
        (2, 1, 0.5, Standing.SHORT),  # 3 of 11
        (3, 0, 0.81, Standing.SHORT),  # with all three killed at most (0.8 * 8 + 3) / 11 = 0.8545
        (3, 0, 0.86, Standing.FAILED),
    ],
)
def test_a_score_that_too_many_mutants_are_missing_from_is_for_a_person(
    error: int, not_applied: int, least: float, standing: Standing
) -> None:
    counts = {"killed": 5, "survived": 1, "no_coverage": 1, "undecided": 1, "ignored": 9, "equivalent": 9}
    score = Score(value=0.7, low=0.55, high=0.8, error=error, not_applied=not_applied, **counts)
    found = minimum_score(campaign(score), least)
    assert found.standing is standing
    assert ("ended in errors" in found.reason) == (standing is Standing.SHORT)


def test_the_baseline_is_held_against_todays_thresholds() -> None:
    found = campaign(Score(value=1, low=1, high=1), ("a", 40, 40))  # exact lower bound 0.912
    assert baseline_verdict(found, 0.05, {"a": 0.9}).standing is Standing.MET
    assert baseline_verdict(found, 0.05, {"a": 0.95}).standing is Standing.OPEN


def test_a_score_over_no_mutant_is_no_evidence() -> None:
    assert minimum_score(campaign(Score(value=None, low=None, high=None)), 0.5).standing is Standing.MISSING


@pytest.mark.parametrize(
    ("rows", "standing"),
    [
        # 20/20: the exact lower bound is 0.025^(1/20) = 0.832 > 0.8. 19/20: 0.751 < 0.8.
        ([("a", 20, 20)], Standing.MET),
        ([("a", 20, 20), ("b", 19, 20)], Standing.OPEN),
        # 12/20 below 0.8: P(X <= 12) = 0.0321, twice that is 0.064 > 0.05; 11/20: 0.0100, 0.0200 <= 0.05,
        # and over two scenarios (Holm) 0.0400 <= 0.05, over three 0.0600 > 0.05.
        ([("a", 12, 20)], Standing.OPEN),
        ([("a", 11, 20)], Standing.FAILED),
        ([("a", 11, 20), ("b", 20, 20)], Standing.FAILED),
        ([("a", 11, 20), ("b", 20, 20), ("c", 20, 20)], Standing.OPEN),
    ],
)
def test_a_campaigns_baseline_gives_the_suites_verdict(
    rows: list[tuple[str, int, int]], standing: Standing
) -> None:
    found = baseline_verdict(campaign(Score(value=1, low=1, high=1), *rows), alpha=0.05)
    assert found.standing is standing


def verdicts(verdict: Verdict, left_out: dict[str, str] | None = None) -> VerdictReport:
    parts: dict[str, Any] = {"run_id": "t", "verdict": verdict, "reason": "said so", "baseline": None}
    if left_out is not None:
        used: dict[str, Any] = {"name": "good", "not_compared": left_out}
        parts["baseline"] = BaselineUsed.model_construct(**used)
    return VerdictReport.model_construct(**parts)


def test_verdicts_pass_on_as_they_are() -> None:
    for verdict, standing in (
        (Verdict.PASS, Standing.MET),
        (Verdict.FAIL, Standing.FAILED),
        (Verdict.INCONCLUSIVE, Standing.OPEN),
    ):
        assert suite_verdict(verdicts(verdict)).standing is standing
        assert no_regression(verdicts(verdict, {})).standing is standing


def test_a_comparison_of_some_scenarios_only_is_for_a_person() -> None:
    assert no_regression(verdicts(Verdict.PASS, {"late": "not in the baseline"})).standing is Standing.SHORT
    assert no_regression(verdicts(Verdict.FAIL, {"late": "not in the baseline"})).standing is Standing.FAILED


def test_too_little_coverage_is_for_a_person() -> None:
    assert minimum_coverage(0.6, 0.6).standing is Standing.MET
    assert minimum_coverage(0.59, 0.6).standing is Standing.SHORT
    assert minimum_coverage(None, 0.6).standing is Standing.MISSING


def cost(usd: float | None, seconds: float) -> Cost:
    return Cost(trials=1, baseline_trials=0, tokens=1, usd=usd, seconds=seconds)


def test_what_the_evidence_took_is_added_up() -> None:
    usd, minutes = spending([cost(1.25, 90), cost(0.75, 30)], 2.0, 1.9)
    assert (usd.standing, minutes.standing) == (Standing.MET, Standing.SHORT)
    assert "2.0 minutes is more than 1.9 minutes" in minutes.reason
    unknown, _ = spending([cost(1.25, 90), cost(None, 30)], 2.0, 1.9)
    assert unknown.standing is Standing.MISSING
    assert list(spending([cost(9, 9)], None, None)) == []
    assert [each.standing for each in spending([], 1, 1)] == [Standing.MISSING] * 2


@pytest.mark.parametrize(
    ("most", "standing"), [(4.0, Standing.MET), (3.0, Standing.OPEN), (1.9, Standing.FAILED)]
)
def test_a_mean_is_held_against_its_limit_by_its_interval(most: float, standing: Standing) -> None:
    mean = Interval(3.0, 2.0, 4.0, 0.95, 30, "bootstrap")
    assert mean_at_most("time of a run", mean, most, "s").standing is standing


def test_no_runs_of_the_agent_are_no_evidence_of_their_mean() -> None:
    assert mean_at_most("time of a run", None, 1.0, "s").standing is Standing.MISSING


def test_runs_that_are_older_than_the_evaluators_pass_no_gate() -> None:
    older = {"evidence_older_than_evaluators": ("refund",)}
    score = campaign(Score(value=0.7, low=0.55, high=0.8)).model_copy(update=older)
    for met_or_open in (0.5, 0.6):
        found = minimum_score(score, met_or_open)
        assert found.standing is Standing.SHORT
        assert "the evaluators of refund are newer than the runs that they judge" in found.reason
    assert minimum_score(score, 0.9).standing is Standing.FAILED
    rows = campaign(Score(value=1, low=1, high=1), ("a", 20, 20)).model_copy(update=older)
    assert baseline_verdict(rows, 0.05).standing is Standing.SHORT
    for verdict in Verdict:
        compared = verdicts(verdict, {}).model_copy(update=older)
        assert no_regression(compared).standing is Standing.SHORT
        expected = Standing.FAILED if verdict is Verdict.FAIL else Standing.SHORT
        assert suite_verdict(compared).standing is expected
