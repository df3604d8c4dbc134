"""The behaviour of today's runs against that of a stored baseline, added to a report of verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from agentmut._base import UsageError
from agentmut.assessment import comparable, kept_trials
from agentmut.campaign import Session
from agentmut.insight import compare_behaviour
from agentmut.nouns import Execution
from agentmut.store import (
    SavedBaseline,
    Store,
    StoredTrial,
    VerdictReport,
    read_baseline,
)
from agentmut.usecases.assessing import baselines_folder, keep_verdicts


def behaviour_against(
    session: Session, store: Store, name: str | None
) -> Callable[[VerdictReport], VerdictReport]:
    """Read the baseline `name` now, and return a function that adds the comparison with it to a report.

    Without a name, the report stays as it is. Raises `UsageError` where no scenario of the baseline can be compared.
    """
    if name is None:
        return lambda report: report
    return partial(_with_behaviour, session, store, _comparable_baseline(session, name))


def _comparable_baseline(session: Session, name: str) -> SavedBaseline:
    saved = read_baseline(name, baselines_folder(session.project))
    obstacles = comparable(session, saved)
    if all(obstacles.values()):
        said = "; ".join(f"{scenario}: {obstacle}" for scenario, obstacle in obstacles.items())
        raise UsageError(f"no scenario can be compared with baseline {name!r}. {said}.")
    return saved


def _with_behaviour(
    session: Session, store: Store, saved: SavedBaseline, report: VerdictReport
) -> VerdictReport:
    """Compare the runs that the verdicts rest on with the baseline's, and write `verdicts.json` with what is found.

    Only runs that are evidence count. The baseline's own runs, which a test of the same agent may reuse, are left
    out of today's: compared with themselves, they show nothing.
    """
    kept = {trial.id: trial for trial in kept_trials(store, saved)}
    wanted = [name for name, obstacle in comparable(session, saved).items() if not obstacle]
    today = [trial for trial in store.trials_of(report.run_id, "") if trial.id not in kept]
    found = compare_behaviour(
        saved.name,
        _evidence(wanted, kept.values()),
        _evidence(wanted, today),
        report.alpha,
        report.seed,
    )
    report = report.model_copy(update={"behaviour": found})
    keep_verdicts(report, store, session.project.runs)
    return report


def _evidence(scenarios: Sequence[str], trials: Iterable[StoredTrial]) -> Mapping[str, Sequence[Execution]]:
    """Return the trials that are evidence, by scenario, in launch order."""
    found: dict[str, list[Execution]] = {name: [] for name in scenarios}
    for trial in trials:  # the store gives them by their repeats, a baseline series by series
        if trial.scenario in found and trial.execution.ending.is_evidence:
            found[trial.scenario].append(trial.execution)
    return found
