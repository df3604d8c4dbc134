"""The running trial as a value: its identity, its tools, and what stands between it and the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.nouns import AgentConfig, Player, ToolFault, ToolSpec
from agentmut.recording.recorder import Recorder
from agentmut.recording.rewriter import Rewriter

Double = Callable[..., Any]


class ToolChange(NamedTuple):
    """The agent's tools before the mutation and after it, for servers that offer tools at run time."""

    before: tuple[ToolSpec, ...] = ()
    after: tuple[ToolSpec, ...] = ()


_UNCHANGED = ToolChange()


@dataclass(frozen=True)
class Trial:
    """One run of one agent on one scenario."""

    id: str
    """A function of what shapes the run, so that a seeded service answers alike when it is repeated."""
    seed: int = 0
    doubles: Mapping[str, Double] = field(default_factory=dict)
    """By the agent's own name of the tool."""
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    """The mutated tools by the name under which they are offered: renamed, faulty, or decoys."""
    tool_change: ToolChange = _UNCHANGED
    """What becomes of the tools that the agent is offered by servers (MCP)."""
    rewriter: Rewriter | None = None
    """Changes the model requests of the trial on their way; None where the agent itself is the mutant."""
    player: Player | None = None
    """Answers the model requests of a trial that is replayed; nothing leaves the machine then."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that lead the model requests of another program through agentmut, to this trial."""
    redact: Callable[[str], str] = str
    """For texts that are cut before they are kept: what is left of a secret then would not be recognised."""
    recorder: Recorder = field(default_factory=Recorder)

    def own_name(self, tool: str) -> str:
        """The agent's own name of a tool that is offered as `tool`."""
        return self.tools[tool].own_name if tool in self.tools else tool

    def fault(self, tool: str) -> ToolFault | None:
        """What goes wrong with calls of a tool, by its own name. Taking effect is noted with `mark_fault`."""
        return next((t.fault for t in self.tools.values() if t.own_name == tool and t.fault), None)

    def mark_fault(self, tool: str) -> None:
        """Note that a call of the tool, by its own name, met its fault."""
        self.recorder.marks.add(f"/tools/{tool}/fault")


def altered_tools(config: AgentConfig) -> dict[str, ToolSpec]:
    """The tools of a config that are not what the agent takes them for, by the name they are offered under."""
    return {tool.name: tool for tool in config.tools if tool.fault or tool.implemented_by}
