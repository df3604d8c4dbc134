"""The observation of an ADK run: its place in the tree, for the trace, and the targets of hand-offs."""

from collections.abc import Mapping
from typing import Any

from google.adk.agents import LoopAgent, ParallelAgent, SequentialAgent
from google.adk.plugins.base_plugin import BasePlugin

from agentmut._base import described, jsonable
from agentmut.nouns import END, START
from agentmut.recording import CallPlace, Trial, call_place, place_calls

WORKFLOWS = (SequentialAgent, ParallelAgent, LoopAgent)
TRANSFER = "transfer_to_agent"
"""The tool that ADK gives to agents that can hand over."""
Redirects = Mapping[str, Mapping[str, str]]
"""By the agent that hands over: to which agent a transfer to another one leads instead."""


class Watch(BasePlugin):
    """Records which agents ran, whose turn it is, and the calls of ADK's own tools.

    It comes before the plugins of the user, and never answers in anybody's place.
    """

    def __init__(self, trial: Trial, redirects: Redirects, before: Mapping[str, frozenset[str]]) -> None:
        super().__init__(name="agentmut")
        self._recorder = trial.recorder
        self._redirects = redirects
        self._before = before
        """By the agents of a graph: which agents can have run right before."""
        self._last = START
        self._forks: dict[str, str] = {}
        self._begun: dict[tuple[str, str | None], tuple[float, int]] = {}
        """By agent and id, which some services give again: when a call began, and after how many steps."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Record the beginning of an agent; an agent that only runs others is no node."""
        if isinstance(agent, ParallelAgent):
            self._forks[agent.name] = self._last
        if isinstance(agent, WORKFLOWS):
            return
        above = agent.parent_agent.name if agent.parent_agent else ""
        self._recorder.nodes.add(agent.name)
        if agent.name in self._before:
            ran = self._before[agent.name] & {START, *self._recorder.nodes}
            self._recorder.edges |= dict.fromkeys((name, agent.name) for name in sorted(ran))
        elif self._last != agent.name:
            self._recorder.edges[self._forks.get(above, self._last), agent.name] = None
        self._last = agent.name

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """End the turn; the next turn begins a new path."""
        self._recorder.edges[self._last, END] = None
        self._last = START

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Attribute the requests of this task to the agent from here on."""
        place_calls(CallPlace(call_place().turn, callback_context.agent_name))

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> dict[str, Any] | None:
        """Note that a call begins."""
        begun = (self._recorder.now(), len(self._recorder.steps))
        self._begun[tool_context.agent_name, tool_context.function_call_id] = begun
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Record the answer of a call."""
        target = tool_context.actions.transfer_to_agent
        if tool.name == TRANSFER and target:
            redirects = self._redirects.get(tool_context.agent_name, {})
            tool_context.actions.transfer_to_agent = redirects.get(target, target)
        self._note(tool, tool_args, tool_context, output=jsonable(result))
        return None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> dict[str, Any] | None:
        """Record a call that failed or named an unknown tool."""
        self._note(tool, tool_args, tool_context, error=described(error))
        return None

    def _note(self, tool: Any, arguments: dict[str, Any], context: Any, **outcome: Any) -> None:
        """Return the step of a call that no hook has seen: of ADK's own tools, and calls that callbacks answer."""
        node, call_id = context.agent_name, context.function_call_id
        started, before = self._begun.pop((node, call_id), (self._recorder.now(), 0))
        if any((step.node, step.call_id) == (node, call_id) for step in self._recorder.steps[before:]):
            return
        place = CallPlace(call_place().turn, node, call_id)._asdict()
        told = {name: jsonable(value) for name, value in arguments.items()}
        self._recorder.note_call(tool.name, told, started, **outcome, **place)
