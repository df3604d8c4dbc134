"""The relations, scenarios and rules of a check: before any run, and after the source runs."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut._base import UsageError, nearest
from agentmut.assessment import Assessment, FixedTrials, RunSettings, SequentialComparison, Sprt, StoppingRule
from agentmut.campaign import (
    Session,
    Tables,
    held_trials,
    judged_config,
    no_other_input,
    plan_fields,
    refuse_to_run,
)
from agentmut.nouns import Expectation, Scenario
from agentmut.project import Project
from agentmut.relating.follow_ups import Agent, FollowUps
from agentmut.relating.lane import Lane, Subject
from agentmut.relating.material import SourceMaterial
from agentmut.relating.pooling import several_scenarios
from agentmut.relating.relation_calls import asked_lack
from agentmut.relating.repeats import from_sources
from agentmut.relating.state import Relating, RelationsPlan
from agentmut.seams import ChosenRelation, RelationCatalogue, is_named
from agentmut.stats import KillDesign, SprtDesign, level_for
from agentmut.store import Counts


class Fit(NamedTuple):
    """A relation on a scenario, and why it does not apply there; empty if it applies."""

    chosen: ChosenRelation
    scenario: Scenario
    lack: str


class Wish(NamedTuple):
    """The content of a check."""

    fits: tuple[Fit, ...]
    needs_argument: Mapping[str, str]
    """Relations that were left out for want of an argument, and what they expect."""
    unused: tuple[str, ...] = ()
    """The project's own relations that `relations.use` does not name; none where relations were asked for."""

    @property
    def fitting(self) -> tuple[Fit, ...]:
        """Return the relations that apply."""
        return tuple(fit for fit in self.fits if not fit.lack)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the written relations that are not checked, with the reason."""
        return tuple(
            f"own relation {name} is not in `relations.use`, so it is not checked" for name in self.unused
        )

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the scenarios that at least one relation applies to."""
        return tuple({fit.scenario.name: fit.scenario for fit in self.fitting}.values())


class Level(NamedTuple):
    """The error rates of the lanes of a report."""

    alpha: float
    """The level of each lane: alpha of the report, divided over the lanes."""
    beta: float
    delta: float
    pairs: int
    """Pairs of a lane at most."""
    tolerance: float
    margin: float


class PreparedLanes(NamedTuple):
    """Lanes that are ready to run."""

    session: Session
    """With the further scenarios of the follow-ups."""
    work: Relating
    identity: tuple[Counts | None, ...]
    """By lane: the unchanged agent against itself, where that is the measure."""


def wish(session: Session, asked_for: Sequence[str], *, stored: bool = False) -> Wish:
    """Return the relations that the project uses, or those named in `asked_for`, on all scenarios.

    Raises `UsageError` for unknown names and for an agent that can be asked nothing else, and `RunError` for a
    relation that raises.
    """
    if not stored:
        refuse_to_run(session, "a check of relations without --stored")
    recorded = stored and held_trials(session) is not None  # then relations that run nothing can be judged
    if not recorded and (why := no_other_input(session)):
        raise UsageError(
            f"relations change what the agent is asked, and {why}. Use them on scenarios of agentmut"
        )
    chosen, needs = chosen_relations(session.project, asked_for)
    config = judged_config(session)
    fits = [Fit(one, s, asked_lack(one, s, config)) for one in chosen for s in session.scenarios]
    if not chosen:
        left_out = "; ".join(f"{name}: {said}" for name, said in needs.items())
        raise UsageError(
            f"there is no relation to check{f' ({left_out})' if left_out else ''}. Name some under `relations.use`, or "
            "your own under `relations.own`."
        )
    return Wish(tuple(fits), needs, () if asked_for else _unused(session.project, chosen))


def _alike(name: str, known: Collection[str]) -> str:
    """Return a sentence with the relations or families that are spelled like a name, or else with the families."""
    families = {relation.partition(".")[0] for relation in known}
    said = nearest(name, {*known, *families})
    if said.startswith("Known:"):
        return f"Families: {', '.join(sorted(families))}; `agentmut relations --preview` lists the relations."
    return said


def chosen_relations(
    project: Project, asked_for: Sequence[str]
) -> tuple[tuple[ChosenRelation, ...], Mapping[str, str]]:
    """Return the named relations: those in use with their arguments, others from the catalogue."""
    catalogue = RelationCatalogue.from_references(project.relations.own, project.root)
    seconds = project.execution.evaluator_timeout
    in_use = catalogue.choose(project.relations.use, seconds)
    if not asked_for:
        return in_use.relations, in_use.needs_argument
    found: dict[str, ChosenRelation] = {}
    needs: dict[str, str] = {}
    for name in asked_for:
        matching = [one for one in in_use.relations if is_named(one.name, name)]
        if not matching:
            if ":" in name:
                raise UsageError(f"--relation: {catalogue.unknown(name)}")
            if not any(is_named(known, name) for known in catalogue.names):
                raise UsageError(
                    f"--relation {name}: there is no such relation. {_alike(name, catalogue.names)}"
                )
            further = catalogue.choose([name], seconds)
            matching, needs = list(further.relations), {**needs, **further.needs_argument}
        found |= {one.label: one for one in matching}
    return tuple(found.values()), needs


def _unused(project: Project, chosen: Iterable[ChosenRelation]) -> tuple[str, ...]:
    """Return the project's own relations that `use` leaves out, or that need an argument."""
    if project.relations.use is None:
        return ()
    own = RelationCatalogue.from_references(project.relations.own, project.root).own
    named = {one.name for one in chosen}
    return tuple(name for name in own if name not in named)


