"""Stored runs of the original and of a mutant side by side, for readers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from agentmut._base import UsageError
from agentmut.campaign import Session
from agentmut.insight import (
    MutantRuns,
    RunView,
    SideBySide,
    further_pairs,
    pairs_to_show,
    run_events,
    side_by_side,
    typical_run,
)
from agentmut.nouns import SUITE, MutantRow
from agentmut.recording import NOT_KEPT
from agentmut.store import Store, StoredTrial
from agentmut.usecases.trial_rows import trial_row

MOST_RUNS = 200
"""Runs of each side that are read to choose from."""


def run_pairs(
    session: Session, store: Store, run: str, row: MutantRow, trial: int | None = None, on: str = ""
) -> tuple[SideBySide, ...]:
    """Return runs of the original and of the mutant on the most telling scenario.

    That is the scenario `on` where one is named, else the first scenario that killed the mutant, else the one where its
    behaviour changed, else the one with the most failures. With `trial`, the pair has that run of the mutant on its
    own scenario. Empty where no run is stored, or the scenario has gone.

    Raises `UsageError` for a trial that is none of the mutant in that run.
    """
    mutants = store.trials_of(run, row.id)
    if trial is not None:
        return _run_beside_original(
            session, store, run, row, [one for one in mutants if one.id == trial], trial
        )
    scenario = on or _scenario(row)
    own = [one for one in mutants if one.scenario == scenario]
    if not own or scenario not in session.tests.scenarios:
        return ()
    originals = [one for one in store.trials_of(run, "") if one.scenario == scenario]
    return pairs_to_show(scenario, views_of(session, originals), views_of(session, own))


def runs_of_mutants(
    session: Session,
    store: Store,
    run: str,
    rows: Iterable[MutantRow],
    further: int,
    on: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[MutantRuns]:
    """Yield the runs of each mutant on its most telling scenario, in the order of the rows.

    `on` names the scenario for some mutants. Each mutant has at most `further` pairs beyond the typical and the telling
    one. A mutant without stored runs is left out. The runs of a mutant are read when it is its turn, so that a caller
    may stop early.
    """
    typical = _Typical(session, store.trials_of(run, ""))
    for row in rows:
        scenario = on.get(row.id) or _scenario(row)
        original = typical.typical_run_on(scenario)
        own = [one for one in store.trials_of(run, row.id) if one.scenario == scenario] if original else []
        if original is None or not own:
            continue
        runs = views_of(session, own)
        shown = pairs_to_show(scenario, [original], runs)
        pairs = (*shown, *further_pairs(shown, runs, further))
        yield MutantRuns(mutant=row.id, pairs=pairs, stored=len(own))


class _Typical:
    """Typical runs of the original, each found once."""

    def __init__(self, session: Session, originals: Iterable[StoredTrial]) -> None:
        self._session = session
        self._trials: dict[str, list[StoredTrial]] = defaultdict(list)
        self._found: dict[str, RunView] = {}
        for trial in originals:
            self._trials[trial.scenario].append(trial)

    def typical_run_on(self, scenario: str) -> RunView | None:
        """Return a typical run on the scenario; None if none is stored, or the scenario is gone."""
        if scenario not in self._trials or scenario not in self._session.tests.scenarios:
            return None
        if scenario not in self._found:
            self._found[scenario] = typical_run(views_of(self._session, self._trials[scenario]))
        return self._found[scenario]


def _run_beside_original(
    session: Session, store: Store, run: str, row: MutantRow, found: Sequence[StoredTrial], trial: int
) -> tuple[SideBySide, ...]:
    if not found:
        raise UsageError(
            f"--trial {trial}: run {run} has no such trial of mutant {row.id}. `agentmut trials --mutant {row.id}` "
            "lists them."
        )
    (one,) = found
    originals = [other for other in store.trials_of(run, "") if other.scenario == one.scenario]
    if not originals or one.scenario not in session.tests.scenarios:
        return ()
    original = typical_run(views_of(session, originals))
    return (side_by_side(one.scenario, "asked for", original, views_of(session, found)[0]),)


def _scenario(row: MutantRow) -> str:
    killing = [name for name in row.killed_by if name != SUITE]
    if killing:
        return killing[0]
    if row.behaviour is not None and row.behaviour.changed and row.behaviour.scenario:
        return row.behaviour.scenario
    most = max(row.evidence, key=lambda item: (item.failures, item.trials), default=None)
    return most.scenario if most else ""


def views_of(session: Session, trials: Sequence[StoredTrial]) -> list[RunView]:
    """Return stored runs in a form for reading and comparing: the first `MOST_RUNS` of them."""
    return [_view(session, trial) for trial in trials[:MOST_RUNS]]


def _view(session: Session, trial: StoredTrial) -> RunView:
    row, trace = trial_row(session, trial), trial.execution.trace
    ending = (
        "" if row.ending == "answered" else f"{row.ending}: {trial.execution.reason or trace.error or ''}"
    )
    turns = session.tests.scenarios[trial.scenario].turns
    prices = [step.usd for step in trace.steps if step.usage.total]
    return RunView(
        trial=trial.id,
        mutant=trial.mutant,
        outcome=row.outcome or row.ending,
        reason=row.reason,
        seconds=trace.seconds,
        tokens=sum(step.usage.total for step in trace.steps),
        usd=None if None in prices else sum(price for price in prices if price is not None),
        events=run_events([NOT_KEPT for _ in turns] if trace.texts else turns, trace, ending),
    )
