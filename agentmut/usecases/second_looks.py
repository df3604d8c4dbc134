"""Second looks: earlier runs that decided the same question with other settings, and the alpha to pay for them.

A wrong decision has its chance in each run that decides. Who runs again with other settings and keeps the result that
pleases has the chances of all runs together. So a result names the earlier ones, and each look costs its alpha.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import UsageError
from agentmut.campaign import Plan, RunPlan, planned_at
from agentmut.nouns import EarlierLook, Result, read_result
from agentmut.store import Store
from agentmut.usecases.stored_reports import shaping

COUNTED = ("finished", "budget")
"""Runs that came to a score which could be kept."""
ROUNDING = 1e-9
_NAMES = {"beta": "1 - power"}
FALSE_KILL = "kill an unchanged mutant"
"""What a campaign does wrong with the chance alpha."""


def plans_in(store: Store) -> dict[str, Plan]:
    """Return the plans of the stored campaigns by run, the latest first; plans of other versions are left out."""
    found: dict[str, Plan] = {}
    for stored in store.runs():
        try:
            plan = Plan.model_validate_json(stored.plan)
        except ValidationError:
            continue
        if plan.kind == "run":
            found[stored.id] = plan
    return found


def looks_besides(plan: Plan, others: Iterable[Plan], runs: Path) -> tuple[EarlierLook, ...]:
    """Return the runs among `others` that decided the question of `plan` with other settings, each setting once."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for other in others:
        differs = tuple(_differences(other, plan)) if _same_question(other, plan) else ()
        setting = (*differs, other.run_id if other.fresh else "")
        result = _result_of(other, runs) if differs and setting not in seen else None
        if result is not None:
            seen.add(setting)
            found.append(_look(other, result, differs))
    return tuple(found)


def with_looks(result: Result, plan: Plan, store: Store, runs: Path, asked: float) -> Result:
    """Return the result with the earlier looks at its question, in `looks` and in its notes. `asked` is the alpha."""
    if plan.shard is not None or not plan.mutants:
        return result
    earlier = [other for other in plans_in(store).values() if other.run_id < plan.run_id]
    looks = looks_besides(plan, earlier, runs)
    notes = tuple(looks_told(looks, plan.rule.alpha, asked))
    return result.model_copy(update={"looks": looks, "notes": (*notes, *result.notes)})


def spent_by(looks: Iterable[EarlierLook], alpha: float) -> float:
    """Return the chance of a false kill in any of the looks and in the run itself, at most: the sum of the levels."""
    return alpha + sum(look.alpha for look in looks)


def unpaid(looks: Iterable[EarlierLook], alpha: float, asked: float, wrong: str = FALSE_KILL) -> str:
    """Return the total error rate of the looks if it exceeds the requested alpha; empty if alpha pays for all.

    `wrong` is the error that alpha bounds, after the looks as the subject.
    """
    looks = tuple(looks)
    together = spent_by(looks, alpha)
    if not looks or together <= asked * (1 + ROUNDING):
        return ""
    return (
        f"it is look {len(looks) + 1} at the same agent and suite ({'; '.join(map(_look_in_words, looks))}): together "
        f"they {wrong} with a chance of up to {together:.3g}, more than the {asked:g} that is asked. Set "
        "`statistics.looks` before the first look: it divides this chance among all looks"
    )


def looks_told(
    looks: Iterable[EarlierLook], alpha: float, asked: float, wrong: str = FALSE_KILL
) -> Iterator[str]:
    """Yield the outcome of each earlier look, and the total error rate of all looks; `wrong` as in `unpaid`."""
    looks = tuple(looks)
    for look in looks:
        yield f"this is another look: {_look_in_words(look)}"
    if looks:
        together, paid = spent_by(looks, alpha), not unpaid(looks, alpha, asked, wrong)
        verdict = "which `statistics.looks` pays for" if paid else f"more than the {asked:g} that is asked"
        yield f"{len(looks) + 1} looks {wrong} with a chance of up to {together:.3g}, {verdict}"


def _look_in_words(look: EarlierLook) -> str:
    none = look.verdict or "no score"
    score = none if look.score is None else f"score {look.score:.2f} [{look.low:.2f}, {look.high:.2f}]"
    when = f" of {look.when}" if look.when else ""
    return f"run {look.run_id}{when} had {score} with {', '.join(look.differs)}"


def _look(other: Plan, result: Result, differs: tuple[str, ...]) -> EarlierLook:
    score = result.score
    known = score.value is not None and score.low is not None and score.high is not None
    return EarlierLook(
        run_id=other.run_id,
        when=planned_at(other.run_id),
        alpha=other.rule.alpha,
        score=score.value if known else None,
        low=score.low if known else None,
        high=score.high if known else None,
        differs=differs,
    )


def _result_of(plan: Plan, runs: Path) -> Result | None:
    try:
        result = read_result(runs / plan.run_id / "result.json")
    except UsageError:
        return None
    return result if result.status in COUNTED else None


def _same_question(other: Plan, plan: Plan) -> bool:
    """Return whether two whole campaigns ask the same question about the same agent.

    The same scenarios must be judged by the same evaluators: a better suite is another question.
    """
    if other.shard is not None or not other.mutants:
        return False
    if other.run_id in plan.merged or plan.run_id in other.merged:
        return False
    return concern_the_same(other, plan)


def concern_the_same(other: RunPlan, plan: RunPlan) -> bool:
    """Return whether two runs judge the same agent in the same environment by the same evaluators."""
    if (
        other.run_id == plan.run_id
        or other.config_digest != plan.config_digest
        or shaping(other.environment) != shaping(plan.environment)
    ):
        return False
    return set(other.scenarios) != set(plan.scenarios) or other.suite_digest == plan.suite_digest


def _differences(other: Plan, plan: Plan) -> Iterator[str]:
    """Yield the settings in which `other` differs; none if `plan` only adds mutants or scenarios.

    Such a run decides what the other did, and more. An automatic baseline grows with the mutants, which is no choice.
    """
    before, now = other.rule.model_dump(), plan.rule.model_dump()
    for name, value in before.items():
        if value != now[name]:
            yield f"{_NAMES.get(name, name)} {value:g} (here {now[name]:g})"
    if other.seed != plan.seed:
        yield f"seed {other.seed} (here {plan.seed})"
    if plan.fresh or other.fresh:
        yield "trials of its own"
    mutants, kept = {each.id for each in other.mutants}, {each.id for each in plan.mutants}
    if mutants & kept and mutants - kept:
        yield f"{len(mutants - kept)} mutants that are left out here"
    if gone := sorted(set(other.scenarios) - set(plan.scenarios)):
        yield f"scenarios that are left out here: {', '.join(gone)}"
    same = mutants == kept and set(other.scenarios) == set(plan.scenarios)
    if same and other.baseline != plan.baseline:
        yield f"baseline {other.baseline} (here {plan.baseline})"