def make_plan(
    session: Session, wanted: Wish, run_settings: RunSettings, *, to_the_end: bool
) -> RelationsPlan:
    """Return the plan of a check."""
    project, statistics = session.project, session.project.statistics
    settings: dict[str, str | float | int] = {
        "sources": project.relations.sources,
        "pairs": pairs_of(project),
        "tolerance": project.relations.tolerance,
        "alpha": statistics.alpha_of_a_look,
        "beta": statistics.beta,
        "delta": statistics.delta,
        "margin": project.test.margin,
    }
    settings |= {"to_the_end": 1} if to_the_end else {}
    return RelationsPlan(
        **plan_fields(session, run_settings.now, run_settings.seed),
        scenarios=tuple(scenario.name for scenario in wanted.scenarios),
        window=project.execution.window,
        fresh=run_settings.fresh,
        settings=settings | ({"fresh": 1} if run_settings.fresh else {}),
        relations=tuple(dict.fromkeys(fit.chosen.label for fit in wanted.fits)),
    )


def source_work(session: Session, plan: RelationsPlan) -> Assessment:
    """Return the source runs: so many of the unchanged agent on each scenario."""
    project = session.project
    most, alpha = project.relations.sources, project.statistics.alpha
    rules = {
        name: FixedTrials(project.threshold_of(session.tests.scenarios[name]), most, alpha)
        for name in plan.scenarios
    }
    return Assessment(plan, session.suite, session.tests.scenarios, rules)


def worst_case(session: Session, wanted: Wish) -> int:
    """Return the largest number of runs, if each follow-up is one run."""
    most = session.project.relations.sources
    pairs = min(pairs_of(session.project), most - most // 3)
    return len(wanted.scenarios) * most + len(wanted.fitting) * pairs


def pairs_of(project: Project) -> int:
    """Return the number of pairs of a relation on a scenario at most."""
    return project.relations.pairs


def prepare(
    session: Session,
    plan: RelationsPlan,
    wanted: Iterable[Fit],
    materials: Mapping[str, SourceMaterial],
    tables: Tables,
    repeats_of: Collection[str] = (),
) -> PreparedLanes:
    """Return the lanes of a report, from the source runs. Raises `RunError` for a relation that raises.

    On the scenarios `repeats_of`, which cannot be run again, follow-ups that change nothing are source runs too.
    """
    follow_ups = FollowUps(session)
    agent = Agent(judged_config(session))
    lanes = [_lane(follow_ups, fit, agent, materials[fit.scenario.name], plan) for fit in wanted]
    lanes = [from_sources(lane) if lane.subject.scenario.name in repeats_of else lane for lane in lanes]
    planned = [lane.subject.chosen.label for lane in lanes if lane.planned]
    level = level_of(session.project, len(planned) + several_scenarios(planned))
    identity = tuple(map(_identity, lanes))
    for lane, counts in zip(lanes, identity, strict=True):
        lane.rule = _rule(lane, counts, level, tables)
    opened = follow_ups.opened()
    return PreparedLanes(opened, relating(opened, plan, follow_ups, lanes), identity)


def relating(session: Session, plan: RelationsPlan, follow_ups: FollowUps, lanes: Sequence[Lane]) -> Relating:
    """Return the work of running the lanes' follow-ups."""
    return Relating(
        plan=plan,
        suite=session.suite,
        scenarios=session.tests.scenarios,
        contenders=tuple(follow_ups.mutants.values()),
        detectors=follow_ups.detectors,
        lanes=lanes,
        reworded=frozenset(follow_ups.scenarios),
    )


def level_of(project: Project, lanes: int) -> Level:
    """Return the error rates of each of so many lanes, so that a correct agent is flagged at most alpha per report."""
    statistics, settings = project.statistics, project.relations
    return Level(
        alpha=level_for(max(1, lanes), statistics.alpha_of_a_look),
        beta=statistics.beta,
        delta=statistics.delta,
        pairs=pairs_of(project),
        tolerance=settings.tolerance,
        margin=min(project.test.margin, (1 - settings.tolerance) / 2),
    )


def _lane(
    follow_ups: FollowUps, fit: Fit, agent: Agent, material: SourceMaterial, plan: RelationsPlan
) -> Lane:
    planned, silent = follow_ups.plan(fit.chosen, fit.scenario, agent, material, plan.seed)
    return Lane(
        Subject(fit.chosen, fit.scenario, agent, material),
        planned,
        Counter(silent),
        window=plan.window,
        to_the_end="to_the_end" in plan.settings,
    )


def _identity(lane: Lane) -> Counts | None:
    invariant = lane.subject.chosen.relation.expectation is Expectation.INVARIANT
    return lane.subject.identity(max(1, lane.again)) if invariant and lane.planned else None


def _rule(lane: Lane, identity: Counts | None, level: Level, tables: Tables) -> StoppingRule | None:
    if identity is None:
        design = SprtDesign(1 - level.tolerance, level.margin, level.alpha, level.beta, level.pairs)
        return Sprt(design, level.pairs)
    if not identity.pairs:
        return None
    return comparison(identity, level, tables)


def comparison(measure: Counts, level: Level, tables: Tables) -> SequentialComparison:
    """Return the kill rule with these violations as baseline. Raise `UsageError` for impossible settings."""
    design = KillDesign(level.alpha, level.beta, level.delta, level.pairs)
    try:
        return SequentialComparison(tables.get(measure.violations, measure.pairs, design))
    except ValueError as error:
        raise UsageError(f"these settings cannot be compared sequentially: {error}.") from None
