"""Relations on stored source and follow-up runs of earlier commands, without new runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentmut.campaign import WORDLESS, Environment, Launch, Session, original_heads, plan_of, trial_key
from agentmut.nouns import Ending, Execution, Mutant
from agentmut.relating.lane import NOT_STORED
from agentmut.relating.material import first_free
from agentmut.relating.state import Relating, RelationsPlan
from agentmut.store import Store, StoredTrial, TrialHead

OTHER_THEN = (
    "no stored run is of the current agent (changed: {changed}); runs of the agent of run {run} are judged"
)


class StoredSources(NamedTuple):
    """The stored runs of the unchanged agent that relations may start from."""

    plan: RelationsPlan
    """With the environment and seed of these runs, so that their follow-up runs are found."""
    by_scenario: dict[str, list[tuple[int, Execution]]]
    repeats_of: frozenset[str]
    """Scenarios without further runs of the agent as it is, as a check of relations makes them."""
    notes: tuple[str, ...]


def stored_sources(session: Session, store: Store, plan: RelationsPlan) -> StoredSources:
    """Return the runs of today's agent, else the trials of the latest run; never a mixture.

    Only the runs that relations start from are read, however many are stored.
    """
    heads, skipped = original_heads(session, store)
    most = session.project.relations.sources
    for one, run in _as_run_before(store, plan):
        fitting = {name: _of_plan(session, one, name, heads.get(name, ())) for name in plan.scenarios}
        found = {name: _first(store, trials, most + 1, skipped) for name, trials in fitting.items()}
        if any(found.values()):
            changed = _changed(session.environment, one.environment) or "the seed"
            notes = [OTHER_THEN.format(changed=changed, run=run)] if run else []
            sources = {name: trials[:most] for name, trials in found.items()}
            no_more = frozenset(name for name, trials in found.items() if len(trials) <= most)
            return StoredSources(one, sources, no_more, (*_left_out(skipped), *notes))
    return StoredSources(plan, {}, frozenset(), tuple(_left_out(skipped)))


def _first(
    store: Store, heads: Sequence[TrialHead], wanted: int, skipped: Counter[str]
) -> list[tuple[int, Execution]]:
    """Read the first so many trials that were kept with texts; count those in between that were not."""
    found: list[tuple[int, Execution]] = []
    for at in range(0, len(heads), wanted):
        for trial in store.listing.some(head.id for head in heads[at : at + wanted]):
            if trial.execution.trace.texts:
                skipped[WORDLESS] += 1
            else:
                found.append((trial.repeat, trial.execution))
        if len(found) >= wanted:
            break
    return found[:wanted]


def _left_out(skipped: Counter[str]) -> Iterator[str]:
    yield from (f"{count} stored trials left out: {why}" for why, count in sorted(skipped.items()))


def _as_run_before(store: Store, plan: RelationsPlan) -> Iterator[tuple[RelationsPlan, str]]:
    """Yield today's plan, then the plan with the environment and seed of each stored run, the latest first."""
    yield plan, ""
    tried = [(plan.environment, plan.seed)]
    for stored in store.runs():
        before = plan_of(stored)
        if before is not None and (before.environment, before.seed) not in tried:
            tried.append((before.environment, before.seed))
            then = {"environment": before.environment, "seed": before.seed}
            yield plan.model_copy(update=then), stored.id


def _changed(now: Environment, then: Environment) -> str:
    """Return what differs between two environments, in words."""
    names = [name for name in Environment.model_fields if getattr(now, name) != getattr(then, name)]
    return ", ".join(names)


def carry_out_stored(session: Session, work: Relating, store: Store) -> None:
    """Record every trial that the work asks for, from the store or as missing."""
    mutants = {mutant.id: mutant for mutant in work.contenders}
    while (launch := work.launch()) is not None:
        stored = store.find(_key(session, work.plan, mutants.get(launch.mutant), launch))
        usable = stored is not None and session.tests.can_judge(launch.scenario, stored.execution)
        execution = stored.execution if stored is not None and usable else MISSING
        detector = work.detectors.get(launch.mutant)
        work.record(launch, session.tests.result(launch.scenario, execution, detector))


def further_runs(
    session: Session,
    plan: RelationsPlan,
    store: Store,
    mutant: Mutant | None,
    scenario: str,
    most: int,
    known: Iterable[StoredTrial],
) -> list[tuple[int, Execution]]:
    """Return the known runs, and those of the first `most` repeats that an earlier check has added."""
    found = {trial.repeat: trial.execution for trial in known}
    for repeat in range(most):
        if repeat not in found:
            launch = Launch(mutant.id if mutant else "", scenario, repeat, number=repeat)
            if stored := store.find(_key(session, plan, mutant, launch)):
                found[repeat] = stored.execution
    return sorted(found.items())


def without_more(
    session: Session,
    plan: RelationsPlan,
    store: Store,
    mutant: Mutant | None,
    scenario: str,
    runs: Iterable[tuple[int, Execution]],
) -> bool:
    """Return whether the store has no further run, so that the same request finds nothing new."""
    repeat = first_free(runs)
    launch = Launch(mutant.id if mutant else "", scenario, repeat, number=repeat)
    return store.find(_key(session, plan, mutant, launch)) is None


MISSING = Execution(ending=Ending.EMPTY_RUN, reason=NOT_STORED)


def _key(session: Session, plan: RelationsPlan, mutant: Mutant | None, launch: Launch) -> str:
    """Return the key under which the loop would have stored the trial."""
    full = session.suite.full
    config = mutant.apply(full) if mutant else full
    return trial_key(
        plan.environment,
        plan.seed,
        config=session.suite.part(config, launch.scenario).digest,
        mutant=launch.mutant,
        scenario=session.tests.scenarios[launch.scenario].digest,
        repeat=launch.repeat,
    )


def _of_plan(
    session: Session, plan: RelationsPlan, name: str, trials: Iterable[TrialHead]
) -> list[TrialHead]:
    """Return the trials that this plan would take over, in the order of the repeats."""
    config = session.suite.part(session.suite.full, name).digest
    scenario = session.tests.scenarios[name].digest

    def key(repeat: int) -> str:
        where = plan.environment, plan.seed
        return trial_key(*where, config=config, mutant="", scenario=scenario, repeat=repeat)

    fitting = {trial.repeat: trial for trial in trials if trial.key == key(trial.repeat)}
    return [trial for _, trial in sorted(fitting.items())]
