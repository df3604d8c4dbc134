"""A kickoff of a CrewAI crew: hooks record the trace, and CrewAI reports nothing elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentmut._base import jsonable
from agentmut.adapters._shared.call_ids import CallIds, parsed
from agentmut.adapters.crewai.crew import Team
from agentmut.adapters.crewai.tools import failure_in, passed_on
from agentmut.nouns import END, START, Action, Exchange, Step
from agentmut.recording import CallPlace, Trial, place_calls

COWORKER = "coworker"
"""The argument of CrewAI's tools for delegation that names the agent."""


class Watch:
    """Records which agent does what for which task, by hooks of one kickoff.

    CrewAI calls tools that a model asks for together in several threads.
    """

    def __init__(self, team: Team, targets: Mapping[str, str], trial: Trial, turn: int) -> None:
        self._roles = {id(agent): role for role, agent in team.agents.items()}
        self._tasks = {id(task): name for name, task in team.tasks.items()}
        self._targets = targets
        self._trial = trial
        self._turn = turn
        self._last = START
        self._ids = CallIds(trial.recorder)
        self._begun: dict[int, _OpenCall] = {}

    def hooks(self) -> dict[Any, list[Callable[[Any], None]]]:
        """Return the hooks for `crewai.hooks.dispatch.scoped_hooks`."""
        from crewai.hooks.dispatch import InterceptionPoint

        return {
            InterceptionPoint.PRE_MODEL_CALL: [self.asks],
            InterceptionPoint.PRE_TOOL_CALL: [self.calls],
            InterceptionPoint.POST_TOOL_CALL: [self.called],
        }

    def asks(self, context: Any) -> None:
        """Note that a model is about to be asked."""
        role = self._role(context)
        place_calls(CallPlace(turn=self._turn, node=role))
        recorder = self._trial.recorder
        if role:
            recorder.nodes.add(role)
        name = self._tasks.get(id(context.task))
        if name and name != self._last:
            recorder.nodes.add(name)
            recorder.edges[self._last, name] = None
            self._last = name

    def calls(self, context: Any) -> None:
        """Note that a tool is about to be called."""
        begun = self._begin(context)
        place_calls(begun.place)
        self._begun[id(context.tool_input)] = begun
        if not passed_on(context.tool):
            self._delegate(begun.place.node, context.tool_input)

    def called(self, context: Any) -> None:
        """Record a tool's answer; CrewAI's own tools and refused calls are steps, too."""
        begun = self._begun.pop(id(context.tool_input), None) or self._begin(context)
        recorder, own = self._trial.recorder, passed_on(context.tool)
        name = own.own_name if own else self._trial.own_name(context.tool_name)
        if own and any(_is_of(step, name, begun.place) for step in recorder.steps[begun.before :]):
            return
        error = str(context.tool_result) if own else failure_in(context.tool_result)
        outcome = {"error": error} if error else {"output": jsonable(context.tool_result)}
        recorder.note_call(name, begun.given, begun.started, **outcome, **begun.place._asdict())

    def _begin(self, context: Any) -> "_OpenCall":
        recorder, role = self._trial.recorder, self._role(context)
        given = dict(context.tool_input)
        place = CallPlace(self._turn, role, self._ids.claim(context.tool_name, given, self._is_of(role)))
        return _OpenCall(recorder.now(), len(recorder.steps), place, given)

    def _is_of(self, role: str | None) -> Callable[[Exchange], bool]:
        return lambda exchange: exchange.node == role and exchange.turn == self._turn

    def note_unread(self) -> None:
        """Record calls whose arguments CrewAI could not read as failed steps, since no hook sees them."""
        recorder = self._trial.recorder
        for asked in reversed(self._ids.left(lambda exchange: exchange.turn == self._turn)):
            if parsed(asked.call.arguments) is None:
                exchange = recorder.exchanges[asked.reply]
                step = Step(
                    action=Action.CALL_TOOL,
                    tool=self._trial.own_name(asked.call.name),
                    error=f"the arguments are no JSON: {asked.call.arguments:.200}",
                    started=exchange.started + exchange.seconds,
                    turn=self._turn,
                    node=exchange.node,
                    call_id=asked.call.id,
                )
                recorder.steps.append(step)

    def ended(self) -> None:
        """Note that the crew is done."""
        self._trial.recorder.edges[self._last, END] = None

    def _delegate(self, role: str | None, arguments: dict[str, Any]) -> None:
        """Record the target of delegated work, or change it: CrewAI lets hooks change arguments in place."""
        asked = str(arguments.get(COWORKER, "")).strip().casefold()
        target = self._targets.get(asked)
        if target:
            arguments[COWORKER] = target
        found = target or next((name for name in self._roles.values() if name.casefold() == asked), None)
        if role and found:
            self._trial.recorder.edges[role, found] = None

    def _role(self, context: Any) -> str | None:
        return self._roles.get(id(context.agent)) or getattr(context.agent, "role", None)


class _OpenCall(NamedTuple):
    """A call of a tool that is under way."""

    started: float
    before: int
    """How many steps there were."""
    place: CallPlace
    given: dict[str, Any]


def _is_of(step: Step, tool: str, place: CallPlace) -> bool:
    return (step.tool, step.turn, step.node, step.call_id) == (tool, *place)


def kicked_off(team: Team, inputs: dict[str, Any], watch: Watch) -> Any:
    """Return the crew's answer. Blocks; its threads have the caller's context."""
    from crewai.events.listeners.tracing.utils import set_suppress_tracing_messages
    from crewai.hooks.dispatch import scoped_hooks

    set_suppress_tracing_messages(True)
    try:
        with scoped_hooks(watch.hooks()):
            result = team.crew.kickoff(inputs=inputs)
    finally:
        watch.note_unread()
    watch.ended()
    if result.pydantic is not None:
        return jsonable(result.pydantic.model_dump())
    return jsonable(result.json_dict) if result.json_dict is not None else result.raw
