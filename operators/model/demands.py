"""Operators that drop a demand on the model's answers: tool choice, response format."""

from collections.abc import Iterator

from agentmut._base import canonical_json
from agentmut.language import quoted
from agentmut.nouns import AgentConfig, Candidate, ModelConfig, ToolSpec
from agentmut.operators.model.setting_edits import changed, model_example
from agentmut.seams import Example, OperatorOptions, operator

_TOOLS = (ToolSpec(name="search"),)
_JSON = {"type": "json_object"}


@operator(
    "model.drop_tool_choice",
    why="A framework update or a new client passes the tools on, but not which of them must be called.",
    examples=[
        Example(
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m", tool_choice="required")),
            AgentConfig(tools=_TOOLS, model=ModelConfig(name="m")),
        )
    ],
    lack='model.tool_choice is not set, or is "auto"',
)
def drop_tool_choice(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where there are tools and a choice other than "auto", which is the default."""
    now = config.model.tool_choice
    if config.tools and now not in (None, "auto"):
        yield changed(config, "tool_choice", None, f"drop the tool choice {_value_text(now)}")


@operator(
    "model.drop_response_format",
    why="A model or client without structured output is put in, and answers are free text again.",
    examples=[
        model_example(ModelConfig(name="m", response_format=_JSON), ModelConfig(name="m")),
    ],
    lack="model.response_format is not set",
)
def drop_response_format(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where a format other than text, which is the default, is asked for."""
    now = config.model.response_format
    if now not in (None, {"type": "text"}):
        yield changed(config, "response_format", None, f"drop the response format {_value_text(now)}")


def _value_text(value: object) -> str:
    return quoted(value if isinstance(value, str) else canonical_json(value))
