"""Agents of LlamaIndex that hand over to each other: read, and copied with changes."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.react import ReActChatFormatter
from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent, FunctionAgent, ReActAgent
from llama_index.core.agent.workflow.base_agent import DEFAULT_MAX_ITERATIONS
from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.workflow import Context
from pydantic import JsonValue

from agentmut._base import AdapterError
from agentmut.adapters._shared.change import Change, distinct
from agentmut.adapters._shared.members import Members, check_chosen
from agentmut.adapters.llama_index.model import changed_model, model_of
from agentmut.adapters.llama_index.tools import Place, offered, spec_of
from agentmut.nouns import AgentConfig, Flow

HANDOFF = "handoff"
"""The tool by which agents of a workflow hand over."""
Targets = Mapping[str, str]
"""Where a hand-off leads, by the agent that it names."""


def is_agent(found: Any) -> bool:
    """Return whether it is an agent whose prompt and tools can be changed, or a workflow of such."""
    if isinstance(found, AgentWorkflow):
        return all(map(is_agent, found.agents.values()))
    return isinstance(found, FunctionAgent | ReActAgent)


@dataclass(frozen=True)
class Team(Members[BaseWorkflowAgent]):
    """All agents that can take part in a run, by name."""

    whole: Any

    @classmethod
    def from_agent(cls, whole: Any, chosen: JsonValue = None) -> "Team":
        """Return an agent, or the agents of a workflow. Raises `AdapterError` for an unknown name."""
        single = not isinstance(whole, AgentWorkflow)
        members = {whole.name: whole} if single else dict(whole.agents)
        root = whole.name if single else whole.root_agent
        check_chosen(chosen, members)
        for agent in members.values():
            _check(agent)
        return cls(members, str(chosen or root), whole)

    @property
    def config(self) -> AgentConfig:
        """Return what is read of the team."""
        agent = self.changed_agent
        return AgentConfig(
            prompt=_prompt(agent),
            tools=distinct(spec_of(tool) for member in self.members.values() for tool in _tools(member)),
            model=model_of(agent.llm),
            orchestration=self.flow,
        )

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the limit of steps, and who may hand over to whom."""
        handoffs = self.handoffs(lambda name, _: {target: target for target in self._targets(name)})
        return {"max_steps": DEFAULT_MAX_ITERATIONS, **handoffs}

    def _targets(self, name: str) -> list[str]:
        allowed = self.members[name].can_handoff_to
        others = [other for other in self.members if other != name]
        return others if allowed is None else [other for other in others if other in allowed]

    def changed(self, change: Change, place: Callable[[str], Place]) -> Any:
        """Return a copy that differs by `change`. Nothing of the original is touched."""
        wanted = Flow.from_orchestration(change.wanted.orchestration).handoffs
        leads: dict[str, Targets] = {name: wanted.get(name, {}) for name in self.members}
        copies = {
            name: self._copy(agent, change, list(leads[name]), place(name))
            for name, agent in self.members.items()
        }
        if not isinstance(self.whole, AgentWorkflow):
            return next(iter(copies.values()))
        whole = copy.copy(self.whole)
        whole.agents = copies
        whole.get_tools = _leading(whole.get_tools, leads)
        return whole

    def _copy(
        self, agent: BaseWorkflowAgent, change: Change, targets: list[str], place: Place
    ) -> BaseWorkflowAgent:
        mine = agent.name == self.changed_name
        own = {tool.metadata.get_name(): tool for tool in _tools(agent)}
        offers = change.offers(list(own), decoys=mine, described=lambda name: spec_of(own[name]))
        update: dict[str, Any] = {
            "tools": [offered(offer, own.get(offer.spec.own_name), place) for offer in offers],
            "llm": changed_model(agent.llm, change.model if mine else {}, agent.name),
        }
        if targets != self._targets(agent.name):
            update["can_handoff_to"] = targets
        if mine and change.prompt is not None:
            update |= _with_prompt(agent, change.prompt)
        return agent.model_copy(update=update)


def _check(agent: BaseWorkflowAgent) -> None:
    """Raise `AdapterError` for an agent that would fail in every run."""
    try:
        able = agent.llm.metadata.is_function_calling_model
    except ValueError:  # a model that its client does not know; the run will say so
        return
    if isinstance(agent, FunctionAgent) and not able:
        raise AdapterError(
            f"the agent {agent.name!r} is a FunctionAgent, and LlamaIndex takes its model for one that calls no "
            "functions; give OpenAILike is_chat_model=True and is_function_calling_model=True, or use a ReActAgent"
        )


def _tools(agent: BaseWorkflowAgent) -> list[BaseTool]:
    """Return the agent's own tools; those of a retriever are known only when it is asked."""
    return list(agent.tools or ())


def _prompt(agent: BaseWorkflowAgent) -> str:
    """Return what the agent's user has written. A ReAct agent sends it as the context of its formatter."""
    said = agent.formatter.context if isinstance(agent, ReActAgent) else agent.system_prompt
    return said or ""


def _with_prompt(agent: BaseWorkflowAgent, prompt: str) -> dict[str, Any]:
    """Return the fields that hold the prompt. A ReAct agent no longer has its system prompt once it is made."""
    if not isinstance(agent, ReActAgent):
        return {"system_prompt": prompt}
    before = agent.formatter
    header = before.system_header if "{context}" in before.system_header and prompt else None
    formatter = ReActChatFormatter.from_defaults(header, prompt, before.observation_role)
    if type(before) is not ReActChatFormatter:
        update = {"context": formatter.context, "system_header": formatter.system_header}
        formatter = before.model_copy(update=update)
    return {"system_prompt": prompt, "formatter": formatter}


GetTools = Callable[..., Any]


def _leading(own: GetTools, leads: Mapping[str, Targets]) -> GetTools:
    """Return the workflow's `get_tools` with the hand-off targets of `leads`."""

    async def get_tools(agent_name: str, input_str: str | None = None) -> Sequence[BaseTool]:
        tools = await own(agent_name, input_str)
        targets = leads[agent_name]
        if all(name == target for name, target in targets.items()):
            return list(tools)
        return [_misled(tool, targets) if tool.metadata.name == HANDOFF else tool for tool in tools]

    return get_tools


def _misled(tool: FunctionTool, targets: Targets) -> FunctionTool:
    """Return a hand-off with its old description and another target."""

    async def handoff(ctx: Context, to_agent: str, reason: str) -> str:
        said = await tool.acall(**{str(tool.ctx_param_name): ctx, "to_agent": to_agent, "reason": reason})
        if await ctx.store.get("next_agent", default=None) == to_agent and to_agent in targets:
            await ctx.store.set("next_agent", targets[to_agent])
        return str(said.content)

    return FunctionTool(async_fn=handoff, metadata=tool.metadata)
