"""What is foretold of a campaign: sums by hand, chances against an independent computation and a simulation."""

from functools import cache

import numpy as np
import pytest

from agentmut.project.schema import BudgetSettings
from agentmut.stats.kill.campaigns import simulate
from agentmut.stats.kill.characteristics import operating_characteristics
from agentmut.stats.kill.rule import decision_table
from agentmut.usecases.budget_question import NO_BUDGET, remedy, why_ask
from agentmut.usecases.first_offers import is_over
from agentmut.usecases.foresight import ExpectedCourse, Foresight, Lanes, Rules
from agentmut.usecases.plan_figures import (
    Amount,
    FirstRound,
    PlannedMutant,
    RoundLine,
    Unit,
    amount,
    buys,
    expected_rate,
    most_killed,
    offers,
    offers_from,
    plan_line,
    round_line,
    stopped_by,
)

TABLES = cache(decision_table)
SMALL = Rules(n0=20, alpha=0.05, beta=0.1, delta=0.3, n_max=25)


@pytest.mark.parametrize("drop", [0.0, 0.3, 0.6])
def test_one_scenario_is_the_kill_rules_own_operating_characteristic(drop: float) -> None:
    found = Foresight(SMALL, TABLES).expected(Lanes(1, 0.9), drop)
    exact = operating_characteristics(20, SMALL.design(1), 0.9, drop, TABLES)
    assert found.killed == pytest.approx(exact.killed)
    assert found.survived == pytest.approx(exact.survived)
    assert found.trials == pytest.approx(exact.trials)
    assert sum(found[:3]) == pytest.approx(1)


def test_several_scenarios_agree_with_a_simulated_campaign() -> None:
    found = Foresight(SMALL, TABLES).expected(Lanes(3, 0.9), 0.3)
    drops, rng = (0.3, 0.0, 0.0), np.random.default_rng(5)
    runs = simulate((0.9,) * 3, drops, SMALL.design(3), 3000, rng, n0=20, table_of=TABLES)
    assert found.killed == pytest.approx(runs.killed.mean(), abs=4 * 0.5 / 3000**0.5)
    assert found.trials == pytest.approx(runs.trials.mean(), rel=0.15)  # of 200 simulated mutants
    lost = operating_characteristics(20, SMALL.design(3), 0.9, 0.3, TABLES)
    same = operating_characteristics(20, SMALL.design(3), 0.9, 0.0, TABLES)
    assert found.survived == pytest.approx(lost.survived * same.survived**2)


def test_many_scenarios_are_foretold_from_thirty() -> None:
    """Against mutants simulated on all sixty; 200 of each kind spread by a few percent."""
    rules, lanes = SMALL._replace(alpha=0.5), Lanes(60, 0.95)
    for drop in (0.0, 0.8):
        found = Foresight(rules, TABLES).expected(lanes, drop)
        drops, rng = (drop, *[0.0] * 59), np.random.default_rng(7)
        runs = simulate((0.95,) * 60, drops, rules.design(60), 400, rng, n0=20, table_of=TABLES)
        assert found.trials == pytest.approx(runs.trials.mean(), rel=0.15)


def test_a_suite_that_kills_nearly_all_is_foretold_beside_the_usual_one() -> None:
    """A kill takes 10 trials a scenario, a survivor 100; two mutants on one scenario, one control on two."""
    mutants = [PlannedMutant("prompt", True, Lanes(1, 0.9), 0.01), PlannedMutant("tool", True, None, 0.01)]
    controls = [PlannedMutant("control", False, Lanes(2, 0.9), 0.01)]

    def survives(lanes: Lanes, drop: float) -> ExpectedCourse:
        return ExpectedCourse(0.0, 1.0, 0.0, 100.0 * lanes.scenarios)

    said = most_killed(mutants, controls, 60, Unit(0.01, None, 1), [expect, survives])
    trials = 60 + (0.9 * 10 + 0.1 * 100) + 200
    assert f"takes {trials:.0f} trials, ${trials / 100:.2f} in all" in said


def expect(lanes: Lanes, drop: float) -> ExpectedCourse:
    return ExpectedCourse(drop, 0.9 - drop, 0.1, 10 * lanes.scenarios)


