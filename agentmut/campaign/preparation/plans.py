"""The plan of a campaign: its mutants and their order, its baselines, its rule, and what a budget has room for."""

from collections.abc import Sequence
from typing import Any

from agentmut._base import UsageError
from agentmut.campaign.limits import (
    BaselineLimit,
    baseline_within_trials,
    first_round_within_trials,
    price_missing,
)
from agentmut.campaign.preparation.common_prefix import by_common_prefix
from agentmut.campaign.preparation.drawing import drawing_order
from agentmut.campaign.preparation.evaluator_age import (
    first_of_mutants,
    first_repeats,
    fixed_sets,
    price_of_new_series,
)
from agentmut.campaign.preparation.history import by_yield, read_history
from agentmut.campaign.preparation.plan import Plan, Rule, left_run_id, new_run_id
from agentmut.campaign.preparation.session import Session, pricer_of, refuse_to_run, suite_digest
from agentmut.judging import unwrapped
from agentmut.mutation import Generation, destroyed_mutant, identity_mutant
from agentmut.nouns import Mutant, Usage
from agentmut.project import Project
from agentmut.seams import AsksModel
from agentmut.stats import Round, automatic_size, passes_needed, rounds_to
from agentmut.trial import Pricer

PRECISE_BETA = 0.01
"""The chance of missing a drop where a precision of the score is asked for: with 0.1 the missed drops alone would take
most of it. A survivor takes up to four trials a scenario in the first round instead of two."""


def plan_fields(session: Session, now: float, seed: int | None) -> dict[str, Any]:
    """Return the fields that every new `RunPlan` takes from its session; `seed` None stands for the project's seed."""
    project = session.project
    _check_judge_prices(session)
    return {
        "run_id": left_run_id() or new_run_id(now),
        "started": now,
        "seed": project.statistics.seed if seed is None else seed,
        "budget": project.budget,
        "limits_given": project.limits_given,
        "suite_digest": suite_digest(session),
        "config_digest": session.suite.full.digest,
        "evaluators": fixed_sets(session.ages),
        "environment": session.environment,
        "concurrency": project.execution.concurrency,
    }


def make_plan(session: Session, generation: Generation, seed: int | None, now: float) -> Plan:
    """Return the plan of a new run. Raises `UsageError` without mutants, or when the budget is too small."""
    refuse_to_run(session, "a campaign of mutants")
    if not generation.mutants:
        raise UsageError(f"no mutants to run: {_why_none(generation)}")
    project, settings = session.project, session.project.statistics
    _check_prices(project, generation.mutants)
    rounds = _rounds(project, len(session.scenarios))
    baseline = (
        rounds[-1].baseline if rounds else _baseline(project, len(session.scenarios), len(generation.mutants))
    )
    price = tuple(price_of_new_series(session.ages, baseline, settings.n_max))
    return Plan(
        **plan_fields(session, now, seed),
        scenarios=tuple(scenario.name for scenario in session.scenarios),
        baseline=baseline,
        rounds=rounds,
        first=first_repeats(session.ages),
        first_of_mutants=first_of_mutants(session.ages),
        baseline_limit=_baseline_limit(project),
        mutants=generation.mutants,
        order=by_yield(by_common_prefix(generation.mutants), read_history(project.runs)),
        sample=drawing_order(generation.mutants, settings.seed if seed is None else seed),
        precision=settings.precision,
        selective=generation.selective,
        identity=tuple(identity_mutant(session.suite.full, kind) for kind in project.mutation.identity),
        destroyed=destroyed_mutant(session.suite.full, session.adapter.cannot_express),
        ignored=dict(generation.ignored),
        price=price,
        notes=(*price, *generation.notes, *session.tests.notes()),
        rule=rule_of(project),
        after_kills=_after_kills(session),
        window=project.execution.window,
    )


