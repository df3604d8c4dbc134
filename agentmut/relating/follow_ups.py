"""Follow-up runs as trials: other turns make further scenarios, another config makes mutants."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import MutationError, RunError, canonical_json, digest_of, one_line
from agentmut.campaign import Session
from agentmut.nouns import (
    AgentConfig,
    Edit,
    Expectation,
    FollowUp,
    FollowUpRun,
    Intent,
    Mutant,
    OperatorClass,
    Reach,
    Scenario,
    Source,
    apply_edits,
)
from agentmut.relating.material import Ran, SourceMaterial
from agentmut.relating.relation_calls import asked_follow_up
from agentmut.seams import ChosenRelation
from agentmut.trial import Detector, SuiteConfig

SIGN = "~"
"""Between a scenario's name and the digest of other turns."""
NO_FOLLOW_UP = "its runs have nothing that the relation could change"
MASKED = "secrets were taken out of the run"


class TrialRef(NamedTuple):
    """A trial to be run."""

    mutant: str
    scenario: str
    repeat: int


class PlannedPair(NamedTuple):
    """A pair before its follow-up runs."""

    source: Ran
    follow_up: FollowUp
    trials: tuple[TrialRef, ...]


class Agent(NamedTuple):
    """The agent whose runs are paired: the original or a mutant."""

    config: AgentConfig
    """The suite's full config, or the mutant's."""
    mutant: Mutant | None = None

    @property
    def id(self) -> str:
        """Return the mutant's id; empty for the original."""
        return self.mutant.id if self.mutant else ""


@dataclass
class FollowUps:
    """Collects the scenarios and mutants that follow-up runs need. Equal follow-ups share one."""

    session: Session
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    """The further ones, by name."""
    mutants: dict[str, Mutant] = field(default_factory=dict)
    detectors: dict[str, Detector] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _own_names: frozenset[str] = field(init=False)
    """Names of the project's own scenarios."""

    def __post_init__(self) -> None:
        self._own_names = frozenset(scenario.name for scenario in self.session.project.scenarios)

    def plan(
        self, chosen: ChosenRelation, scenario: Scenario, agent: Agent, material: SourceMaterial, seed: int
    ) -> tuple[tuple[PlannedPair, ...], Counter[str]]:
        """Return a relation's pairs on a scenario, one for each source run, and why there are no more.

        A relation that judges each run alone compares nothing, so the runs that fitted the comparison serve it, too.
        Raises `RunError` for a relation that raises or asks for what cannot be.
        """
        planned: list[PlannedPair] = []
        silent: Counter[str] = Counter()
        used: Counter[tuple[str, str]] = Counter()
        fitted = {run.repeat for run in material.fitted}
        alone = chosen.relation.expectation is Expectation.PREDICATE  # so far: a follow-up with runs compares
        for run in (*material.sources, *(run for run in material.fitted if run.answered)):
            if run.repeat in fitted and not alone:
                break
            of = f"scenario {scenario.name}, run {run.repeat}"
            where = f"relation {chosen.label} on {of}"
            follow_up = None if run.masked else _follow_up(chosen, scenario, agent, run, seed, of)
            if follow_up is None:
                silent[MASKED if run.masked else NO_FOLLOW_UP] += 1
                continue
            alone = alone and not follow_up.runs
            if run.repeat in fitted and not alone:
                break
            kinds = [self._kind(one, scenario, agent, material, where) for one in follow_up.runs]
            if unfit := next((said for kind in kinds if (said := self._unfit(kind[0]))), ""):
                silent[unfit] += 1
                continue
            planned.append(
                PlannedPair(run, follow_up, tuple(_numbered(kinds, used, agent, scenario, material)))
            )
        return controls_first(planned, material), silent

    def opened(self) -> Session:
        """Return the session with the further scenarios in its suite. Only relations judge their runs."""
        project = self.session.project
        further = tuple(self.scenarios.values())
        chosen = (*self.session.scenarios, *further)
        evaluators = {**self.session.tests.evaluators, **{scenario.name: () for scenario in further}}
        base = self.session.suite
        return self.session._replace(
            project=project.model_copy(update={"scenarios": (*project.scenarios, *further)}),
            suite=SuiteConfig(base.base, chosen, on_wire=base.on_wire),
            scenarios=chosen,
            tests=self.session.tests._replace(
                scenarios={scenario.name: scenario for scenario in chosen}, evaluators=evaluators
            ),
        )

    def _kind(
        self, run: FollowUpRun, scenario: Scenario, agent: Agent, material: SourceMaterial, where: str
    ) -> tuple[str, str]:
        """Return the mutant and the scenario that a follow-up run is a trial of."""
        name = self._scenario(scenario, run.turns, where)
        return (self._mutant(agent, run.edits, material, where) if run.edits else agent.id), name

    def _scenario(self, scenario: Scenario, turns: tuple[JsonValue, ...] | None, where: str) -> str:
        if turns is None or turns == scenario.turns:
            return scenario.name
        if not turns:
            raise RunError(
                f"{where}: its follow-up has no turns. A follow-up has at least one, or none at all"
            )
        try:
            written = scenario.name, canonical_json(list(turns))
        except (ValueError, TypeError) as error:  # NaN, say
            raise RunError(
                f"{where}: the turns of its follow-up are no JSON: {one_line(error)}. Correct the relation"
            ) from error
        if written not in self._names:
            name = f"{scenario.name}{SIGN}{digest_of(list(turns))[:8]}"
            while name in self.scenarios or name in self._own_names:
                name += SIGN
            self._names[written] = name
            self.scenarios[name] = scenario.model_copy(update={"name": name, "turns": turns})
        return self._names[written]

    def _mutant(self, agent: Agent, edits: tuple[Edit, ...], material: SourceMaterial, where: str) -> str:
        parts = [edit.model_dump(mode="json") for edit in edits]
        id = digest_of(["relation", agent.id, parts])[:12]
        if id not in self.mutants:
            try:
                self._add(id, agent, edits, material)
            except MutationError as error:
                raise RunError(f"{where}: {error}") from error
        return id

    def _add(self, id: str, agent: Agent, edits: tuple[Edit, ...], material: SourceMaterial) -> None:
        change = _mutant(id, edits)
        told = Detector(change, agent.config).informed(material.footprints)
        full = self.session.suite.full
        changed = apply_edits(agent.config, edits)
        self.mutants[id] = change if agent.mutant is None else _mutant(id, _whole_parts(full, changed))
        self.detectors[id] = told

    def _unfit(self, mutant: str) -> str:
        found = self.mutants.get(mutant)
        said = self.session.adapter.cannot_express(found) if found else ""
        return f"the agent cannot be run with the change: {said}" if said else ""


