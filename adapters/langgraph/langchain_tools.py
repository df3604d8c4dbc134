"""LangChain tools in the form of a config: with another description, another name, or as decoys."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.tools import BaseTool, StructuredTool

from agentmut.mutation import decoy_answer
from agentmut.nouns import AgentConfig, FaultKind, ToolSpec, read_tool
from agentmut.recording import current_trial
from agentmut.trial import finds_offered_tools


def as_configured(tool: BaseTool, spec: ToolSpec) -> BaseTool:
    """Return the tool as the model gets it; its implementation stays.

    A call that fits the changed schema and not the implementation fails as it would in production: the
    tool's own validation refuses it.
    """
    original = read_tool(tool)
    told = (spec.name, spec.description, spec.parameters)
    if told == (original.name, original.description, original.parameters):
        return tool
    changed = tool.model_copy(update={"name": spec.name, "description": spec.description})
    object.__setattr__(changed, "__class__", _changed_class(tool, spec))
    return changed


def as_implemented(tool: BaseTool) -> BaseTool:
    """Return the agent's own tool behind a described one."""
    original = getattr(type(tool), "agentmut_original", tool)
    return original if isinstance(original, BaseTool) else tool


def _changed_class(original: BaseTool, spec: ToolSpec) -> type[BaseTool]:
    """Return the class of a tool whose calls are described to the model by `spec` alone."""
    kind = type(original)
    described = {"description": spec.description} if spec.description else {}
    schema: dict[str, Any] = {"title": spec.name, **described, **spec.parameters}

    class DescribedTool(kind):  # type: ignore[valid-type, misc]  # a class known at run time
        agentmut_original: ClassVar[BaseTool] = original

        @property
        def tool_call_schema(self) -> Any:
            return schema

    DescribedTool.__name__ = DescribedTool.__qualname__ = kind.__name__
    return DescribedTool


def decoy(spec: ToolSpec) -> BaseTool:
    """Return a decoy tool, which finds nothing for any input."""

    def answer(**arguments: Any) -> str:
        trial = current_trial()
        if trial:  # not every agent calls its tools in a tool node, where faults are carried out
            trial.mark_fault(spec.own_name)
        return str(decoy_answer())

    return StructuredTool(
        name=spec.name,
        description=spec.description,
        args_schema={"title": spec.name, "description": spec.description, **spec.parameters},
        func=answer,
    )


def offered_tool(spec: ToolSpec, known: Mapping[str, BaseTool]) -> BaseTool | None:
    """Return a config's tool for an agent with the `known` tools; None if the agent has no such tool."""
    if spec.fault is not None and spec.fault.kind is FaultKind.DECOY:
        return decoy(spec)
    tool = known.get(spec.own_name)
    return None if tool is None else as_configured(tool, spec)


@finds_offered_tools
def bind_tools(config: AgentConfig, tools: Sequence[BaseTool]) -> list[BaseTool]:
    """Return the tools that `config` offers, in order, with its names, descriptions and schemas.

    Use it in a factory in place of the plain tool list, for the model and for the tool node. The
    implementations stay the same, and so does what they accept. A tool that the config does not name is
    left out; one that has nothing behind it (a decoy) answers that nothing was found.
    """
    known = {tool.name: tool for tool in tools}
    offered = (offered_tool(spec, known) for spec in config.tools)
    return [tool for tool in offered if tool is not None]


def with_own_tool(request: Any, known: Mapping[str, BaseTool]) -> Any:
    """Return the call of a tool that a tool node does not know by its name, with the intended tool."""
    trial = current_trial()
    spec = trial.tools.get(request.tool_call["name"]) if trial else None
    if spec is None or request.tool is not None:
        return request
    tool = offered_tool(spec, known)
    return request if tool is None else request.override(tool=tool)