def rule_of(project: Project) -> Rule:
    """Return the kill rule of a project's settings."""
    settings = project.statistics
    return Rule(
        alpha=settings.alpha_of_a_look,
        beta=settings.beta if settings.precision is None else min(settings.beta, PRECISE_BETA),
        delta=settings.delta,
        n_max=settings.n_max,
        suite_share=settings.suite_share,
        clear_on=settings.scenarios_to_clear,
        keeps_confirming=True,
    )


def _after_kills(session: Session) -> dict[str, tuple[int, int]]:
    """Return by scenario what the largest CI job needs: passes and runs; empty where no run after a kill is wanted."""
    project = session.project
    if not project.ci_after_kill or not project.ci_runs:
        return {}
    most = max(project.ci_runs)
    return {
        scenario.name: (passes_needed(project.threshold_of(scenario), most), most)
        for scenario in session.scenarios
    }


def _rounds(project: Project, scenarios: int) -> tuple[Round, ...]:
    """Return the rounds of a campaign; none if the project wants its finest drop at once."""
    settings = project.statistics
    if settings.rounds == "one":
        return ()
    rounds = rounds_to(settings.delta, None if settings.baseline == "auto" else settings.baseline)
    cut = first_round_within_trials(project.budget.trials, rounds[0].baseline, scenarios)
    if cut.refusal:
        raise UsageError(cut.refusal)
    return (rounds[0]._replace(baseline=cut.trials), *rounds[1:])


def _baseline(project: Project, scenarios: int, mutants: int) -> int:
    wanted = project.statistics.baseline
    automatic = wanted == "auto"
    size = automatic_size(mutants) if wanted == "auto" else wanted
    cut = baseline_within_trials(project.budget.trials, size, scenarios, automatic=automatic)
    if cut.refusal:
        raise UsageError(cut.refusal)
    return cut.trials


def _baseline_limit(project: Project) -> BaselineLimit | None:
    budget, settings = project.budget, project.statistics
    if (settings.rounds == "one" and settings.baseline != "auto") or (
        budget.usd is None and budget.minutes is None
    ):
        return None
    return BaselineLimit(usd=budget.usd, minutes=budget.minutes, concurrency=project.execution.concurrency)


def _check_prices(project: Project, mutants: Sequence[Mutant]) -> None:
    """Refuse models without a price that only mutants call, before most of the money is spent."""
    if project.budget.usd is None:
        return
    edits = (edit for mutant in mutants for edit in mutant.edits if edit.pointer == "/model/name")
    pricer, one_token = pricer_of(project), Usage(input_tokens=1, output_tokens=1)
    unknown = {str(edit.after) for edit in edits if pricer.cost(str(edit.after), one_token) is None}
    if unknown:
        raise UsageError(price_missing(unknown))


def _check_judge_prices(session: Session) -> None:
    """Refuse a budget in money where a judge's model has no price: the budget covers judges."""
    if session.project.budget.usd is None:
        return
    judges = [unwrapped(one) for found in session.tests.evaluators.values() for one in found]
    models = {one.model for one in judges if isinstance(one, AsksModel)}
    prices, one = session.project.budget.prices, Usage(input_tokens=1, output_tokens=1)
    if unknown := {m.name for m in models if Pricer(prices, m.provider).cost(m.name, one) is None}:
        raise UsageError(price_missing(unknown))


def _why_none(generation: Generation) -> str:
    if generation.unselected:
        return f"the filters leave out all {generation.unselected} mutants. `agentmut mutants` lists them."
    kinds: dict[str, list[str]] = {}
    for operator, reason in generation.empty:
        kinds.setdefault(operator.partition(".")[0], []).append(reason.partition(", because ")[2] or reason)
    if not kinds:
        return "the filters leave out all mutants. `agentmut mutants` lists them."
    shown = (f"{kind}: {max(reasons, key=reasons.count)}" for kind, reasons in kinds.items())
    return f"{'; '.join(shown)}. `agentmut mutants` lists every reason."
