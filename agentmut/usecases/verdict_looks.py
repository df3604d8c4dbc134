"""Second looks of `test` and `baseline compare`: earlier verdicts on the same agent and suite with other settings.

Who gives the command again with another number of trials, method or alpha decides the same runs once more. New runs
are a look of their own while the service is taken to be the same; after that they ask about another time.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from agentmut._base import UsageError
from agentmut.assessment import SAME_AGENT, AssessmentPlan
from agentmut.campaign import planned_at
from agentmut.nouns import EarlierLook
from agentmut.store import Store, VerdictReport, read_verdicts
from agentmut.usecases.second_looks import COUNTED, concern_the_same, looks_told, unpaid

KINDS = ("test", "compare")
WRONG = "come to a wrong verdict"
"""What alpha bounds, after the looks as the subject."""
_NOT_COMPARED = ("fresh",)


def with_verdict_looks(
    report: VerdictReport, plan: AssessmentPlan, store: Store, runs: Path, asked: float
) -> VerdictReport:
    """Return the report with the earlier looks at its question, in `looks` and in its notes. `asked` is the alpha."""
    looks = tuple(_looks(report, plan, (p for p in _plans(store) if p.run_id < plan.run_id), runs))
    notes = tuple(looks_told(looks, report.alpha, asked, WRONG))
    return report.model_copy(update={"looks": looks, "notes": (*notes, *report.notes)})


def unpaid_verdict(report: VerdictReport, store: Store, runs: Path, asked: float) -> str:
    """Say what the looks at a stored verdict's question may err together, later ones included; empty where paid for."""
    plans = tuple(_plans(store))
    own = next((plan for plan in plans if plan.run_id == report.run_id), None)
    looks = () if own is None else tuple(_looks(report, own, plans, runs))
    return unpaid(looks, report.alpha, asked, WRONG)


def _plans(store: Store) -> Iterator[AssessmentPlan]:
    """Yield the plans of the stored tests and comparisons, the latest first; those of other versions are left out."""
    for stored in store.runs():
        try:
            plan = AssessmentPlan.model_validate_json(stored.plan)
        except ValidationError:
            continue
        if plan.kind in KINDS:
            yield plan


def _looks(
    report: VerdictReport, plan: AssessmentPlan, others: Iterable[AssessmentPlan], runs: Path
) -> Iterator[EarlierLook]:
    seen: set[tuple[str, ...]] = set()
    for other in others:
        if other.kind != plan.kind or not concern_the_same(other, plan) or not _at_one_time(other, plan):
            continue
        differs = tuple(_differences(other, plan))
        setting = (*differs, other.run_id if other.fresh else "")
        if not differs or setting in seen:
            continue
        if (found := _report_of(other, runs)) and _same_baseline(found, report):
            seen.add(setting)
            yield EarlierLook(
                run_id=other.run_id,
                when=planned_at(other.run_id),
                alpha=found.alpha,
                verdict=found.verdict.value,
                differs=differs,
            )


def _at_one_time(other: AssessmentPlan, plan: AssessmentPlan) -> bool:
    """Return whether both may have decided the same runs, or ran anew while the service is taken to be the same."""
    return not (other.fresh or plan.fresh) or abs(other.started - plan.started) <= SAME_AGENT


def _differences(other: AssessmentPlan, plan: AssessmentPlan) -> Iterator[str]:
    """Say in which settings `other` differs; nothing where the command was only given again."""
    for name in sorted({*other.settings, *plan.settings} - set(_NOT_COMPARED)):
        before, now = other.settings.get(name, "none"), plan.settings.get(name, "none")
        if before != now:
            yield f"{name} {before} (here {now})"
    if other.seed != plan.seed:
        yield f"seed {other.seed} (here {plan.seed})"
    if other.fresh or plan.fresh:
        yield "trials of its own"
    if gone := sorted(set(other.scenarios) - set(plan.scenarios)):
        yield f"scenarios that are left out here: {', '.join(gone)}"


def _report_of(plan: AssessmentPlan, runs: Path) -> VerdictReport | None:
    try:
        report = read_verdicts(runs / plan.run_id / "verdicts.json")
    except UsageError:
        return None
    return report if report.status in COUNTED else None


def _same_baseline(found: VerdictReport, report: VerdictReport) -> bool:
    """Return whether two reports compare with the same stored runs, or both with thresholds."""
    first, second = found.baseline, report.baseline
    return first is second is None or (
        first is not None and second is not None and first.run_id == second.run_id
    )
