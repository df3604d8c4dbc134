"""Budgets in trials, minutes and money; what they leave of an automatic baseline."""

from collections import Counter
from typing import Any

import pytest

from agentmut._base.errors import RunError, UsageError
from agentmut.campaign.limits import (
    BaselineLimit,
    Spend,
    baseline_within,
    baseline_within_trials,
    budget_reached,
    cost_unknown,
    price_missing,
    together,
)
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.trials import TrialResult
from agentmut.nouns.execution import Ending
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.mutant import Status
from agentmut.nouns.result_file import read_result
from agentmut.nouns.trace import Action, AgentTrace, Outcome, Step, Usage
from agentmut.project.schema import BudgetSettings
from agentmut.usecases.budget_question import refuse_spent
from agentmut.usecases.campaigns import carry_out_campaign, measure, stored_plan
from agentmut.usecases.runtime import open_store

pytestmark = pytest.mark.whole

PRICED = """
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage

inner = run
MODEL = "house-model"
async def run(config, input):
    answer = await inner(config, input)
    usage = Usage(input_tokens=1000, output_tokens=1000)
    call = Step(action=Action.REASON, model=MODEL, usage=usage)
    return AgentTrace(steps=(call,), outputs=(answer,), seconds=SECONDS)
SECONDS = 0.01
"""
PRICES = {"house-model": {"input": 1.0, "output": 4.0}}  # 0.005 USD a trial


def resume(projects: Any, **limits: Any) -> Any:
    project = projects.load().limited(**limits)
    with open_store(project) as store:
        stored = store.runs()[0]
        session = open_session(project)
        return carry_out_campaign(session, stored_plan(session, stored), store)


def test_a_budget_of_trials_is_kept_exactly_and_leaves_the_rest_undecided(projects: Any) -> None:
    result = measure(projects.write(budget={"trials": 130}))
    assert (result.status, result.cost.trials) == ("budget", 130)
    assert any(row.status is Status.UNDECIDED for row in result.mutants)
    assert result.score.undecided > 0
    assert result.score.high == 1.0


def test_a_run_stopped_by_a_budget_goes_on_under_the_budget_of_the_project_as_it_is_now(
    projects: Any, told: Any
) -> None:
    whole = measure(projects.write())
    (projects.folder / ".agentmut" / "store.db").unlink()
    stopped = measure(projects.write(budget={"trials": 130}))
    same = resume(projects)
    assert (same.status, same.cost.trials) == ("budget", 130)
    assert told(same) == told(stopped)  # the stored trials are taken in, though no further one may be run
    projects.write(budget={"trials": 5000}, execution={"concurrency": 3})
    more = resume(projects)
    assert (more.status, more.run_id, more.cost.reused) == ("finished", stopped.run_id, 0)
    assert more.cost.trials == whole.cost.trials
    assert told(more) == told(whole)


def test_a_limit_of_the_command_line_holds_until_another_is_given(projects: Any) -> None:
    """The project file has no budget: without the limit of the first command, going on would cost without end."""
    projects.write()
    measure(projects.load().limited(trials=130))
    same = resume(projects)
    assert (same.status, same.cost.trials) == ("budget", 130)
    more = resume(projects, trials=150)
    assert (more.status, more.cost.trials) == ("budget", 150)


def test_other_prices_are_named_where_a_run_goes_on(projects: Any) -> None:
    """1,000 tokens in and out: $0.005 a trial at first, $0.05 later."""
    first = measure(projects.write(extra=PRICED, budget={"trials": 130, "prices": PRICES}))
    assert first.cost.usd == pytest.approx(0.65)
    dear = {"house-model": {"input": 10.0, "output": 40.0}}
    projects.write(extra=PRICED, budget={"trials": 140, "prices": dear})
    later = resume(projects)
    assert later.cost.usd == pytest.approx(0.65 + 10 * 0.05)
    assert sum("budget.prices has changed since this run began" in note for note in later.notes) == 1
    assert not any("budget.prices has changed" in note for note in first.notes)


def test_a_limit_that_is_spent_already_is_refused(projects: Any) -> None:
    project = projects.write(extra=PRICED, budget={"trials": 130, "prices": PRICES})
    run = measure(project).run_id
    with open_store(project) as store:
        with pytest.raises(
            UsageError, match=r"has cost \$0.65 already, and --usd is 0.5\. The limit is that of the"
        ):
            refuse_spent(store, run, 0.5, None)
        with pytest.raises(UsageError, match="has made 130 trials already, and --trials is 130"):
            refuse_spent(store, run, None, 130)
        refuse_spent(store, run, 0.66, 131)


