"""Suggestions for a project: for the command line and for Python."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from agentmut._base import RunInterruptedError, UsageError, keep_json
from agentmut.campaign import Session, Stop, no_other_input, note_proposed, refuse_without_texts, register
from agentmut.insight import (
    MUTANTS,
    Aim,
    Bench,
    Coverage,
    Dimension,
    EndedSearch,
    Proposal,
    Search,
    Start,
    StoredEvidence,
    answered_proposals,
    consult,
    proposals,
    question,
    scenario_suggestions,
    search_of,
    start_of,
    suggest_assertions,
    weaknesses,
    what_is_stored,
    without_inputs,
)
from agentmut.nouns import (
    AssertionSuggestion,
    Intent,
    MutantRow,
    Result,
    ScenarioSuggestion,
    Status,
    Suggestions,
)
from agentmut.project import FOLDER, Project, apply_suggestions
from agentmut.store import Store

FILE = "suggestions.json"
NO_PROPOSAL = {
    "assertion": "behaviour changed, and no assertion was found that passes on the original and kills",
    "scenario": "behaviour is unchanged, so they need a scenario in which the change matters",
    "unknown": "whether behaviour changed is not known",
}
"""By gap: why a survivor has no assertion."""
NAMED = 8
"""Survivors that a note names; the report lists them all."""
ASKED = "asked"
"""Folder of the answers of `suggest.model`."""
Progress = Callable[[Bench], None]


class Idea(NamedTuple):
    """An input that may show what no stored run shows. It has not been run."""

    item: str
    input: str
    aim: str = ""
    """What the input is for, in words."""


class Searched(NamedTuple):
    """The statistics of a search."""

    before: Coverage
    after: Coverage
    tried: int
    """Inputs that were run."""
    asked: int
    """Runs of agents that it rests on, reused ones included."""
    executed: int
    ended: str


class Proposed(NamedTuple):
    """The content of `agentmut suggest`."""

    suggestions: Suggestions
    ideas: tuple[Idea, ...] = ()
    searched: Searched | None = None
    own_scenarios: bool = True
    """Whether the suite is scenario files of the project, which `--apply` and `--scenarios` can change."""


def free_suggestions(session: Session, store: Store, run: str | None = None) -> Proposed:
    """Return assertions for survivors, and what no run exercises, from stored trials alone.

    Scenarios that an earlier search has found stay suggested until they are applied.

    Raises `UsageError` where nothing is stored that fits, or `run` is no campaign.
    """
    refuse_without_texts(session, "`agentmut suggest`")
    stored = what_is_stored(session, store, run)
    start = start_of(stored)
    coverage = start.coverage
    assertions = _assertions(stored)
    found = Suggestions(
        run_id=stored.campaign.run.id if stored.campaign else "",
        assertions=assertions,
        scenarios=_of_earlier_searches(session.project),
        notes=(
            *stored.notes,
            *_by_campaign(session, coverage),
            *_without_proposal(stored.result, assertions),
        ),
    )
    keep_proposals(session, store, (*found.assertions, *found.scenarios), found.run_id)
    ideas = () if no_other_input(session) else _ideas(start, coverage, session.project.statistics.seed)
    return Proposed(found, tuple(ideas), own_scenarios=session.project.imported is None)


def searched_suggestions(
    session: Session,
    store: Store,
    *,
    now: float,
    run: str | None = None,
    seed: int | None = None,
    trials: int | None = None,
    progress: Progress = lambda bench: None,
) -> Proposed:
    """Return suggestions, with scenarios found by a search within `trials` runs (the project's `suggest.trials`).

    Raises besides `RunInterruptedError` and `RunError`; finished trials are kept, and reused by the same call.
    """
    refuse_without_texts(session, "`agentmut suggest --scenarios`")
    if why := no_other_input(session):
        raise UsageError(
            f"--scenarios tries other inputs, and {why}. Without --scenarios, assertions are suggested"
        )
    stored = what_is_stored(session, store, run)
    start = start_of(stored)
    start = start_of(stored, _of_model(session.project, start))
    search = search_of(stored, start, now=now, seed=seed, trials=trials, progress=progress)
    ended = _carried_out(search, store)
    bench = search.bench
    found = Suggestions(
        run_id=stored.campaign.run.id if stored.campaign else bench.plan.run_id,
        assertions=_assertions(stored),
        scenarios=scenario_suggestions(ended),
        notes=(*stored.notes, *_by_campaign(session, ended.after)),
        state={"search": bench.plan.run_id, "seed": str(bench.plan.seed), "ended": ended.why},
    )
    keep_proposals(session, store, (*found.assertions, *found.scenarios), found.run_id)
    did = Searched(ended.before, ended.after, ended.tried, bench.trials_asked_for, bench.executed, ended.why)
    return Proposed(found, searched=did)


def _carried_out(search: Search, store: Store) -> EndedSearch:
    run = search.bench.plan.run_id
    register(store, search.bench.plan)
    try:
        ended = search.run()
    except BaseException as error:
        interrupted = isinstance(error, RunInterruptedError | KeyboardInterrupt)
        store.set_status(run, (Stop.INTERRUPTED if interrupted else Stop.FAILED).value, search.bench.seconds)
        raise
    store.set_status(run, Stop.FINISHED.value, search.bench.seconds)
    return ended


def keep_proposals(
    session: Session, store: Store, proposed: Iterable[AssertionSuggestion | ScenarioSuggestion], run: str
) -> None:
    """Store proposals before a user sees them, so that runs that chose an evaluator never count for it."""
    for one in proposed:
        if isinstance(one, ScenarioSuggestion):
            note_proposed(store, one.scenario, one.scenario.evaluators, run)
        else:
            note_proposed(store, session.tests.scenarios[one.scenario], [one.evaluator], run)


def keep_suggestions(project: Project, suggestions: Suggestions) -> None:
    """Write `.agentmut/suggestions.json`, which replaces the last ones; a disk that cannot be written keeps nothing."""
    keep_json(suggestions, project.root / FOLDER / FILE, "`agentmut suggest`")


def kept_suggestions(project: Project) -> Suggestions:
    """Return the last suggestions. Raise `UsageError` if there are none."""
    path = project.root / FOLDER / FILE
    try:
        return Suggestions.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if project.store.texts != "full":
            raise UsageError(
                "there are no suggestions: they are read off texts, and "
                f"store.texts: {project.store.texts} keeps none. "
                "Set `store: {texts: full}`, then `agentmut run`, and `agentmut suggest`"
            ) from None
        raise UsageError("there are no suggestions yet. `agentmut suggest` makes them.") from None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {str(error).splitlines()[0]}. `agentmut suggest` writes it anew."
        ) from None


def chosen(
    suggestions: Suggestions, wanted: Collection[str]
) -> tuple[AssertionSuggestion | ScenarioSuggestion, ...]:
    """Return the suggestions whose ids begin with the given ones, alone or joined by commas. Raise `UsageError`.

    `all` is every scenario, and every assertion that the prompt or the user asks for.
    """
    listed: tuple[AssertionSuggestion | ScenarioSuggestion, ...] = (
        *suggestions.assertions,
        *suggestions.scenarios,
    )
    known = ", ".join(suggestion.id for suggestion in listed) or "none"
    wanted = [name.strip() for names in wanted for name in names.split(",") if name.strip()]
    if not wanted:
        raise UsageError(f"--apply needs the ids of suggestions, or `all`. There are: {known}.")
    named = [name for name in wanted if name != "all"]
    for name in named:
        if (fitting := sum(suggestion.id.startswith(name) for suggestion in listed)) != 1:
            begin = f"{fitting} suggestions begin" if fitting else "no suggestion begins"
            raise UsageError(f"{begin} with {name!r}. There are: {known}.")
    if "all" in wanted:
        return tuple(suggestion for suggestion in listed if _is_chosen_by_all(suggestion, named))
    return tuple(suggestion for suggestion in listed if any(suggestion.id.startswith(name) for name in named))


def _is_chosen_by_all(each: AssertionSuggestion | ScenarioSuggestion, named: Collection[str]) -> bool:
    firm = isinstance(each, ScenarioSuggestion) or each.firm
    return firm or any(each.id.startswith(name) for name in named)


def apply(project: Project, wanted: Collection[str]) -> tuple[Path, ...]:
    """Write the chosen suggestions into the scenario files; returns the files that changed."""
    taken = chosen(kept_suggestions(project), wanted)
    return apply_suggestions(project, taken)


def _assertions(stored: StoredEvidence) -> tuple[AssertionSuggestion, ...]:
    if stored.campaign is None or stored.result is None:
        return ()
    return suggest_assertions(stored.campaign)


def _of_earlier_searches(project: Project) -> tuple[ScenarioSuggestion, ...]:
    if not (project.root / FOLDER / FILE).exists():
        return ()
    names = {scenario.name for scenario in project.scenarios}
    return tuple(one for one in kept_suggestions(project).scenarios if one.scenario.name not in names)


def _without_proposal(result: Result | None, found: Sequence[AssertionSuggestion]) -> Iterator[str]:
    """Yield the survivors that an assertion does not help, and why. What should not matter leaves no gap."""
    survivors = _degraded(result) if result else []
    killed = {mutant for one in found for mutant in one.mutants}
    for gap, why in NO_PROPOSAL.items():
        left = [row.id for row in survivors if row.gap == gap and row.id not in killed]
        if left:
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            yield f"{len(left)} of {len(survivors)} survivors: {why} ({', '.join(left[:NAMED])}{more})"


def _degraded(result: Result) -> list[MutantRow]:
    return [row for row in result.mutants if row.status is Status.SURVIVED and row.intent is Intent.DEGRADE]


def _by_campaign(session: Session, coverage: Coverage) -> Iterator[str]:
    mutation = session.project.mutation
    return without_inputs(coverage, session.suite.full, mutation.swap_models, mutation.downgrade_models)


def _ideas(start: Start, coverage: Coverage, seed: int) -> Iterator[Idea]:
    for aim in _aims(start, coverage):
        first = next(proposals(aim, start.known, start.relations, seed), None)
        if first is not None:
            yield Idea(aim.item, " / ".join(map(str, first.turns)), first.goal)


def _aims(start: Start, coverage: Coverage) -> list[Aim]:
    """Return what is aimed at in coverage, the weakest dimension first."""
    found = weaknesses(coverage, start.settings.target, (), None)
    shown = {f"rule {item.name}" for item in coverage.covered if item.dimension is Dimension.ABLATION}
    aims = [aim for weak in found if weak.dimension != MUTANTS for aim in weak.aims]
    return [aim for aim in aims if aim.item and aim.item not in shown]


def _of_model(project: Project, start: Start) -> tuple[Proposal, ...]:
    named = project.suggest.model
    if named is None:
        return ()
    aims = _aims(start, start.coverage)
    said = consult(named, question(start.known, aims), project.root / FOLDER / ASKED)
    return tuple(answered_proposals(said, start.known, aims, named))
