"""A plan with a cheap model: sums by hand."""

from agentmut.project.schema import ProxySettings
from agentmut.usecases.cheap_plan import cheap_plan
from agentmut.usecases.foresight import Lanes
from agentmut.usecases.plan_figures import Amount, PlannedMutant, Unit, amount

UNIT = Unit(0.1, None, 1)


def total(mutants: object, controls: object, unit: Unit) -> Amount:
    """100 trials of the baseline, and 10 of each mutant and control."""
    each = [(10.0, one.usd) for one in (*mutants, *controls)]  # type: ignore[misc]
    return amount([(100, unit.usd), *each], unit)


def planned(of_model: bool = False) -> PlannedMutant:
    return PlannedMutant("prompt", True, Lanes(10, 0.9), 0.1, of_model=of_model)


def test_the_cheap_model_decides_all_and_the_own_model_a_part() -> None:
    mutants = [*(planned() for _ in range(58)), planned(of_model=True), planned(of_model=True)]
    found = cheap_plan(ProxySettings(model="nano", part=0.5), mutants, [planned()], UNIT, 0.01, total)
    assert (found.drawn, found.of) == (30, 60)
    # 100 + 58 mutants and a control at a cent a trial; 100 + 10 + half of 600 at ten cents
    assert (found.cheap.trials, round(found.cheap.usd or 0, 2)) == (690, 6.9)
    assert (found.own.trials, round(found.own.usd or 0, 2)) == (410, 41.0)


def test_twelve_mutants_at_least_are_decided_by_both_and_an_unknown_price_stays_unknown() -> None:
    found = cheap_plan(ProxySettings(model="nano", part=0.1), [planned()] * 60, [], UNIT, None, total)
    assert found.drawn == 12
    assert found.cheap.usd is None
    assert found.own.trials == 100 + 120