def test_what_hooks_ask_of_models_goes_on_counting_when_a_run_is_resumed(projects: Any, service: Any) -> None:
    """A reply counts 7 tokens in and 3 out; the model costs 1 and 2 dollars a million."""
    hook = f"""
import httpx

CLIENT = httpx.Client(trust_env=False)

def ask(scenario):
    body = {{"model": "sim-large", "messages": [{{"role": "user", "content": "prepare"}}]}}
    CLIENT.post("{service.url}/chat/completions", json=body)
"""

    def told(result: Any) -> tuple[str, int, int, Any]:
        (use,) = result.cost.hooks
        return use.model, use.requests, use.input_tokens, use.usd

    def write(trials: int) -> Any:
        budget = {"trials": trials, "prices": {"sim-large": {"input": 1.0, "output": 2.0}}}
        hooks = {"setup": f"{projects.module}:ask"}
        return projects.write(
            ("alpha",), extra=hook, scenario=lambda word: hooks, budget=budget, statistics={"baseline": 12}
        )

    assert told(measure(write(15))) == ("sim-large", 15, 105, pytest.approx(15 * 13e-6))
    write(18)
    assert told(resume(projects)) == ("sim-large", 18, 126, pytest.approx(18 * 13e-6))
    assert len(service.requests) == 18


def test_a_budget_of_minutes_stops_cleanly(projects: Any) -> None:
    project = projects.write(
        extra="\nasync def slow(config, input, inner=run):\n    await asyncio.sleep(0.05)\n"
        "    return await inner(config, input)\nrun = slow\n",
        budget={"minutes": 0.03},
    )
    result = measure(project)
    assert result.status == "budget"
    assert result.cost.seconds >= 1.8
    assert result.cost.trials > 0


def test_a_budget_in_money_counts_every_trial_and_is_not_exceeded(projects: Any) -> None:
    result = measure(projects.write(extra=PRICED, budget={"usd": 0.7, "prices": PRICES}))
    assert result.status == "budget"
    assert result.ended_by is not None
    assert (result.ended_by.budget, result.ended_by.limit) == ("usd", 0.7)
    assert result.cost.usd == pytest.approx(0.005 * result.cost.trials)
    assert 0.65 <= (result.cost.usd or 0.0) <= 0.7
    assert result.cost.tokens == 2000 * result.cost.trials


def test_a_budget_in_money_needs_the_price_of_every_model_that_answers(projects: Any) -> None:
    with pytest.raises(
        UsageError, match=r"budget\.usd needs a price for model house-model: add budget.prices"
    ):
        measure(projects.write(extra=PRICED, budget={"usd": 1.0}))


def test_an_unknown_cost_names_the_reason_that_holds() -> None:
    trace = AgentTrace(
        steps=(
            Step(action=Action.REASON, model="priced", usage=Usage(input_tokens=9), usd=0.1),
            Step(action=Action.REASON, model="house-model", usage=Usage(input_tokens=9)),
            Step(action=Action.REASON, model="silent"),
            Step(action=Action.REASON, model="broken", error="503"),
        )
    )
    assert trace.unpriced_models == {"house-model", "silent"}
    assert trace.unreported_models == {"silent"}
    house = Spend(unpriced=1, without_price=frozenset({"house-model"}))
    silent = Spend(unpriced=1, without_tokens=frozenset({"silent"}))
    told = "no price is known of model house-model (set budget.prices)"
    asked = "the replies of model silent report no tokens (where they are streamed, ask for them, as for OpenAI by "
    asked += "`stream_options: {include_usage: true}`)"
    assert cost_unknown(house) == f"the cost is unknown: {told}"
    assert cost_unknown(silent) == f"the cost is unknown: {asked}"
    assert cost_unknown(together(house, silent)) == f"the cost is unknown: {told}; {asked}"
    assert cost_unknown(Spend(without_price=frozenset({"house-model"}))) == ""
    assert "budget.prices" in cost_unknown(Spend(unpriced=1))
    assert price_missing({"silent"}, {"silent"}).startswith(
        "budget.usd cannot be kept: the replies of model silent"
    )
    assert "price for model house-model: add" in price_missing({"silent", "house-model"}, {"silent"})


def test_models_that_only_mutants_call_are_missed_before_anything_is_spent(projects: Any) -> None:
    mutation = {"operators": ["model.swap"], "swap_models": ["nobody-knows-this-one"]}
    agent = {"config": {"prompt": "prompt.md", "model": {"name": "house-model"}}}
    with pytest.raises(UsageError, match="needs a price for model nobody-knows-this-one"):
        measure(projects.write(agent_section=agent, mutation=mutation, budget={"usd": 1.0}))
    with open_store(projects.load()) as store:
        assert not store.runs()


def test_without_a_budget_in_money_an_unknown_price_is_said_and_stops_nothing(projects: Any) -> None:
    result = measure(projects.write(extra=PRICED))
    assert (result.status, result.cost.usd) == ("finished", None)
    assert "the cost is unknown: no price is known of model house-model (set budget.prices)" in result.notes


