"""Failed runs of the unchanged agent, for somebody who wants to read why a scenario fails."""

from collections.abc import Collection, Iterator

from agentmut.campaign import Session
from agentmut.insight import FailingRuns, RunView
from agentmut.store import Store
from agentmut.usecases.compared_runs import views_of

SHOWN = 3
"""Failed runs of a scenario that are shown."""


def failing_runs(
    session: Session, store: Store, run: str, scenarios: Collection[str], shown: int = SHOWN
) -> Iterator[FailingRuns]:
    """Yield failed runs of the original on each of these scenarios, judged by today's evaluators.

    Runs with different reasons come first. A scenario without a stored failed run, or that has gone, is left out.
    """
    trials = store.trials_of(run, "") if scenarios else []
    for name in scenarios:
        if name not in session.tests.scenarios:
            continue
        views = views_of(session, [trial for trial in trials if trial.scenario == name])
        failed = [view for view in views if view.outcome not in ("pass", "infrastructure")]
        if failed:
            yield FailingRuns(scenario=name, runs=tuple(_telling(failed)[:shown]), stored=len(failed))


def _telling(failed: list[RunView]) -> list[RunView]:
    """Return the runs with one of each reason first."""
    first = {view.reason: view for view in reversed(failed)}
    others = [view for view in failed if first[view.reason] is not view]
    return [*(view for view in failed if first[view.reason] is view), *others]
