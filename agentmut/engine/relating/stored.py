"""Relations on what is in the store: source runs and follow-up runs of earlier commands, and nothing else."""

from typing import NamedTuple

from agentmut.engine.identity import trial_key
from agentmut.engine.relating.lane import NOT_STORED
from agentmut.engine.relating.state import Errands, Relating, RelationsPlan
from agentmut.engine.session import Session
from agentmut.engine.stored import stored_originals
from agentmut.engine.trials import Launch, TrialResult
from agentmut.execution import Ending, Execution
from agentmut.store.sqlite import Store, StoredTrial

OTHER_AGENT = (
    "{scenario}: none of its stored runs is of the agent as it is now; those of run {run} are judged instead, and no "
    "follow-up run fits them"
)


class StoredSources(NamedTuple):
    """The stored runs of the unchanged agent that relations may start from."""

    by_scenario: dict[str, list[tuple[int, Execution]]]
    notes: tuple[str, ...]


def stored_sources(session: Session, store: Store, plan: RelationsPlan) -> StoredSources:
    """Of each scenario the runs of today's agent, or else those of the latest run; never a mixture."""
    kept, skipped = stored_originals(session, store)
    most = session.project.relations.sources
    found: dict[str, list[tuple[int, Execution]]] = {}
    notes = [f"{count} stored trials left out: {why}" for why, count in sorted(skipped.items())]
    for name in plan.scenarios:
        trials = _today(session, plan, name, kept.get(name, ()))
        if not trials and kept.get(name):
            run = max(trial.run for trial in kept[name])
            trials = {trial.repeat: trial for trial in kept[name] if trial.run == run}
            notes.append(OTHER_AGENT.format(scenario=name, run=run))
        first = sorted(trials)[:most]
        found[name] = [(repeat, trials[repeat].execution) for repeat in first]
    return StoredSources(found, tuple(notes))


def carry_out_stored(session: Session, work: Relating | Errands, store: Store) -> None:
    """Record every trial that the work asks for: as it is in the store, or as missing."""
    while (launch := work.launch()) is not None:
        stored = store.find(key_of(session, work.plan, work, launch))
        usable = stored is not None and session.tests.can_judge(launch.scenario, stored.execution)
        execution = stored.execution if stored is not None and usable else MISSING
        work.record(launch, result_of(session, work, launch, execution))


MISSING = Execution(ending=Ending.EMPTY_RUN, reason=NOT_STORED)


def result_of(
    session: Session, work: Relating | Errands, launch: Launch, execution: Execution
) -> TrialResult:
    """A stored execution as the loop would hand it over."""
    return session.tests.result(launch.scenario, execution, work.detectors.get(launch.mutant))


def key_of(session: Session, plan: RelationsPlan, work: Relating | Errands, launch: Launch) -> str:
    """The key under which the loop would have stored the trial."""
    mutant = next((one for one in work.contenders if one.id == launch.mutant), None)
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


def _today(
    session: Session, plan: RelationsPlan, name: str, trials: tuple[StoredTrial, ...]
) -> dict[int, StoredTrial]:
    """By repeat: the trials that today's agent would take over."""
    config = session.suite.part(session.suite.full, name).digest
    scenario = session.tests.scenarios[name].digest
    return {
        trial.repeat: trial
        for trial in trials
        if trial.key
        == trial_key(
            plan.environment, plan.seed, config=config, mutant="", scenario=scenario, repeat=trial.repeat
        )
    }
