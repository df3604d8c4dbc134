"""The stored trials of a project: which there are, how each ended, and which an outage has spoiled."""

from collections.abc import Iterator
from difflib import get_close_matches

from agentmut._base import Frozen, UsageError
from agentmut.campaign import Session
from agentmut.judging import as_text
from agentmut.nouns import AgentTrace, Check, Outcome
from agentmut.store import Store, StoredTrial

LARGEST = 2**63
"""Beyond what a database counts to."""


class TrialRow(Frozen):
    """A stored trial, as a list shows it."""

    trial: int
    run: str
    mutant: str
    """Empty for the original."""
    scenario: str
    repeat: int
    outcome: str
    """By today's evaluators; empty where they cannot say: the scenario has gone, or a model would have to be asked."""
    ending: str
    reason: str
    attempts: int
    finished: float
    """Seconds since the epoch."""
    quarantined: str = ""
    """Why the trial was set aside; empty for one that counts."""

    @property
    def failed(self) -> bool:
        """Return whether it counts against its agent, or did before it was set aside."""
        return self.outcome in (Outcome.FAIL, Outcome.TIMEOUT)


class WholeTrial(Frozen):
    """A stored trial with all that it did."""

    row: TrialRow
    turns: tuple[str, ...] = ()
    """What the user says, by the scenario as it is now; empty where the scenario has gone, or no texts are kept."""
    checks: tuple[Check, ...]
    trace: AgentTrace


def stored_trials(
    session: Session,
    store: Store,
    *,
    scenario: str | None = None,
    mutant: str | None = None,
    failed: bool = False,
    quarantined: bool = False,
) -> Iterator[TrialRow]:
    """Yield the stored trials that are asked for, in the order in which they ended.

    `mutant` is an id or its beginning; `failed` and `quarantined` leave the others out.

    Raises `UsageError` for a scenario that neither the suite nor the store knows, and for a mutant without trials.
    """
    for _, whole in whole_trials(session, store, scenario=scenario, mutant=mutant):
        if (whole.row.failed or not failed) and (whole.row.quarantined or not quarantined):
            yield whole.row


def whole_trials(
    session: Session, store: Store, *, scenario: str | None = None, mutant: str | None = None
) -> Iterator[tuple[StoredTrial, WholeTrial]]:
    """Yield the stored trials of a scenario and a mutant with all that they did, one in memory at a time.

    Raises what `stored_trials` raises.
    """
    aside = store.quarantine.reasons()
    stored = 0
    for trial in store.listing.found(scenario, mutant):
        stored += 1
        row, checks = _row(session, trial, aside.get(trial.id, ""))
        yield trial, WholeTrial(row=row, checks=checks, trace=trial.execution.trace)
    if not stored:
        _check_known(session, store, scenario, mutant)


def _check_known(session: Session, store: Store, scenario: str | None, mutant: str | None) -> None:
    """Raise `UsageError` where there is no such scenario, or no trial of such a mutant, with names that are alike."""
    if scenario is not None and scenario not in session.tests.scenarios:
        names = sorted({*session.tests.scenarios, *(trial.scenario for trial in store.listing.found())})
        if scenario not in names:
            alike = get_close_matches(scenario, names, n=3) or names[:5]
            raise UsageError(f"there is no scenario {scenario!r}; there are {', '.join(alike)}")
    if mutant:
        ids = sorted({trial.mutant for trial in store.listing.found() if trial.mutant})
        if not any(known.startswith(mutant) for known in ids):
            first = f"; the first of {len(ids)} are {', '.join(ids[:5])}" if ids else ""
            raise UsageError(f"no trial is stored of a mutant that begins with {mutant!r}{first}")


def stored_trial(session: Session, store: Store, number: int) -> WholeTrial:
    """Return one stored trial. Raises `UsageError` where there is none of that number."""
    trial = store.listing.trial(number) if 0 < number < LARGEST else None
    if trial is None:
        raise UsageError(f"--trial {number}: there is no such trial. `agentmut trials` lists them.")
    row, checks = _row(session, trial, store.quarantine.reasons().get(number, ""))
    trace = trial.execution.trace
    return WholeTrial(row=row, turns=_turns(session, trial.scenario, trace), checks=checks, trace=trace)


def _turns(session: Session, name: str, trace: AgentTrace) -> tuple[str, ...]:
    """Return what the user said: in a recorded run of another tool what its record has, else the scenario's turns.

    Nothing where the project keeps no texts: what is printed may be kept, too, as logs of CI are.
    """
    if session.tests.texts.is_hidden:
        return ()
    scenario = session.tests.scenarios.get(name)
    said = trace.foreign.turns if trace.foreign else scenario.turns if scenario else ()
    return tuple(map(as_text, said))


def trial_row(session: Session, trial: StoredTrial) -> TrialRow:
    """Return a stored trial as a list shows it, judged by today's evaluators."""
    return _row(session, trial, "")[0]


def _row(session: Session, trial: StoredTrial, aside: str) -> tuple[TrialRow, tuple[Check, ...]]:
    outcome, reason, checks = _judged(session, trial)
    execution = trial.execution
    row = TrialRow(
        trial=trial.id,
        run=trial.run,
        mutant=trial.mutant,
        scenario=trial.scenario,
        repeat=trial.repeat,
        outcome=outcome,
        ending=execution.ending.value,
        reason=reason or execution.reason,
        attempts=execution.attempts,
        finished=trial.finished,
        quarantined=aside,
    )
    return row, checks


def _judged(session: Session, trial: StoredTrial) -> tuple[str, str, tuple[Check, ...]]:
    """Return the outcome by today's evaluators, its reason and the checks; empty where they cannot say."""
    execution, tests = trial.execution, session.tests
    if execution.ending.outcome is not None:
        return execution.ending.outcome.value, execution.reason, ()
    known = trial.scenario in tests.scenarios and tests.can_judge(trial.scenario, execution)
    if not known or (tests.asks_models(trial.scenario) and execution.trace.judged is None):
        return "", "", ()
    judged = tests.judged(trial.scenario, execution)
    return judged.outcome.value, judged.reason, judged.checks
