"""The trace events of a Bedrock agent as steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut._base import jsonable, storable
from agentmut.adapters._shared.tool_loop.loop import MODEL
from agentmut.adapters.bedrock_agents import actions
from agentmut.adapters.bedrock_agents.terms import ClientCall, asked_of
from agentmut.nouns import Action, Step, Usage
from agentmut.recording import Recorder


class Thought(NamedTuple):
    """One model call that the service made."""

    started: float
    seconds: float
    model: str
    usage: Usage
    text: str
    node: str


class _ServiceStep(NamedTuple):
    """Something that the service does itself."""

    kind: str
    trace: str
    """The id that the trace of its outcome has too."""
    tool: str
    arguments: dict[str, Any]
    started: float
    node: str


@dataclass
class CallEvents:
    """The events of one agent call, as they arrive. One thread adds events; another may end the call."""

    recorder: Recorder
    turn: int
    asked: float
    """When the agent was called, in seconds since the trial began."""
    confirm: bool = False
    """Whether calls that the user is to confirm are confirmed."""
    thoughts: list[Thought] = field(default_factory=list)
    """All but the last are among the recorder's steps; that one is the asker's to tell."""
    calls: list[ClientCall] = field(default_factory=list)
    invocation: str = ""
    answered: bool = False
    """Whether there was an answer, or control was handed back."""
    failure: str = ""
    blocked: bool = False
    """Whether a guardrail of the agent intervened."""
    over: bool = False
    """Whether nobody listens any more."""
    _text: bytearray = field(default_factory=bytearray)
    _deeds: list[_ServiceStep] = field(default_factory=list)
    _models: dict[tuple[str, str], str] = field(default_factory=dict)
    """By node and trace: agents that work together may be at it at the same time."""
    _final: str = ""
    _quiet_since: float | None = None

    @property
    def text(self) -> str:
        """Return the answer."""
        return self._text.decode("utf-8", "replace")

    @property
    def usage(self) -> Usage:
        """Return the usage of all calls of the model."""
        return sum((thought.usage for thought in self.thoughts), Usage())

    @property
    def model(self) -> str:
        """Return the model of the last model call."""
        return next((thought.model for thought in reversed(self.thoughts) if thought.model), "")

    def hear(self, event: Mapping[str, Any]) -> None:
        """Record one event."""
        if "chunk" in event:
            self.answered = True
            self._text += event["chunk"].get("bytes", b"")
        elif "returnControl" in event:
            self.answered = True
            self.invocation = event["returnControl"].get("invocationId", "")
            self.calls += asked_of(event["returnControl"], confirm=self.confirm)
        elif "trace" in event:
            self._hear_trace(event["trace"])

    @property
    def cut(self) -> bool:
        """Return whether less of the answer arrived than the agent reports."""
        whole, came = self._final.strip(), self.text.strip()
        return len(came) < len(whole) and whole.startswith(came) and not self.calls

    def end(self, error: str | None = None) -> None:
        """End the call; with an `error`, its last model call is not recorded."""
        self.over = True
        for deed in self._deeds:
            self._done(deed, error=error and f"no outcome was told: {error}")
        self._deeds.clear()
        if error is not None and self.thoughts:
            self._record(self.thoughts[-1])

    def _record(self, thought: Thought) -> None:
        step = Step(
            action=Action.REASON,
            turn=self.turn,
            node=thought.node,
            model=thought.model,
            usage=thought.usage,
            output=storable(thought.text),
            started=thought.started,
            seconds=thought.seconds,
        )
        self.recorder.steps.append(step)

    def _hear_trace(self, event: Mapping[str, Any]) -> None:
        own = not event.get("collaboratorName")
        node = event.get("collaboratorName") or MODEL
        self.recorder.nodes.add(node)
        for kind, part in (event.get("trace") or {}).items():
            if kind == "failureTrace":
                self._fail(part.get("failureReason", ""))
            elif kind == "guardrailTrace":
                self.blocked = self.blocked or (own and part.get("action") == "INTERVENED")
            elif isinstance(part, Mapping):
                for name, hear in self._heard.items():
                    if name in part:
                        hear(part[name], node)

    @property
    def _heard(self) -> Mapping[str, Callable[[Mapping[str, Any], str], None]]:
        return {
            "modelInvocationInput": self._hear_question,
            "modelInvocationOutput": self._hear_thought,
            "invocationInput": self._hear_deed,
            "observation": self._hear_outcome,
        }

    def _hear_question(self, part: Mapping[str, Any], node: str) -> None:
        for trace in (part.get("traceId", ""), ""):
            self._models[node, trace] = part.get("foundationModel", "")

    def _hear_thought(self, part: Mapping[str, Any], node: str) -> None:
        metadata = part.get("metadata") or {}
        usage = metadata.get("usage") or {}
        now, begun = self.recorder.now(), self.asked if self._quiet_since is None else self._quiet_since
        seconds = min(actions.seconds(part, now - begun), now - begun)
        last = self._models.get((node, ""), "")
        thought = Thought(
            started=now - seconds,
            seconds=seconds,
            model=self._models.get((node, part.get("traceId", "")), last),
            usage=Usage(input_tokens=usage.get("inputTokens", 0), output_tokens=usage.get("outputTokens", 0)),
            text=str((part.get("rawResponse") or {}).get("content", "")),
            node=node,
        )
        if self.thoughts:
            self._record(self.thoughts[-1])
        self.thoughts.append(thought)
        self._quiet_since = now

    def _hear_deed(self, part: Mapping[str, Any], node: str) -> None:
        now, trace = self.recorder.now(), part.get("traceId", "")
        if (partner := part.get("agentCollaboratorInvocationInput")) is not None:
            name = partner.get("agentCollaboratorName", "")
            self.recorder.nodes.add(name)
            self.recorder.edges[node, name] = None
        for kind, read in actions.ACTIONS.items():
            found = part.get(f"{kind}Input")
            if found is not None and found.get("executionType") != "RETURN_CONTROL":
                tool, arguments = read(found)
                self._deeds.append(_ServiceStep(kind, trace, tool, arguments, now, node))

    def _hear_outcome(self, part: Mapping[str, Any], node: str) -> None:
        self._quiet_since = self.recorder.now()
        trace = part.get("traceId", "")
        if node == MODEL and (final := part.get("finalResponse")) is not None:
            self._final = final.get("text", "")
        if (again := part.get("repromptResponse")) is not None:
            deed = self._deed_of(actions.SOURCES.get(again.get("source", ""), ""), node, trace)
            self._outcome(deed, again, error=again.get("text") or "the call failed")
        for kind in actions.ACTIONS:
            if (found := part.get(f"{kind}Output")) is not None:
                self._outcome(self._deed_of(kind, node, trace), found, error=actions.error(found))

    def _deed_of(self, kind: str, node: str, trace: str) -> _ServiceStep | None:
        """Return the action of an outcome: the one with the same trace id, or else the oldest of its kind."""
        alike = [deed for deed in self._deeds if (deed.kind, deed.node) == (kind, node)]
        return next((deed for deed in alike if deed.trace == trace), next(iter(alike), None))

    def _outcome(self, deed: _ServiceStep | None, found: Mapping[str, Any], error: str | None) -> None:
        if deed is not None:
            self._deeds.remove(deed)
            took = actions.seconds(found, self.recorder.now() - deed.started)
            self._done(deed, took, output=None if error else jsonable(actions.given(found)), error=error)

    def _fail(self, reason: str) -> None:
        self.failure = reason
        for deed in self._deeds:
            self._done(deed, error=reason)
        self._deeds.clear()

    def _done(self, deed: _ServiceStep, took: float | None = None, **outcome: Any) -> None:
        """End an action; `took` is the duration that the service reports, since its events often arrive together."""
        now = self.recorder.now()
        seconds = now - deed.started if took is None else min(took, now - self.asked)
        step = Step(
            action=Action.CALL_TOOL,
            turn=self.turn,
            node=deed.node,
            tool=deed.tool,
            arguments=deed.arguments,
            started=min(deed.started, now - seconds),
            seconds=seconds,
            **outcome,
        )
        self.recorder.steps.append(step)
