"""Requirements on figures of reliability, read as written and held against runs counted by hand."""

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.results.reliability import ScenarioRuns, figure, reliability_of
from agentmut.nouns.reliability import Reliability
from agentmut.usecases.gate_decision import Standing
from agentmut.usecases.gate_figures import read_limits, requirement_on

AIRLINE = [(c, 4) for c, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]


def suite(counts: list[tuple[int, int]], *, early: bool = False) -> Reliability:
    found = reliability_of(
        [ScenarioRuns(f"s{i}", c, n) for i, (c, n) in enumerate(counts)], early_stopping=early
    )
    assert found is not None
    return found


def standing(written: str, found: Reliability, together: int = 1) -> Standing:
    (limit,) = read_limits([written])
    return requirement_on(limit, found, together, "r").standing


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("reliability.pass_rate >= 0.3", Standing.MET),  # .420 [.315, .525]
        ("reliability.pass_rate >= 0.4", Standing.OPEN),
        ("reliability.pass_rate>=0.53", Standing.FAILED),
        ("reliability.pass_rate <= 0.53", Standing.MET),
        (
            "reliability.pass_hat_4 >= 0.08",
            Standing.MET,
        ),  # .2 of 50 tasks: .2 -+ 2.0096 * .4 / 7 = [.085, .315]
        ("reliability.pass_hat_4 >= 0.2", Standing.OPEN),
        ("reliability.pass_hat_5 >= 0.2", Standing.MISSING),  # only 4 runs
        ("reliability.flaky <= 26", Standing.MET),
        ("reliability.flaky <= 25", Standing.FAILED),
        ("reliability.p95_seconds <= 9", Standing.MISSING),  # no duration is known
    ],
)
def test_a_figure_is_met_by_its_whole_interval(written: str, expected: Standing) -> None:
    assert standing(written, suite(AIRLINE)) is expected


def test_several_requirements_are_read_together() -> None:
    found = suite(AIRLINE)
    assert standing("reliability.pass_rate >= 0.31", found) is Standing.MET
    # 97.5 %: .420 -+ .121
    assert standing("reliability.pass_rate >= 0.31", found, together=2) is Standing.OPEN


def test_runs_that_outcomes_stopped_leave_what_is_met_to_a_person() -> None:
    assert standing("reliability.pass_rate >= 0.3", suite(AIRLINE, early=True)) is Standing.SHORT


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("reliability.pass_hat_4 > 0.2", "with >= or <="),
        ("pass_hat_4 >= 0.2", "with >= or <="),
        ("reliability.pas_rate >= 0.2", "pass_rate"),
    ],
)
def test_a_requirement_that_cannot_be_read_is_refused(written: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_limits([written])


def test_every_run_in_order_gives_the_curve_and_the_degradation() -> None:
    found = reliability_of([ScenarioRuns("a", 3, 4, (True, True, True, False), (1.0, 2.0, 3.0, 9.0))])
    assert found is not None
    (row,) = found.scenarios
    assert row.decay_curve == (100, 100, 100, 31)
    assert (row.graceful_degradation, row.variance_amplification, row.flaky) == (60, 87, True)
    assert row.p95_seconds == 9.0
    assert row.runs_needed == 97  # 1.96^2 / 4 / 0.1^2 = 96.04, as 0.5 lies in [.30, .95]
    assert figure(found, "graceful_degradation", 0.95).estimate == 60
    assert reliability_of([ScenarioRuns("a", 0, 0)]) is None
