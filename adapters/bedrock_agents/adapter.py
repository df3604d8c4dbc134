"""Adapter for agents of Amazon Bedrock: inline agents, whose config goes with each call, and deployed agents.

Functions of action groups that return control are called here, and answered with the next call.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import BEDROCK_AGENT, AdapterError, UsageError
from agentmut.adapters._shared.boto3 import boto3_requirement, region_of, text_option
from agentmut.adapters._shared.sdk_version import Requirement
from agentmut.adapters._shared.tool_loop.adapter import LoopAdapter
from agentmut.adapters.bedrock_agents import terms
from agentmut.adapters.bedrock_agents.dialect import (
    OWN,
    AgentOptions,
    DeployedAgentDialect,
    InlineAgentDialect,
)
from agentmut.nouns import AgentConfig, AgentTrace, Edit, Mutant, apply_edits, unreachable_fault
from agentmut.recording import Trial
from agentmut.seams import Adapter, AgentKeys, AgentSpec, AsksService, TakesKeys
from agentmut.trial import Function, toolbox

_BOTH = ("inline", "region", "session_state", "confirm", "call")
_INLINE = ("action_group", "prompt_template", *_BOTH)
_DEPLOYED = ("agent_id", "alias_id", *_BOTH)
_AT_SERVICE = (
    "a deployed agent has its {part} at the service; with `agent.options: {{inline: true}}` the agent is run from "
    "the config"
)

_NO_WORD = (
    "functions of action groups have a name, a description, and parameters with type, description and required; "
    "no more"
)


class BedrockAgentsAdapter(LoopAdapter, AsksService, TakesKeys):
    """Runs an inline agent (InvokeInlineAgent), or with `agent.options.agent_id` a deployed one (InvokeAgent)."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(None, others=frozenset({"functions", "stream", "options"}))

    requirement: ClassVar[Requirement] = boto3_requirement("bedrock_agents")
    service: ClassVar[str] = BEDROCK_AGENT.name

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> Adapter:
        """Check the section and import the functions. Raises `UsageError`."""
        cls.requirement.check()
        inline = _switch(spec, "inline")
        if inline is bool(spec.options.get("agent_id")):
            raise UsageError(
                "agent.options: adapter bedrock_agents needs `inline: true`, or `agent_id` and `alias_id` of an "
                "agent that is deployed"
            )
        return InlineAgent.from_spec(spec, config) if inline else DeployedAgent.from_spec(spec, config)


class InlineAgent(BedrockAgentsAdapter):
    """Prompt, tools and model are the config's, and are sent with each call."""

    @classmethod
    def from_spec(cls, spec: AgentSpec, config: AgentConfig) -> "InlineAgent":
        """Build the agent after a check of settings that a call cannot have. Raise `UsageError`."""
        options = AgentOptions(
            region=region_of(spec, _INLINE),
            group=text_option(spec, "action_group") or "tools",
            template=_template(spec),
            state=_mapping(spec, "session_state", "{sessionAttributes: {shop: Bern}}"),
            confirm=_switch(spec, "confirm"),
            more=_more(spec),
        )
        found = cls.checked(InlineAgentDialect(options, stream=spec.stream), spec, config)
        if problem := found._unsayable(found.get_config()):
            raise UsageError(f"agent.config: {problem}")
        return found

    def cannot_express(self, mutant: Mutant) -> str:
        """Return what a call has no word for: settings, and what schemas of functions leave out."""
        edits = [edit for edit in mutant.edits if edit.part == "tools" and not edit.is_fault]
        changed = apply_edits(self._config, edits)
        if reason := super().cannot_express(mutant) or self._unsayable(changed):
            return reason
        if any(edit.path[-1] != "implemented_by" for edit in edits) and _function_details(
            changed
        ) == _function_details(self._config):
            return _NO_WORD
        return ""

    @staticmethod
    def _unsayable(config: AgentConfig) -> str:
        try:
            _function_details(config)
        except ValueError as error:
            return str(error)
        return ""


class DeployedAgent(BedrockAgentsAdapter):
    """An agent whose prompt, tools and model belong to the service; the config describes them."""

    @classmethod
    def from_spec(cls, spec: AgentSpec, config: AgentConfig) -> "DeployedAgent":
        """Build the agent after a check of its options. Raises `UsageError`."""
        options = AgentOptions(
            region=region_of(spec, _DEPLOYED),
            agent=text_option(spec, "agent_id") or "",
            alias=text_option(spec, "alias_id") or "",
            state=_mapping(spec, "session_state", "{sessionAttributes: {shop: Bern}}"),
            confirm=_switch(spec, "confirm"),
            more=_more(spec),
        )
        if not options.alias:
            raise UsageError(
                "agent.options.alias_id is missing: a deployed agent is called by one of its aliases"
            )
        return cls.of_functions(DeployedAgentDialect(options, stream=spec.stream), spec, config)

    def doubled_tools(self) -> frozenset[str]:
        """Return the tools whose functions run here; the service calls the other tools."""
        return frozenset(self._functions)

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Return no tools: a tool without a function here is the service's own."""
        return frozenset()

    def cannot_express(self, mutant: Mutant) -> str:
        """Return what is kept by the service."""
        reasons = (_kept_there(edit) for edit in mutant.edits)
        return next(filter(None, reasons), "") or unreachable_fault(mutant, self._config, self.doubled_tools)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Converse with the agent. Raise `AdapterError` for a mutant of a deployed agent."""
        for part in ("prompt", "tools", "model"):
            if _without_faults(self._config, part) != _without_faults(self._original, part):
                raise AdapterError(_AT_SERVICE.format(part=part))
        return await super().run(turns, trial)

    def _tools_of(self, trial: Trial) -> dict[str, Function]:
        return toolbox(self._config, self._functions)


def _without_faults(config: AgentConfig, part: str) -> Any:
    if part != "tools":
        return getattr(config, part)
    return [tool.model_copy(update={"fault": None}) for tool in config.tools]


def _kept_there(edit: Edit) -> str:
    if edit.is_fault or edit.part not in ("prompt", "tools", "model"):
        return ""
    return _AT_SERVICE.format(part=edit.part)


def _function_details(config: AgentConfig) -> list[dict[str, Any]]:
    """Return the tools as the model gets them."""
    return terms.action_group("tools", config.tools)


def _template(spec: AgentSpec) -> str | None:
    name = text_option(spec, "prompt_template")
    if name is None:
        return None
    try:
        return (Path(spec.root) / name).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"agent.options.prompt_template: {name} cannot be read: {error}") from error


def _switch(spec: AgentSpec, name: str) -> bool:
    value = spec.options.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"agent.options.{name}: expected true or false, found {value!r:.80}")
    return value


def _more(spec: AgentSpec) -> Mapping[str, Any]:
    found = _mapping(spec, "call", "{idleSessionTTLInSeconds: 600}") or {}
    if own := next((name for name in found if name in OWN), None):
        raise UsageError(
            f"agent.options.call: {own} is set by agentmut, from agent.config and the other options; leave it out"
        )
    return found


def _mapping(spec: AgentSpec, name: str, example: str) -> Mapping[str, Any] | None:
    value = spec.options.get(name)
    if value is not None and not isinstance(value, dict):
        raise UsageError(f"agent.options.{name}: expected a mapping, as in `{example}`")
    return value
