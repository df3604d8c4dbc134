"""From a project and its store to a search that is ready to run."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from agentmut._base import UsageError
from agentmut.campaign import Session, StoredCampaign, Tables, plan_fields, stored_campaign, stored_originals
from agentmut.insight.coverage.context import CoverageContext
from agentmut.insight.coverage.project_coverage import models_run, place_of_rules, traces_of
from agentmut.insight.generate.aims import mutants_alive
from agentmut.insight.generate.proposal_material import material
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.generate.stand_ins import ALL, StandIns, stand_ins
from agentmut.insight.search.killing import Killing
from agentmut.insight.search.search import Search
from agentmut.insight.search.search_start import Start
from agentmut.insight.search.trial_bench import Bench, SearchPlan
from agentmut.nouns import AgentConfig, AgentTrace, Result
from agentmut.project import Project
from agentmut.seams import Adapter, NeedsDoubles, Relation, RelationCatalogue, RunsOutside
from agentmut.stats import KillDesign
from agentmut.store import Store
from agentmut.trial import inside

Traces = dict[str, tuple[AgentTrace, ...]]


@dataclass(frozen=True)
class StoredEvidence:
    """Stored evidence that is read before a search runs anything."""

    session: Session
    store: Store
    traces: Traces
    """Runs of the original that say something about it, by scenario."""
    campaign: StoredCampaign | None
    result: Result | None
    notes: tuple[str, ...] = field(default=())


def what_is_stored(session: Session, store: Store, run: str | None = None) -> StoredEvidence:
    """Return the stored runs of the suite, and the campaign whose id begins with `run`, or the latest one.

    Raises `UsageError` where no run of the suite is stored, and for a `run` that is no campaign.
    """
    kept, skipped = stored_originals(session, store, texts=True)
    traces = {name: tuple(found) for name, found in traces_of(kept).items()}
    if not traces:
        why = "; ".join(f"{count} trials: {said}" for said, count in skipped.items())
        raise UsageError(
            f"no run of the suite is stored that can be used{f' ({why})' if why else ''}, so nothing tells what it "
            "covers. Run `agentmut run` or `agentmut test` first."
        )
    campaign = _campaign(session, store, run)
    result = campaign.result() if campaign and campaign.has_result else None
    notes = (*_notes(campaign, result), *_not_run(session, traces))
    return StoredEvidence(session, store, traces, campaign, result, notes)


def start_of(stored: StoredEvidence, also: tuple[Proposal, ...] = ()) -> Start:
    """Return what a search starts from."""
    session, result = stored.session, stored.result
    doubles = stand_ins(session.suite.full, session.scenarios, session.project.safe_tools, stored.traces)
    mutants = stored.campaign.plan.mutants if stored.campaign else ()
    return Start(
        config=session.suite.full,
        scenarios=session.scenarios,
        traces=stored.traces,
        settings=session.project.coverage,
        known=material(session.suite.full, session.scenarios, stored.traces),
        stand_ins=doubles,
        least=session.project.threshold,
        alive=mutants_alive(result, mutants),
        score=result.score.value if result else None,
        relations=_relations(session.project),
        context=CoverageContext(
            swap_models=session.project.mutation.swap_models,
            also_run=models_run(stored.store, result, ()) if result else {},
            place=place_of_rules(session.origin),
        ),
        also=also,
    )


def _relations(project: Project) -> tuple[Relation, ...]:
    """Return the relations that the project uses, and its own relations."""
    catalogue = RelationCatalogue.from_references(project.relations.own, project.root)
    return tuple(one.relation for one in catalogue.choose(project.relations.use).relations)


def check_harmless(adapter: Adapter, config: AgentConfig, doubles: StandIns, safe: Collection[str]) -> None:
    """Raise `UsageError` if a tool needs a stand-in and its calls cannot be intercepted, or no tool is known."""
    agent = inside(adapter)
    if ALL in safe:
        return
    able = frozenset() if isinstance(agent, RunsOutside) else adapter.doubled_tools()
    if exposed := sorted(doubles.doubles.keys() - able):
        raise UsageError(
            f"a search might really call {', '.join(exposed)}, with arguments that nobody has looked at: its calls "
            "cannot be intercepted. List in agent.safe_tools what does no harm, or write `safe_tools: all`."
        )
    if not (config.tools or isinstance(agent, NeedsDoubles)):  # a ready tool loop has none but its config's
        raise UsageError(
            "a search might really call any tool of this agent: its config names none, so none can be doubled. Name "
            "them in agent.config.tools, or write `safe_tools: all` under agent if nothing that it calls does harm."
        )


def search_of(
    stored: StoredEvidence,
    start: Start,
    *,
    now: float,
    seed: int | None = None,
    trials: int | None = None,
    progress: Callable[[Bench], None] = lambda bench: None,
) -> Search:
    """Return the search before its first trial; `trials` and `seed` override the project's.

    Raises `UsageError` where it might call a tool that does harm.
    """
    session = stored.session
    project, statistics = session.project, session.project.statistics
    check_harmless(session.adapter, start.config, start.stand_ins, project.safe_tools)
    plan = SearchPlan(
        **plan_fields(session, now, seed),
        scenarios=tuple(scenario.name for scenario in session.scenarios),
        trials=project.suggest.trials if trials is None else trials,
        repeats=project.suggest.repeats,
    )
    bench = Bench(session, stored.store, plan, lambda: progress(bench))
    design = KillDesign(statistics.alpha, statistics.beta, statistics.delta)
    return Search(start, bench, Killing(bench, design, Tables.from_project(project)))


def _campaign(session: Session, store: Store, run: str | None) -> StoredCampaign | None:
    try:
        return stored_campaign(session, store, run, texts=True)
    except UsageError:
        if run is not None:
            raise
        return None  # coverage alone can guide a search


def _not_run(session: Session, traces: Traces) -> Iterator[str]:
    """Yield the scenarios without runs, whose coverage therefore seems to be empty."""
    names = [scenario.name for scenario in session.scenarios if not traces.get(scenario.name)]
    if names:
        has, it = ("has", "it exercises") if len(names) == 1 else ("have", "they exercise")
        yield f"{', '.join(names)} {has} no run yet that can be used, so what {it} is not counted: `agentmut run`"


def _notes(campaign: StoredCampaign | None, result: Result | None) -> Iterator[str]:
    if campaign is None:
        yield "no stored campaign is of this agent, so no input is written for a mutant. `agentmut run` makes one"
        return
    yield from campaign.notes
    if result is None:
        yield f"run {campaign.run.id} has no result, so no input is written for a mutant. `agentmut resume` finishes it"