def controls_first(planned: Sequence[PlannedPair], material: SourceMaterial) -> tuple[PlannedPair, ...]:
    """Return the pairs, with those first whose sources start a group of the identity relation."""
    size = 1 + max((len(one.trials) for one in planned), default=0)
    if size == 1:
        return tuple(planned)
    place = {run.repeat: position for position, run in enumerate(material.runs)}
    return tuple(sorted(planned, key=lambda one: place[one.source.repeat] % size != 0))


def _follow_up(
    chosen: ChosenRelation, scenario: Scenario, agent: Agent, run: Ran, seed: int, where: str
) -> FollowUp | None:
    rng = random.Random(digest_of([seed, chosen.label, scenario.name, run.repeat]))
    source = Source(scenario.as_run(run.trace), agent.config, run.trace, rng)
    return asked_follow_up(chosen, source, where)


def _numbered(
    kinds: Iterable[tuple[str, str]],
    used: Counter[tuple[str, str]],
    agent: Agent,
    scenario: Scenario,
    material: SourceMaterial,
) -> Iterable[TrialRef]:
    """Yield the trials with a repeat for each kind; the original's repeats follow its source runs."""
    for kind in kinds:
        first = material.first_free if kind == (agent.id, scenario.name) else 0
        yield TrialRef(*kind, first + used[kind])
        used[kind] += 1


def _mutant(id: str, edits: tuple[Edit, ...]) -> Mutant:
    return Mutant(
        id=id,
        operator="control.relation",
        version=1,
        operator_class=OperatorClass.CONTROL,
        intent=Intent.CONTROL,
        reach=Reach.SENT,
        description="what a relation changes",
        edits=edits,
    )


def _whole_parts(full: AgentConfig, changed: AgentConfig) -> tuple[Edit, ...]:
    """Return the changed parts of the config as edits of the full config, which a mutant's edits refer to."""
    before: Mapping[str, JsonValue] = full.model_dump(mode="json")
    after: Mapping[str, JsonValue] = changed.model_dump(mode="json")
    return tuple(
        Edit(pointer=f"/{part}", before=before[part], after=after[part])
        for part in before
        if before[part] != after[part]
    )
