"""A cheap model decides all mutants before the agent's own model decides a part of them (`mutation.proxy`)."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentmut._base import RunError, RunInterruptedError, UsageError, gone_again
from agentmut.campaign import LEAST_PAIRED, Plan, Proxy, Session, make_plan, register
from agentmut.mutation import Generation
from agentmut.nouns import Intent, Result
from agentmut.project import BudgetSettings
from agentmut.store import Store
from agentmut.usecases.runtime import session_in
from agentmut.usecases.stored_reports import CHEAP

CarryOut = Callable[[Session, Plan, Store], Result]


def with_cheap_model(
    session: Session,
    store: Store,
    generation: Generation,
    plan: Plan,
    again: Callable[[Session], Plan],
    carry_out: CarryOut,
) -> Plan:
    """Return the plan with the verdicts of the project's cheap model; without such a model, the plan unchanged.

    The cheap model may spend half of the budget. `again` makes the plan anew in a session with what is left. Raises
    `UsageError` for plans that leave no part to the cheap model, `RunError` where its own run fails, and
    `RunInterruptedError` where that is interrupted.
    """
    wanted = session.project.mutation.proxy
    if wanted is None:
        return plan
    _check(plan)
    spent = _decided(session, store, generation, plan, carry_out)
    if spent.status == "interrupted":
        raise RunInterruptedError(
            f"interrupted while {wanted.model} decided mutants (run {spent.run_id}). Its trials are kept: `agentmut "
            "run` goes on with them."
        )
    left = _limited(session, budget_left(session.project.budget, spent))
    return again(left).model_copy(
        update={"proxy": Proxy(model=wanted.model, run_id=spent.run_id, part=wanted.part)}
    )


def _check(plan: Plan) -> None:
    if plan.shard or not plan.mutants:
        raise UsageError(
            "mutation.proxy needs the whole campaign in one run: leave out --shard and --baseline-only, or the section"
        )
    if plan.precision is not None:
        raise UsageError(
            "mutation.proxy and statistics.precision: the part that the agent's own model decides is fixed by "
            "mutation.proxy.part. Give one of the two"
        )
    counted = sum(
        m.intent is Intent.DEGRADE and not m.parts and m.id not in plan.ignored for m in plan.mutants
    )
    if counted <= LEAST_PAIRED:
        raise UsageError(
            f"mutation.proxy saves nothing: the agent's own model decides {LEAST_PAIRED} mutants at least, and the "
            f"score counts {counted}. Take the section out"
        )


def _decided(
    session: Session, store: Store, generation: Generation, plan: Plan, carry_out: CarryOut
) -> Result:
    """Run the cheap model's campaign and return its result, without mutants of the model's name."""
    model = session.project.mutation.proxy.model if session.project.mutation.proxy else ""
    halved = _limited(session, _half(session.project.budget))
    project = halved.project.model_copy(update={"model": model})
    cheap = session_in(store, project, tuple(scenario.name for scenario in session.scenarios))
    others = tuple(m for m in generation.mutants if not any(e.pointer == "/model/name" for e in m.edits))
    made = make_plan(cheap, replace(generation, mutants=others), plan.seed, time.time())
    note = (
        f"this run used {model}, not the agent's own model (mutation.proxy), so its score is not the agent's"
    )
    update: dict[str, Any] = {
        "kind": CHEAP,
        "notes": (note, *made.notes),
        "stops_at_failing": False,
        "asks": model,
        "after_kills": {},
    }
    if (second := gone_again()) and second.kind == CHEAP.replace(" ", "_"):
        update["run_id"] = second.run
    made = made.model_copy(update=update)
    register(store, made, cheap.tests.texts)
    try:
        return carry_out(cheap, made, store)
    except RunError as error:
        raise RunError(f"{model} cannot decide mutants (mutation.proxy): {error}") from None


def _limited(session: Session, budget: BudgetSettings) -> Session:
    return session._replace(project=session.project.model_copy(update={"budget": budget}))


def _half(budget: BudgetSettings) -> BudgetSettings:
    update: dict[str, Any] = {
        "usd": budget.usd and budget.usd / 2,
        "trials": budget.trials and max(1, budget.trials // 2),
        "minutes": budget.minutes and budget.minutes / 2,
    }
    return budget.model_copy(update=update)


def budget_left(budget: BudgetSettings, spent: Result) -> BudgetSettings:
    """Return the rest of a budget after the cheap model's run: at least one trial, and 1 % of the other limits."""
    cost = spent.cost
    update: dict[str, Any] = {
        "usd": budget.usd and max(budget.usd / 100, budget.usd - (cost.usd or 0.0)),
        "trials": budget.trials and max(1, budget.trials - (cost.trials - cost.reused)),
        "minutes": budget.minutes and max(budget.minutes / 100, budget.minutes - cost.seconds / 60),
    }
    return budget.model_copy(update=update)
