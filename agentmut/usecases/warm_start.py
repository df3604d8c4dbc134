"""What earlier tests say of each scenario, for a test that may look first for what they make likely.

The trials of the test itself must not be among them, or chance would count twice. So runs that have trials in common
with it are left out, and so is all that came after the first of these runs: a test that goes on keeps its question.
"""

from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from agentmut._base import UsageError
from agentmut.assessment import AssessmentPlan, trial_keys
from agentmut.campaign import Session, first_repeats
from agentmut.stats import MOST_PAST, Past
from agentmut.store import Store, VerdictReport, read_verdicts

RUNS = 50
"""How many of the latest tests are read."""


def earlier_trials(
    session: Session, store: Store, *, fresh: bool, seed: int | None = None
) -> dict[str, Past]:
    """Return passes and trials of each scenario in earlier tests, the latest first, up to `MOST_PAST` of each.

    Empty unless the project asks for a warm start. A `fresh` test takes no trial over, so that all tests are earlier.
    """
    settings = session.project.test
    if not settings.warm_start or settings.method != "sequential":
        return {}
    reports = list(_reports(session, store))
    used = session.project.statistics.seed if seed is None else seed
    first = first_repeats(session.ages)
    found = {}
    for scenario in session.scenarios:
        repeats = range(first.get(scenario.name, 0), first.get(scenario.name, 0) + settings.trials)
        users = set() if fresh else store.users(list(trial_keys(session, scenario.name, used, repeats)))
        before = min(users, default=None)
        earlier = [each for each in reports if before is None or each.run_id < before]
        found[scenario.name] = _past(scenario.name, earlier[:RUNS])
    return found


def _reports(session: Session, store: Store) -> Iterable[VerdictReport]:
    """Yield the verdicts of stored tests, the latest first; what cannot be read tells nothing."""
    for stored in store.runs():
        try:
            plan = AssessmentPlan.model_validate_json(stored.plan)
            if plan.kind == "test":
                yield read_verdicts(session.project.runs / plan.run_id / "verdicts.json")
        except (ValidationError, UsageError):
            continue


def _past(scenario: str, reports: Sequence[VerdictReport]) -> Past:
    passes = trials = 0
    for row in (row for report in reports for row in report.scenarios if row.scenario == scenario):
        if trials >= MOST_PAST:
            break
        passes, trials = passes + row.passes, trials + row.trials
    return Past(passes, trials)