def test_a_line_adds_up_baseline_mutants_and_controls() -> None:
    mutants = [
        PlannedMutant("prompt", True, Lanes(2, 0.9), 0.1),
        PlannedMutant("model", True, Lanes(1, 0.9), 0.5),
        PlannedMutant("prompt", False, Lanes(1, 0.9), 0.1),
        PlannedMutant("tool", True, None, 0.1),
    ]
    controls = [PlannedMutant("control", False, Lanes(3, 0.9), 0.1)]
    found = plan_line(0.2, mutants, controls, 100, Unit(0.1, 6.0, 4), expect)
    assert (found.killed, found.survived, found.undecided) == pytest.approx((0.2, 0.7, 0.1))
    assert found.total.trials == 100 + 20 + 10 + 10 + 30
    assert found.total.usd == pytest.approx(10 + 2 + 5 + 1 + 3)
    assert found.total.minutes == pytest.approx(170 * 6 / 4 / 60)


def test_an_unknown_price_leaves_the_sum_unknown() -> None:
    assert amount([(10, 0.1), (5, None)], Unit(0.1, None, 1)) == Amount(trials=15, usd=None, minutes=None)
    assert amount([(10, 0.1), (0, None)], Unit(0.1, None, 1)).usd == pytest.approx(1)


def test_nothing_that_degrades_has_no_shares() -> None:
    assert plan_line(0.2, [], [], 10, Unit(None, None, 1), expect).killed is None


def test_the_budgets_that_are_too_small_are_named() -> None:
    expected = Amount(trials=500, usd=2.5, minutes=None)
    assert stopped_by((400, 3, 1), expected) == "budget.trials (400, 500 expected)"
    assert stopped_by((None, None, None), expected) == ""


@pytest.mark.parametrize(
    ("budget", "trials", "usd", "said"),
    [
        ({}, 10, 0.1, NO_BUDGET),
        ({"trials": 5}, 10, None, ""),
        ({"ask_above": {"trials": 100}}, 100, None, ""),
        ({"ask_above": {"trials": 100}}, 101, None, "101 trials, more than budget.ask_above.trials (100)"),
        ({"ask_above": {"trials": 100}, "trials": 90}, 5000, None, ""),
        ({"ask_above": {"usd": 2}}, 100, 0.01, ""),
        ({"ask_above": {"usd": 2}}, 100, 0.03, "3.00 USD, more than budget.ask_above.usd (2)"),
        ({"ask_above": {"usd": 2}, "trials": 50}, 100, 0.03, ""),
        ({"ask_above": {"usd": 2}}, 100, None, "No price is known yet"),
        ({"ask_above": {"usd": 2}, "usd": 1.5}, 100, None, ""),
        ({"ask_above": {"usd": 2}, "usd": 2.5}, 100, None, "2.50 USD"),
    ],
)
def test_asking_goes_by_the_worst_case_within_the_budget(
    budget: dict[str, object], trials: int, usd: float | None, said: str
) -> None:
    why = why_ask(BudgetSettings.model_validate(budget), trials, usd)
    assert why.startswith(said) if said in (NO_BUDGET, "") else said in why
    assert bool(why) is bool(said)
    assert "--yes" in remedy(why)


def test_round_budgets_say_what_they_buy_up_to_the_last_round() -> None:
    """$0.01 a trial: 10 scenarios, baseline 20, 50 trials of controls, 25 mutants that take 20 trials each."""
    rounds = [
        RoundLine(delta=delta, total=Amount(trials=trials, usd=trials / 100, minutes=None))
        for delta, trials in ((0.75, 750), (0.5, 1500))
    ]
    found = offers(rounds, FirstRound(scenarios=10, baseline=20, controls=50, counted=25))
    assert [offer.usd for offer in found] == [2, 5, 10, 20]  # $1 is not enough for ten trials a scenario
    # $2: 200 trials, 100 for the smaller baseline, 50 for controls: .95 * 100 - 50 = 45, two mutants
    # $5: 500 trials, 200 for the baseline: .95 * 300 - 50 = 235, eleven mutants
    assert [offer.mutants for offer in found] == [2, 11, 25, 25]
    assert [offer.delta for offer in found] == [0.75, 0.75, 0.75, 0.5]
    assert [offer.half_width is None for offer in found] == [False, False, True, True]
    assert offers([], FirstRound(10, 20, 50, 25)) == ()


def two_rounds(usd: float | None = 0.01) -> list[RoundLine]:
    """Two rounds of 750 and 1,500 trials, at so many dollars a trial."""
    return [
        RoundLine(delta=delta, total=Amount(trials=trials, usd=usd and trials * usd, minutes=None))
        for delta, trials in ((0.75, 750), (0.5, 1500))
    ]


SIZE = FirstRound(scenarios=10, baseline=20, controls=50, counted=25)


