"""A kickoff of a CrewAI crew: watched by hooks for the trace, with nothing reported elsewhere."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from agentmut.adapters._crewai_crew import Team
from agentmut.adapters._crewai_tools import PassedOn
from agentmut.flow import END, START
from agentmut.plain import jsonable
from agentmut.trial import CallPlace, Trial, call_tool_step, place_calls

COWORKER = "coworker"
"""The argument of CrewAI's tools for delegation that names the agent."""


class Watch:
    """Notes which agent does what for which task, in hooks of one kickoff.

    CrewAI calls tools that a model asks for together in several threads.
    """

    def __init__(self, team: Team, targets: Mapping[str, str], trial: Trial, turn: int) -> None:
        self._roles = {id(agent): role for role, agent in team.agents.items()}
        self._tasks = {id(task): name for name, task in team.tasks.items()}
        self._targets = targets
        self._trial = trial
        self._turn = turn
        self._last = START
        self._used: set[str] = set()
        self._begun: dict[int, tuple[float, CallPlace, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def hooks(self) -> dict[Any, list[Callable[[Any], None]]]:
        """For `crewai.hooks.dispatch.scoped_hooks`."""
        from crewai.hooks.dispatch import InterceptionPoint

        return {
            InterceptionPoint.PRE_MODEL_CALL: [self.asks],
            InterceptionPoint.PRE_TOOL_CALL: [self.calls],
            InterceptionPoint.POST_TOOL_CALL: [self.called],
        }

    def asks(self, context: Any) -> None:
        """A model is about to be asked."""
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
        """A tool is about to be called."""
        role = self._role(context)
        given = dict(context.tool_input)
        place = CallPlace(self._turn, role, self._call_id(role, context.tool_name, given))
        place_calls(place)
        if not self._is_passed_on(context):
            self._begun[id(context.tool_input)] = (self._trial.recorder.now(), place, given)
            self._delegate(role, context.tool_input)

    def called(self, context: Any) -> None:
        """A tool has answered: those that CrewAI itself adds are steps, too."""
        begun = self._begun.pop(id(context.tool_input), None)
        if begun is None:
            return
        started, place, given = begun
        recorder = self._trial.recorder
        step = call_tool_step(
            context.tool_name,
            given,
            recorder,
            started,
            output=jsonable(context.tool_result),
            **place._asdict(),
        )
        recorder.steps.append(step)

    def ended(self) -> None:
        """The crew is done."""
        self._trial.recorder.edges[self._last, END] = None

    def _delegate(self, role: str | None, arguments: dict[str, Any]) -> None:
        """Note whom work goes to, or have it go to another: CrewAI lets hooks change arguments in place."""
        asked = str(arguments.get(COWORKER, "")).strip().casefold()
        target = self._targets.get(asked)
        if target:
            arguments[COWORKER] = target
        found = target or next((name for name in self._roles.values() if name.casefold() == asked), None)
        if role and found:
            self._trial.recorder.edges[role, found] = None

    def _role(self, context: Any) -> str | None:
        return self._roles.get(id(context.agent)) or getattr(context.agent, "role", None)

    def _is_passed_on(self, context: Any) -> bool:
        return isinstance(getattr(context.tool, "_original_tool", None), PassedOn)

    def _call_id(self, role: str | None, name: str, arguments: dict[str, Any]) -> str | None:
        """The id of the call, which CrewAI does not tell, from the model's reply."""
        with self._lock:
            for exchange in reversed(self._trial.recorder.exchanges):
                if exchange.node == role and exchange.reply:
                    for call in exchange.reply.tool_calls:
                        fits = call.name == name and _parsed(call.arguments) == arguments
                        if fits and call.id not in self._used:
                            self._used.add(call.id)
                            return call.id
        return None


def kicked_off(team: Team, inputs: dict[str, Any], watch: Watch) -> Any:
    """What the crew says. Blocks; its threads see the context of the caller."""
    from crewai.events.listeners.tracing.utils import set_suppress_tracing_messages
    from crewai.hooks.dispatch import scoped_hooks

    set_suppress_tracing_messages(True)
    with scoped_hooks(watch.hooks()):
        result = team.crew.kickoff(inputs=inputs)
    watch.ended()
    if result.pydantic is not None:
        return jsonable(result.pydantic.model_dump())
    return jsonable(result.json_dict) if result.json_dict is not None else result.raw


def _parsed(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None
