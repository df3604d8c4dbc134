"""Operators that add a demand on the model: a call of a tool, a schema of the answer, more or less thinking."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, Candidate, ModelConfig, ToolSpec, is_set
from agentmut.operators.model.setting_edits import changed, model_example
from agentmut.seams import Example, OperatorOptions, operator

_TOOLS = (ToolSpec(name="search"),)
_ANSWER: dict[str, JsonValue] = {
    "type": "json_schema",
    "json_schema": {
        "name": "answer",
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": False,
        },
    },
}
_THINKS = re.compile(r"(?:^|[/:])(?:gpt-5|o[134](?:-|$)|gemini-(?:2\.5|3)|claude-(?:opus|sonnet|haiku)-[45])")


@operator(
    "model.force_tool_call",
    why="A client that wants one certain call makes every request demand one.",
    examples=[
        Example(
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m")),
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m", tool_choice="required")),
        )
    ],
    lack="the agent has no tools, or a tool choice is set",
    on_demand=True,
)
def force_tool_call(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants of an agent with tools: every reply must call a tool, and none may."""
    if config.tools and config.model.tool_choice in (None, "auto"):
        yield changed(config, "tool_choice", "required", "demand a tool call in every reply")
        yield changed(config, "tool_choice", "none", "allow no tool calls")


@operator(
    "model.demand_schema",
    why="Structured output is turned on for one caller, and models stop calling tools under it.",
    examples=[
        Example(
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m")),
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m", response_format=_ANSWER)),
        )
    ],
    lack="the agent has no tools, or a response format is set",
    on_demand=True,
)
def demand_schema(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant of an agent with tools: every answer has to be JSON with a text."""
    if config.tools and not is_set(config.model.response_format):
        yield changed(config, "response_format", _ANSWER, "demand JSON with one text as the answer")


@operator(
    "model.stop_thinking",
    why="A server or a gateway turns thinking off, or down, for every request.",
    examples=[
        model_example(ModelConfig(name="gpt-5.2"), ModelConfig(name="gpt-5.2", reasoning_effort="low"))
    ],
    lack="model.name is no model that is known to think, or model.reasoning_effort is set",
    on_demand=True,
)
def stop_thinking(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant of a model that thinks and whose effort is unset: it thinks little."""
    if config.model.reasoning_effort is None and _THINKS.search(config.model.name):
        yield changed(config, "reasoning_effort", "low", "set the reasoning effort to low")