def test_the_users_own_budget_is_among_those_of_a_plan() -> None:
    """$3: 300 trials, 100 for the smaller baseline, 50 for controls: .95 * 200 - 50 = 140, seven mutants of 20."""
    found = offers(two_rounds(), SIZE, 3.0)
    assert [(offer.usd, offer.mutants) for offer in found] == [(2, 2), (3, 7), (5, 11), (10, 25), (20, 25)]
    assert [offer.usd for offer in offers(two_rounds(), SIZE, 100.0)] == [2, 5, 10, 20, 100]
    assert next((offer.usd, offer.mutants) for offer in offers(two_rounds(), SIZE, 0.5)) == (0.5, 0)


def test_a_run_names_its_own_budget_and_then_those_that_buy_more() -> None:
    """$0.50 and $1 are not enough for ten trials a scenario; $20 pays the last round."""
    found = offers_from(two_rounds(), SIZE, 0.5)
    assert [(offer.usd, offer.mutants) for offer in found] == [(0.5, 0), (2, 2), (5, 11), (10, 25), (20, 25)]
    assert [offer.usd for offer in offers_from(two_rounds(), SIZE, 10.0)] == [10, 20]
    assert [offer.usd for offer in offers_from(two_rounds(), SIZE, 30.0)] == [30]
    in_trials = offers_from(two_rounds(), SIZE, None, 300)
    assert [(offer.usd, offer.trials, offer.mutants) for offer in in_trials][:2] == [
        (None, 300, 7),
        (None, 500, 11),
    ]
    assert offers_from(two_rounds(), SIZE, None) == offers(two_rounds(), SIZE)
    assert offers_from(two_rounds(), FirstRound(10, 20, 50, 0), 5.0) == ()


def test_without_an_earlier_run_each_mutant_has_its_own_chance_of_a_kill() -> None:
    """60 trials of the baseline; a kill takes 4 trials and a survivor 20: .9 * 4 + .1 * 20, and .5 * 4 + .5 * 20."""
    mutants = [
        PlannedMutant("orchestration", True, Lanes(1, 0.9), 0.01, 0.9),
        PlannedMutant("prompt", True, Lanes(1, 0.9), 0.01),
        PlannedMutant("prompt", False, Lanes(1, 0.9), 0.01),
    ]

    def expect(lanes: Lanes, drop: float) -> ExpectedCourse:
        return ExpectedCourse(float(drop > 0), float(drop == 0), 0.0, 4.0 if drop else 20.0)

    unit = Unit(0.01, None, 1)
    own = round_line(0.2, mutants, [], 60, unit, expect, expect, None)
    assert own.total.trials == pytest.approx(60 + 5.6 + 12 + 20)
    told = round_line(0.2, mutants, [], 60, unit, expect, expect, 1.0)
    assert told.total.trials == pytest.approx(60 + 4 + 4 + 20)


def test_a_pass_makes_a_scenario_look_better_than_no_trial_and_a_failure_worse() -> None:
    """One trial at weight one beside the usual rate: (1 + .9) / 2, (0 + .9) / 2; many trials outweigh it."""
    assert expected_rate(0, 0, 0.9) == 0.9
    assert expected_rate(1, 1, 0.9) == pytest.approx(0.95)
    assert expected_rate(0, 1, 0.9) == pytest.approx(0.45)
    assert expected_rate(70, 99, 0.9) == pytest.approx(0.709)


def test_the_sentence_on_the_budget_says_what_the_offers_say() -> None:
    """One line of the page said "With $3 you learn of every mutant ...", and the next one "enough to learn which"."""
    rounds = [
        RoundLine(delta=delta, total=Amount(trials=trials, usd=trials / 100, minutes=None))
        for delta, trials in ((0.75, 100), (0.5, 250), (0.3, 900))
    ]
    first = FirstRound(scenarios=1, baseline=20, controls=10, counted=20)
    (own,) = (offer for offer in offers(rounds, first, 3.0) if offer.usd == 3)
    assert own.delta == 0.5
    assert buys(rounds, (None, 3.0, None)) == (
        "With the budget (usd 3) you learn of every mutant whether a drop of 0.5 or more is noticed."
    )
    assert buys(rounds, (150, 3.0, None)) == (
        "With the budget (trials 150, usd 3) you learn of every mutant whether a drop of 0.75 or more is noticed."
    )
    assert buys(rounds, (50, None, None)).startswith("The budget is probably not enough for the first round")


def test_the_tighter_of_two_limits_is_the_one_that_offers_begin_with() -> None:
    assert is_over(3.0, 0.01, 299)
    assert not is_over(3.0, 0.01, 301)
    assert not is_over(3.0, 0.01, None)
    assert not is_over(None, 0.01, 1)
