"""The part of a stored baseline that still fits the present scenarios."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.assessment.remarks import stored_before, with_names
from agentmut.assessment.rules import BaselineCounts
from agentmut.assessment.sizes import further_looks
from agentmut.assessment.state import Assessment
from agentmut.campaign import (
    BASELINE_MINIMUM,
    OLD,
    Session,
    compares_with_older,
    first_repeats,
    judged_by,
    trial_key,
)
from agentmut.nouns import Scenario
from agentmut.project import outdated_request
from agentmut.stats import is_untestable
from agentmut.store import SERIES, BaselineUsed, SavedBaseline, SavedScenario, Store, StoredTrial


class RecountedBaseline(NamedTuple):
    """A baseline on one scenario, judged by the present evaluators."""

    counts: BaselineCounts
    was: BaselineCounts
    """The counts when it was saved."""
    first_free: int
    """The repeat that a new trial may start with: past the baseline's own where the agent is the same, since
    a trial compared with itself shows nothing."""
    looks: int = 1
    """How many sizes this baseline has had."""


def saved_scenarios(session: Session, work: Assessment) -> dict[str, SavedScenario]:
    """Return what is kept of a finished assessment."""
    return {
        name: SavedScenario(
            digest=work.scenarios[name].digest,
            judged_by=judged_by(work.scenarios[name]),
            evaluators=work.plan.evaluators.get(name, ""),
            first_key=first_key(session, name, work.plan.seed),
            first=lane.first,
            launched=lane.launched,
            passes=sum(lane.passed),
            trials=len(lane.passed),
        )
        for name, lane in work.lanes.items()
    }


def next_looks(
    saved: Mapping[str, SavedScenario], kept: Mapping[str, SavedScenario]
) -> dict[str, SavedScenario]:
    """Return the scenarios with the number of baseline sizes that this agent has had, the present one included.

    `kept` is what the name has stood for. The same trials again are no new size; another agent begins anew.
    """
    return {
        name: scenario.model_copy(update={"looks": _looks(scenario, kept.get(name))})
        for name, scenario in saved.items()
    }


def _looks(scenario: SavedScenario, kept: SavedScenario | None) -> int:
    if kept is None or kept.first_key != scenario.first_key:
        return 1
    if (kept.passes, kept.trials) == (scenario.passes, scenario.trials):
        return kept.looks
    return kept.looks + further_looks(kept.trials, scenario.trials)


def comparable(session: Session, saved: SavedBaseline) -> dict[str, str]:
    """Map each scenario that cannot be compared to the reason."""
    return {s.name: "".join(_obstacles(s, saved.scenarios.get(s.name))) for s in session.scenarios}


def count_baseline(
    session: Session, store: Store, saved: SavedBaseline, seed: int
) -> dict[str, RecountedBaseline]:
    """Return the comparable scenarios, each with its stored trials judged again.

    Raises `UsageError` where none is comparable, or where evaluators changed and the trials are gone.
    """
    obstacles = comparable(session, saved)
    names = [name for name, obstacle in obstacles.items() if not obstacle]
    if not names:
        said = "; ".join(f"{name}: {obstacle}" for name, obstacle in obstacles.items())
        raise UsageError(f"no scenario can be compared with baseline {saved.name!r}. {said}.")
    judged = _judged_again(session, store, saved)
    return {
        name: RecountedBaseline(
            counts=_counts(session, saved, name, judged.get(name, [])),
            was=_saved_counts(saved, name),
            first_free=_first_free(session, saved, name, seed),
            looks=saved.scenarios[name].looks,
        )
        for name in names
    }


def older_than_evaluators(session: Session, saved: SavedBaseline, names: Iterable[str]) -> tuple[str, ...]:
    """Name the scenarios whose evaluators of today may have been chosen by looking at the baseline's runs."""
    return tuple(
        name
        for name in names
        if name in session.ages and compares_with_older(session.ages[name], saved.scenarios[name].evaluators)
    )


def first_key(session: Session, scenario: str, seed: int) -> str:
    """Return the key of the original's first trial on a scenario."""
    return next(trial_keys(session, scenario, seed, [0]))


def trial_keys(session: Session, scenario: str, seed: int, repeats: Iterable[int]) -> Iterator[str]:
    """Yield the keys of the original's trials on a scenario."""
    config = session.suite.part(session.suite.full, scenario).digest
    digest = session.tests.scenarios[scenario].digest
    for repeat in repeats:
        yield trial_key(session.environment, seed, config=config, mutant="", scenario=digest, repeat=repeat)