def test_a_limit_of_cost_without_a_price_ends_the_command_and_prices_mend_it(projects: Any) -> None:
    """The trials that are stored by then get the price, too."""

    def limited(word: str) -> dict[str, Any]:
        return {"evaluators": [{"contains": word}, {"max_cost": 0.006}]}

    with pytest.raises(RunError, match=r"price of model house-model unknown, set budget\.prices"):
        measure(projects.write(extra=PRICED, scenario=limited))
    result = measure(projects.write(extra=PRICED, scenario=limited, budget={"prices": PRICES}))
    assert result.status == "finished"
    assert [row.status for row in result.mutants].count(Status.KILLED) == 3


def test_an_automatic_baseline_is_cut_to_forty_percent_of_the_money(projects: Any) -> None:
    """Three scenarios at 0.005 USD: 40 % of 1.425 USD pay for 38 rounds; up to 20 mutants want 50."""
    budget = {"usd": 1.425, "prices": PRICES}
    result = measure(projects.write(extra=PRICED, statistics={"baseline": "auto"}, budget=budget))
    assert [row.trials for row in result.baseline] == [38, 38, 38]
    assert result.rule["baseline"] == 38
    again = measure(projects.load())
    assert [row.trials for row in again.baseline] == [38, 38, 38]


def test_an_automatic_baseline_of_less_than_thirty_is_refused_with_the_numbers(projects: Any) -> None:
    budget = {"usd": 1.0, "prices": PRICES}  # 0.4 / 0.015 = 26 rounds
    project = projects.write(extra=PRICED, statistics={"baseline": "auto"}, budget=budget)
    with pytest.raises(UsageError) as raised:
        measure(project)
    for number in ("budget.usd is 1", "3 scenarios", "$0.015", "30 trials each", "40 %", "26", "1.2"):
        assert number in str(raised.value)
    (path,) = (projects.folder / ".agentmut" / "runs").glob("*/result.json")
    assert read_result(path).cost.trials == 3


def test_minutes_cut_an_automatic_baseline_by_the_first_trials_and_the_concurrency(projects: Any) -> None:
    """Three scenarios of 20 s, four at a time: 15 s a round, so 40 % of 20 minutes are 32 rounds."""
    project = projects.write(
        extra=PRICED.replace("0.01", "20.0"),
        statistics={"baseline": "auto"},
        budget={"minutes": 20},
        execution={"concurrency": 4},
    )
    assert [row.trials for row in measure(project).baseline] == [32, 32, 32]


def test_a_fixed_baseline_is_never_cut(projects: Any) -> None:
    with pytest.raises(UsageError, match=r"budget\.trials is 100, too small .* Raise it to 120"):
        measure(projects.write(budget={"trials": 100}))
    budget = {"usd": 0.9, "prices": PRICES}
    result = measure(projects.write(extra=PRICED, budget=budget))
    assert [row.trials for row in result.baseline] == [40, 40, 40]


def a_first_trial(usd: float | None, seconds: float) -> TrialResult:
    return TrialResult(
        outcome=Outcome.PASS, ending=Ending.ANSWERED, reason="", checks=(), witness=None,
        footprint=Footprint(), tools=Counter(), tokens=0, usd=usd, unpriced=frozenset(), seconds=seconds,
        abandoned=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "trials"), [(None, 100), (10_000, 100), (1_000, 40), (750, 30), (2_500, 100)]
)
def test_forty_percent_of_the_trials_go_to_an_automatic_baseline(budget: int | None, trials: int) -> None:
    assert baseline_within_trials(budget, 100, 10, automatic=True).trials == trials


def test_the_smaller_of_two_limits_counts() -> None:
    first = [a_first_trial(0.01, 6.0), a_first_trial(0.03, 6.0)]
    limit = BaselineLimit(usd=4.0, minutes=15.0, concurrency=2)
    assert baseline_within(limit, first, 50).trials == 40  # 1.6 / 0.04; minutes: 6 / 0.1 = 60
    assert baseline_within(BaselineLimit(minutes=15.0, concurrency=1), first, 50).trials == 30
    assert baseline_within(BaselineLimit(usd=4.0), [a_first_trial(0.0, 1.0)], 50).trials == 50


def test_trials_in_flight_count_at_the_mean_cost_so_far() -> None:
    spend = Spend(trials=10, usd=1.0)
    budget = BudgetSettings(usd=1.55)
    assert not budget_reached(budget, spend, in_flight=4)
    assert "1.55 USD is used up" in budget_reached(budget, spend, in_flight=5)


def test_an_agent_that_costs_nothing_never_reaches_a_budget_in_money(projects: Any) -> None:
    assert measure(projects.write(budget={"usd": 0.01})).status == "finished"


def test_a_control_that_fails_under_a_budget_is_still_told_apart_from_the_budget(projects: Any) -> None:
    with pytest.raises(RunError, match="control failed"):
        measure(
            projects.write(
                scenario=lambda word: {"evaluators": [{"not_contains": "guarantee"}]}, budget={"trials": 500}
            )
        )
