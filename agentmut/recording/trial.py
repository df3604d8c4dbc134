"""The running trial as a value: its identity, its tools, and the rewriter of its model requests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from agentmut.nouns import AgentConfig, Codec, Fork, HttpCall, Player, ToolFault, ToolSpec
from agentmut.recording.purse import Purse
from agentmut.recording.recorder import Recorder


class OutgoingRequest(NamedTuple):
    """A request in the form in which it is sent."""

    call: HttpCall
    pause: float = 0.0
    """Seconds to wait before it is sent: results of slow tools are late."""


class HandledReply(NamedTuple):
    """The handling of a reply: pass `body` to the agent, or send the request `again`."""

    body: bytes
    again: HttpCall | None = None


class Rewriter(Protocol):
    """Rewrites the model requests and replies of one trial, so that its agent is the mutant.

    Deterministic, and the same when a history is sent again. Used by one trial only, from any of its threads.
    """

    @property
    def marks(self) -> frozenset[str]:
        """Return pointers of the live changes that took effect, as in `Recorder.marks`.

        Such pointers are `/history` and `/tools/search/fault`.
        """

    def request(self, codec: Codec, call: HttpCall) -> OutgoingRequest:
        """Return the agent's request as its mutant sends it; an unreadable request is returned unchanged."""

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        """Return the handling of a complete reply, plain or streamed, to the request that was `sent`."""

    @property
    def needs_whole_replies(self) -> bool:
        """Return whether `reply` needs the whole stream, since the agent may not see some call in it."""

    def event(self, codec: Codec, sent: HttpCall, value: object) -> object:
        """Return one event of a streamed reply to the request `sent`; used where `needs_whole_replies` is False."""


Double = Callable[..., Any]


class ToolChange(NamedTuple):
    """The agent's tools before and after the mutation, for servers that offer tools at run time."""

    before: tuple[ToolSpec, ...] = ()
    after: tuple[ToolSpec, ...] = ()


_UNCHANGED = ToolChange()


@dataclass(frozen=True)
class Trial:
    """One run of one agent on one scenario."""

    id: str
    """A function of what shapes the run, so that a seeded service answers alike when it is repeated."""
    seed: int = 0
    scenario: str = ""
    """The scenario's name."""
    repeat: int = 0
    """Which run of the scenario it is; runs of changed evaluators are numbered from other beginnings."""
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
    fork: Fork | None = None
    """Answers what a recorded run of the original asked alike; all other requests are live."""
    purse: Purse | None = None
    """Counts what its model calls cost; None without a budget in money."""
    is_agents: bool = True
    """Whether an empty purse ends it; hooks beside a trial go on."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that lead the model requests of another program through agentmut, to this trial."""
    redact: Callable[[str], str] = str
    """For texts that are cut before they are kept: what is left of a secret then would not be recognised."""
    recorder: Recorder = field(default_factory=Recorder)

    def own_name(self, tool: str) -> str:
        """Return the agent's own name of a tool that is offered as `tool`."""
        return self.tools[tool].own_name if tool in self.tools else tool

    def fault(self, tool: str) -> ToolFault | None:
        """Return the fault of a tool, by the tool's own name; `mark_fault` notes that the fault took effect."""
        return next((t.fault for t in self.tools.values() if t.own_name == tool and t.fault), None)

    def mark_fault(self, tool: str) -> None:
        """Note that a call of the tool, by the tool's own name, met its fault."""
        self.recorder.marks.add(f"/tools/{tool}/fault")


def gone_file(name: str) -> str:
    """Return the mark of a trial in whose workspace a file with instructions is missing."""
    return f"/context/{name}"


def altered_tools(config: AgentConfig) -> dict[str, ToolSpec]:
    """Return the tools of a config that differ from the agent's own idea of them, by their offered names."""
    return {tool.name: tool for tool in config.tools if tool.fault or tool.implemented_by}


TRIAL_HEADER = "x-agentmut-trial"
"""The header of requests that are told which trial they belong to."""
TRIAL_PREFIX = "/t/"
"""How paths that name their trial begin: `/t/<trial>/v1/...`."""


def trial_and_path(target: str) -> tuple[str | None, str]:
    """Return the trial that a request's target names, and the target without it.

    >>> trial_and_path("/t/a%20b/v1/messages"), trial_and_path("/v1/messages")
    (('a b', '/v1/messages'), (None, '/v1/messages'))
    """
    if not target.startswith(TRIAL_PREFIX):
        return None, target
    name, slash, rest = target.removeprefix(TRIAL_PREFIX).partition("/")
    return unquote(name, errors="surrogateescape"), slash + rest