def _obstacles(scenario: Scenario, saved: SavedScenario | None) -> Iterator[str]:
    if saved is None:
        yield "not in the baseline"
    elif saved.digest != scenario.digest:
        yield "its input, documents, doubles or hooks have changed since"
    elif not saved.trials:
        yield "no trial of the baseline was evidence"


def _judged_again(session: Session, store: Store, saved: SavedBaseline) -> dict[str, list[bool]]:
    """Return the stored trials that are evidence, under today's evaluators, by scenario."""
    found: dict[str, list[bool]] = {}
    for stored in kept_trials(store, saved):
        if _can_judge(session, stored):
            result = session.tests.result(stored.scenario, stored.execution, None)
            if result.outcome.is_evidence:
                found.setdefault(stored.scenario, []).append(result.outcome == "pass")
    return found


def kept_trials(store: Store, saved: SavedBaseline) -> Iterator[StoredTrial]:
    """Yield the stored trials that a baseline rests on, run by run."""
    for run in saved.runs:
        for stored in store.trials_of(run, ""):
            if run in saved.runs_of(stored.scenario):
                yield stored


def _can_judge(session: Session, stored: StoredTrial) -> bool:
    known = stored.scenario in session.tests.scenarios
    return known and session.tests.can_judge(stored.scenario, stored.execution)


def _counts(session: Session, saved: SavedBaseline, name: str, judged: list[bool]) -> BaselineCounts:
    kept = _saved_counts(saved, name)
    if len(judged) >= kept.trials:
        return BaselineCounts(sum(judged), len(judged))
    if judged_by(session.tests.scenarios[name]) != saved.scenarios[name].judged_by:
        raise UsageError(
            f"the evaluators of scenario {name} have changed, and the trials of baseline {saved.name!r} are no longer "
            "in the store to be judged again. Save the baseline anew from the good version."
        )
    return kept


def _saved_counts(saved: SavedBaseline, name: str) -> BaselineCounts:
    return BaselineCounts(saved.scenarios[name].passes, saved.scenarios[name].trials)


def _first_free(session: Session, saved: SavedBaseline, name: str, seed: int) -> int:
    kept, first = saved.scenarios[name], first_repeats(session.ages).get(name, 0)
    # other evaluators have other repeats
    own = kept.first is None or kept.first in range(first, first + SERIES)
    if not own or first_key(session, name, seed) != kept.first_key:
        return first
    ends = [series.first + series.launched for series in kept.series]
    return max(first, *ends, (first if kept.first is None else kept.first) + kept.launched)


def comparison_notes(
    session: Session,
    saved: SavedBaseline,
    used: BaselineUsed,
    counted: Mapping[str, RecountedBaseline],
    now: float,
) -> Iterator[str]:
    """Yield the notes on a comparison that its verdicts do not contain."""
    for name, obstacle in used.not_compared.items():
        yield f"{name} was not compared: {obstacle}"
    for name in saved.scenarios.keys() - {scenario.name for scenario in session.project.scenarios}:
        yield f"{name} is in the baseline, but no longer in the suite"
    yield from with_names(_sides(session, counted))
    outdated = outdated_request(session.project)
    if used.same_agent and outdated:
        yield stored_before(outdated)
    elif used.same_agent:
        yield (
            "nothing that shapes a trial has changed since the baseline: only a drift of the model service can show. "
            "Trials older than 6 hours are run again, `--fresh` runs all again"
        )
    elif now - saved.saved > OLD:
        days = round((now - saved.saved) / 86_400)
        yield f"the baseline is {days} days old: if the model service has drifted since, that shows as a change here"


def _sides(session: Session, counted: Mapping[str, RecountedBaseline]) -> Iterator[tuple[str, str]]:
    """Yield scenarios, and what limits their comparison from the side of the baseline."""
    for name, (side, was, *_) in counted.items():
        if side != was:
            passed = f"{was.passes}/{was.trials} passed when saved, {side.passes}/{side.trials} do now"
            yield name, f"today's evaluators judged the baseline's trials again: {passed}"
        if is_untestable(side.trials - side.passes, side.trials, session.project.statistics.delta):
            rarely = f"the baseline passes too rarely ({side.passes}/{side.trials}) for a drop to show"
            yield name, f"{rarely}. Save a new one, or leave the scenario out with --scenario"
        elif side.trials < BASELINE_MINIMUM:
            few = f"with only {side.trials} baseline trials most drops go unnoticed"
            yield name, f"{few}. Even {BASELINE_MINIMUM} show only large drops"
