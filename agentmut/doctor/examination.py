"""Runs an agent as it is, and with one harmless change after the other by each route."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Literal, NamedTuple

from agentmut._base import UsageError, signs_of_life
from agentmut.campaign import (
    Session,
    could_isolate,
    declared_variables,
    make_executor,
    open_session,
    refuse_without_texts,
    trial_id,
)
from agentmut.doctor.advice import UNRUNNABLE, advice_of, any_of, of_spelling, sentences
from agentmut.doctor.beforehand import checks
from agentmut.doctor.kept_request import KeptRequest, kept_request
from agentmut.doctor.other_surroundings import can_shift, elsewhere, programs_elsewhere, shifted, unshifted
from agentmut.doctor.probing import TriedChange, in_groups, in_runs, together, tried_parts
from agentmut.doctor.sending import differences, kinds_of, unlike_saved
from agentmut.doctor.watching import as_program, loaded, unseen, watched
from agentmut.nouns import AgentConfig, Ending, Execution, Footprint, Mutant, Outcome
from agentmut.project import Project
from agentmut.recording import Redactor, TextKeeping
from agentmut.seams import AsksNoModel, RunsOutside
from agentmut.store import Arrival, Delivered, Diagnosis, Part
from agentmut.trial import (
    KEPT_REPLIES,
    OUTSIDE,
    Delivery,
    Detector,
    OnWire,
    Remedy,
    Route,
    TrialRequest,
    absence,
    inside,
    remedy_on_wire,
)

RouteName = Literal["rebuild", "wire"]
RAN = frozenset({Ending.ANSWERED, Ending.EMPTY_ANSWER})
_ARRIVED = frozenset({Arrival.ALL, Arrival.PARTLY})


class Examination(NamedTuple):
    """What was found, and the request that the unchanged agent sent, where it was to be kept."""

    diagnosis: Diagnosis
    kept: KeptRequest | None = None


def plan_of(session: Session, *, keeps_request: bool = False) -> str:
    """Return how often the agent is run at most, and what for."""
    parts = [one.part for one in tried_parts(session.suite.full, ())]
    if keeps_request:
        parts = list(dict.fromkeys(["prompt", "tool description", *parts]))
        return (
            f"doctor runs the agent at most {5 + in_runs(parts)} times. First it runs the unchanged agent on scenario "
            f"{session.scenarios[0].name}, with another clock, user and folder, and on another scenario, to find what "
            f"moves in its requests. Then it makes a harmless change of each part ({', '.join(parts)}), by rebuild and "
            "by wire."
        )
    trials = 1 + in_runs(parts) + min(len(parts), 2)  # on the wire, changes of texts go together
    return (
        f"doctor runs the agent at most {trials} times on scenario {session.scenarios[0].name}: once unchanged, then "
        f"with a harmless change of each part ({', '.join(parts)}), by rebuild and by wire.{_left_out(session)}"
    )


def _left_out(session: Session) -> str:
    """Say that undeclared parts are not tried, so that nobody takes silence for success."""
    base = session.suite.full
    missing = [
        name
        for name, there in (("prompt", base.prompt or base.workspace), ("tools", base.tools))
        if not there
    ]
    return f" agent.config declares no {any_of(missing)}, so no change of that is tried." if missing else ""


def before_running(session: Session, variables: Mapping[str, str]) -> Diagnosis:
    """Return what can be told without running the agent; `variables` are those of its environment."""
    project = session.project
    return Diagnosis(
        project=project.path.name,
        adapter=project.agent.adapter,
        scenario=session.scenarios[0].name,
        checks=tuple(checks(session, variables)),
        route="wire" if isinstance(session.adapter, OnWire) else "rebuild",
    )


def examine(session: Session, before: Diagnosis, redactor: Redactor, kept_in: str = "") -> Examination:
    """Run the trials, on the session's first scenario, and say what they show.

    `kept_in` is the file that will hold the agent's request, where one was asked for. Then the unchanged agent is run
    twice more, and what the project does not declare is taken from the request, so that all parts are tried.

    A change of the model's settings goes by itself, as a service may refuse it. Changes of texts go together on the
    wire, where none can keep the agent from being built; by rebuild, those of prompt and document do.
    """
    if kept_in:
        refuse_without_texts(session, "`agentmut doctor --save-request`")
    session = session._replace(tests=session.tests._replace(texts=TextKeeping()))  # nothing of it is stored
    with signs_of_life(session.project.execution.timeout, contained=True):
        return asyncio.run(_examined(session, before, redactor, kept_in))


async def _examined(session: Session, before: Diagnosis, redactor: Redactor, kept_in: str) -> Examination:
    ward = _Ward(session, redactor)
    as_it_is = await ward.as_it_is()
    said, seen = ward.ending_in_words(as_it_is), as_it_is.footprint
    found = before.model_copy(
        update={
            "trials": 1,
            "ran": as_it_is.ending in RAN,
            "said": said,
            "requests": kinds_of(seen),
            "differences": differences(ward.base, seen.requests),
        }
    )
    if not found.ran:
        return Examination(found.model_copy(update={"advice": (*sentences(seen.unread), UNRUNNABLE)}))
    kept = kept_request([seen, *await ward.other_runs()]) if kept_in else None
    if kept:
        ward.adopt(kept.config, _saved_anew(session.project, kept_in))
        found = found.model_copy(
            update={"moving": kept.moving, "differences": differences(ward.base, seen.requests)}
        )
    parts = await _parts(ward, seen)
    routes = {
        "rebuild": any(part.rebuild.arrival in _ARRIVED for part in parts),
        "wire": any(part.wire.arrival in _ARRIVED for part in parts),
    }
    update = {"trials": ward.runs, "parts": parts, "routes": routes, "remembers": ward.remembers}
    found = found.model_copy(update=update)
    is_unnamed = kept is not None and ward.adopted and not session.project.sources.recorded
    kept_name = kept_in if is_unnamed else ""
    advice = (
        *of_spelling(_first_asked(seen), session.scenarios[0].turns),
        *advice_of(found, kept_name, ward.clock, seen.strangers, reads_files=bool(ward.base.workspace)),
    )
    if kept is None and (outdated := unlike_saved(session.project, seen.requests)):
        advice = (*sentences([outdated]), *advice)
    return Examination(found.model_copy(update={"advice": advice}), kept)


async def _parts(ward: "_Ward", seen: Footprint) -> tuple[Part, ...]:
    """Return what arrives of a change of each part, by either route."""
    tried = list(tried_parts(ward.base, seen.requests))
    rebuilt = await ward.by_rebuild(tried)
    wired = await ward.by_wire(tried, seen)
    return tuple(
        Part(name=change.part, probe=change.description, rebuild=rebuild, wire=wire)
        for change, rebuild, wire in zip(tried, rebuilt, wired, strict=True)
    )


class _Ward:
    """The agent under examination, with the number of its runs and what they have shown of it."""

    def __init__(self, session: Session, redactor: Redactor) -> None:
        self._session = session
        self._redactor = redactor
        self._scenario = session.scenarios[0].name
        self.runs = 0
        self._asked = ""
        """What the first run was asked first."""
        self.remembers = False
        """Whether a later run began with that and more: with what an earlier one was told."""
        self.adopted = False
        """Whether parts that the project does not declare were taken from a request."""
        self._deeds: tuple[str, ...] = ()
        """What the first run did, where trials run in this process."""
        self._sent_before = False
        """Whether that run sent model requests."""
        self.clock = ""
        """Why clock, user and folder could not be others, where they were to be."""

    @property
    def base(self) -> AgentConfig:
        """Return the config that changes are made of."""
        return self._session.suite.full

    def adopt(self, config: AgentConfig, anew: frozenset[str]) -> None:
        """Take from the config of a request what the project does not declare, and the parts `anew`."""
        project = self._session.project
        completed = _completed(project, config, anew)
        if completed != project:
            self.adopted = True
            self._session = open_session(completed, (self._scenario,))

    async def as_it_is(self) -> Execution:
        """Run the unchanged agent, and watch what it does beside model requests."""
        with watched() as deeds:
            (execution,) = await self.trials([None])
        self._deeds = deeds()
        self._sent_before = bool(execution.footprint.requests)
        return execution

    async def other_runs(self) -> list[Footprint]:
        """Run the unchanged agent elsewhere at another time, and on another scenario; that tells what moves."""
        first = await self._elsewhere()
        done = [first.footprint]
        names = [scenario.name for scenario in self._session.project.scenarios]
        if other := next((name for name in names if name != self._scenario), None):
            here, self._scenario, held = self._session, other, self._scenario
            self._session = open_session(here.project, (other,))
            with shifted() if can_shift() and first.ending not in RAN else nullcontext():
                done += [execution.footprint for execution in await self.trials([None])]
            self._session, self._scenario = here, held
        return done

    async def _elsewhere(self) -> Execution:
        """Run the agent with another clock, user, host, home, working folder, language and time zone."""
        with (
            shifted() if can_shift() else nullcontext(),
            elsewhere(declared_variables(self._session.project)),
            self._others() as unmoved,
        ):
            (execution,) = await self.trials([None])
        if execution.ending not in RAN:
            self.clock = (
                "The run with another clock, user, host and folder (HOME, USER, HOSTNAME, LANG, TZ) ended with "
                f"{execution.ending}: {execution.reason}"
            )
        else:
            self.clock = unmoved
        return execution

    def _others(self) -> AbstractContextManager[str]:
        """Put the agent's program on another machine; yield what stays the same, in a sentence."""
        agent = self._session.project.agent
        if not isinstance(inside(self._session.adapter), RunsOutside):
            return nullcontext(unshifted())
        if agent.command and "container" not in agent.options:
            return programs_elsewhere()
        return nullcontext(
            "The agent runs where doctor cannot give it another clock, user, host and folder: words of requests that "
            "depend on these may stay unnoticed"
        )

    async def trials(
        self, mutants: Sequence[Mutant | None], route: RouteName | None = None
    ) -> list[Execution]:
        """Run these mutants one after the other; None stands for the original."""
        session = self._session_by(route) if route else self._session
        executor = make_executor(session)
        seed = session.project.statistics.seed
        done: list[Execution] = []
        async with executor.session():
            for mutant in mutants:
                identity = trial_id(seed, mutant.id if mutant else "", self._scenario, 0)
                done.append(await executor.execute(TrialRequest(mutant, self._scenario, identity)))
        self.runs += len(done)
        for asked in (_first_asked(execution.footprint) for execution in done):
            self._asked = self._asked or asked
            self.remembers |= bool(asked) and asked.count(self._asked) > 1
        return [self._session.tests.storable(self._scenario, execution, self._redactor) for execution in done]

    def ending_in_words(self, execution: Execution) -> str:
        """Return how a run ended, in words."""
        result = self._session.tests.result(self._scenario, execution, None)
        if execution.ending not in RAN:
            return f"{execution.ending.value.replace('_', ' ')}: {execution.reason}"
        if result.outcome is Outcome.PASS:
            return "answered, and passes"
        return f"answered, and fails: {result.reason}"

    async def by_rebuild(self, tried: Sequence[TriedChange]) -> list[Delivered]:
        """Return what arrives of agents that are built anew. What another program is not told of is not tried."""
        withheld = [self._withheld(one) for one in tried]
        groups = in_groups([one for one, why in zip(tried, withheld, strict=True) if not why])
        try:
            done = await self.trials([together(group) for group in groups], "rebuild") if groups else []
        except UsageError as error:
            # A function that takes the input alone is refused this route before anything runs.
            return [Delivered(arrival=Arrival.NONE, said=str(error)) for _ in tried]
        found = {
            one.part: self._judged(one, execution, "rebuild")
            for group, execution in zip(groups, done, strict=True)
            for one in group
        }
        return [
            Delivered(arrival=Arrival.NONE, said=why) if why else found[one.part]
            for one, why in zip(tried, withheld, strict=True)
        ]

    async def by_wire(self, tried: Sequence[TriedChange], seen: Footprint) -> list[Delivered]:
        """Try mutants on the wire: changes of texts together, the model's alone; none where no request was seen."""
        if not seen.requests:
            if refused := self._refused("wire"):
                return [Delivered(arrival=Arrival.NONE, said=refused) for _ in tried]
            said = self._unseen(seen) or absence(tried[0].mutant, self.base, [seen], self._remedy("wire"))
            return [Delivered(arrival=Arrival.NONE, said=said) for _ in tried]
        texts = [one for one in tried if one.edit.part != "model"]
        others = [one for one in tried if one.edit.part == "model"]
        groups = [group for group in (texts, others) if group]
        done = await self.trials([together(group) for group in groups], "wire")
        found = {
            one.part: self._judged(one, execution, "wire")
            for group, execution in zip(groups, done, strict=True)
            for one in group
        }
        return [found[one.part] for one in tried]

    def _unseen(self, seen: Footprint) -> str:
        """Return what the agent did instead of a model request; an empty text where it cannot be watched."""
        if seen.strangers or not could_isolate(self._session):
            return ""
        program = as_program(self._session.project.agent.run or "")
        return f"no model request was seen: {unseen(self._deeds, loaded(), program)}"

    def _withheld(self, change: TriedChange) -> str:
        adapter = inside(self._session.adapter)
        if not isinstance(adapter, RunsOutside):
            return adapter.cannot_express(change.mutant)
        place = ".".join(part for part in change.edit.path if not part.isdigit())
        if any(place == path or place.startswith(f"{path}.") for path in adapter.carries):
            return ""
        return f"the agent runs elsewhere and does not get the change: {OUTSIDE}"

    def _refused(self, route: RouteName) -> str:
        """Return why no change can take this route."""
        if route == "wire" and isinstance(inside(self._session.adapter), AsksNoModel):
            return "runs of this adapter ask no model, so there are no requests to change"
        try:
            self._session_by(route)
        except UsageError as error:
            return str(error)
        return ""

    def _remedy(self, route: RouteName) -> Remedy | None:
        agent = inside(self._session.adapter)
        return remedy_on_wire(OnWire(agent, agent.get_config())) if route == "wire" else None

    def _session_by(self, route: RouteName) -> Session:
        project = self._session.project
        spec = project.agent.model_copy(update={"route": route})
        return open_session(project.model_copy(update={"agent": spec}), (self._scenario,))

    def _judged(self, change: TriedChange, execution: Execution, route: RouteName) -> Delivered:
        base, seen = self._session.suite.full, execution.footprint
        witness = Detector(change.mutant, base).witness(seen)
        ended = (
            "" if execution.ending in RAN else f"the run ended with {execution.ending}: {execution.reason}"
        )
        if witness is None:
            if execution.ending is Ending.UNBUILDABLE or (ended and not seen.requests and not seen.reads):
                return Delivered(arrival=Arrival.UNKNOWN, said=ended)
            kept = self._sent_before and not ended and not (seen.requests or seen.strangers or seen.reads)
            cause = KEPT_REPLIES if kept else absence(change.mutant, base, [seen], self._remedy(route))
            return Delivered(arrival=Arrival.NONE, said="; ".join(filter(None, (cause, ended))))
        delivery = Delivery()
        delivery.record(witness, seen)
        notes = [
            ended,
            "it was read from the config; no request shows it" if witness.route is Route.READ else "",
        ]
        return Delivered(
            arrival=Arrival.PARTLY if delivery.shown < delivery.could else Arrival.ALL,
            shown=delivery.shown,
            could=delivery.could,
            first_missed=bool(delivery.first_missed),
            said="; ".join(filter(None, notes)),
        )


def _saved_anew(project: Project, kept_in: str) -> frozenset[str]:
    """Return the parts and settings that the project has from the file that is about to be written anew."""
    kept, recorded = Path(kept_in).resolve(), project.sources.recorded
    return frozenset(name for name, file in recorded.items() if (project.root / file).resolve() == kept)


def _completed(project: Project, recorded: AgentConfig, anew: frozenset[str]) -> Project:
    """Return the project with a config that has from a request what it does not declare, and what is `anew`."""
    config = project.config
    texts = [name for name in ("prompt", "tools") if name in anew or not getattr(config, name)]
    parts = {name: getattr(recorded, name) for name in texts}
    own = config.model.model_fields_set - {name.removeprefix("model/") for name in anew}
    named = {name: getattr(config.model, name) for name in own}
    model = recorded.model.model_copy(update=named)
    return project.model_copy(update={"config": config.model_copy(update={**parts, "model": model})})


def _first_asked(seen: Footprint) -> str:
    """Return the messages of the user in the first request of a run."""
    if not seen.requests:
        return ""
    first = seen.requests[seen.exchanges[0]]
    return first.text[first.system :].strip()
