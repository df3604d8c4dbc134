"""What an agent of Bedrock tells of its work: its trace events, as steps."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.adapters._bedrock_agent_terms import Asked, asked_of, value_of
from agentmut.adapters._tool_loop import MODEL
from agentmut.plain import jsonable, storable
from agentmut.trace import Action, Step, Usage
from agentmut.trial import Recorder


class Thought(NamedTuple):
    """One call of the model that the service made."""

    started: float
    seconds: float
    model: str
    usage: Usage
    text: str
    node: str


class _Deed(NamedTuple):
    """Something that the service does itself."""

    kind: str
    tool: str
    arguments: dict[str, Any]
    started: float
    node: str


@dataclass
class Told:
    """The events of one call of an agent, as they come. Used by one thread."""

    recorder: Recorder
    turn: int
    asked: float
    """When the agent was called, in seconds since the trial began."""
    thoughts: list[Thought] = field(default_factory=list)
    calls: list[Asked] = field(default_factory=list)
    invocation: str = ""
    answered: bool = False
    """Whether there was an answer, or control was handed back."""
    failure: str = ""
    _text: bytearray = field(default_factory=bytearray)
    _deeds: list[_Deed] = field(default_factory=list)
    _model: str = ""
    _quiet_since: float | None = None

    @property
    def text(self) -> str:
        """The answer."""
        return self._text.decode("utf-8", "replace")

    @property
    def usage(self) -> Usage:
        """Of all calls of the model."""
        return sum((thought.usage for thought in self.thoughts), Usage())

    @property
    def model(self) -> str:
        """The one that was called last."""
        return next((thought.model for thought in reversed(self.thoughts) if thought.model), "")

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take in one event."""
        if "chunk" in event:
            self.answered = True
            self._text += event["chunk"].get("bytes", b"")
        elif "returnControl" in event:
            self.answered = True
            self.invocation = event["returnControl"].get("invocationId", "")
            self.calls += asked_of(event["returnControl"])
        elif "trace" in event:
            self._hear_trace(event["trace"])

    def steps(self) -> Iterator[Step]:
        """The calls of the model but for the last, which is the asker's to tell."""
        for one in self.thoughts[:-1]:
            yield Step(
                action=Action.REASON,
                turn=self.turn,
                node=one.node,
                model=one.model,
                usage=one.usage,
                output=storable(one.text),
                started=one.started,
                seconds=one.seconds,
            )

    def _hear_trace(self, told: Mapping[str, Any]) -> None:
        node = told.get("collaboratorName") or MODEL
        self.recorder.nodes.add(node)
        for kind, part in (told.get("trace") or {}).items():
            if kind == "failureTrace":
                self._fail(part.get("failureReason", ""))
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

    def _hear_question(self, told: Mapping[str, Any], node: str) -> None:
        self._model = told.get("foundationModel", "")

    def _hear_thought(self, told: Mapping[str, Any], node: str) -> None:
        metadata = told.get("metadata") or {}
        usage = metadata.get("usage") or {}
        now, begun = self.recorder.now(), self.asked if self._quiet_since is None else self._quiet_since
        milliseconds = metadata.get("totalTimeMs")
        seconds = now - begun if milliseconds is None else min(milliseconds / 1000, now - begun)
        self.thoughts.append(
            Thought(
                started=now - seconds,
                seconds=seconds,
                model=self._model,
                usage=Usage(
                    input_tokens=usage.get("inputTokens", 0), output_tokens=usage.get("outputTokens", 0)
                ),
                text=str((told.get("rawResponse") or {}).get("content", "")),
                node=node,
            )
        )
        self._quiet_since = now

    def _hear_deed(self, told: Mapping[str, Any], node: str) -> None:
        now = self.recorder.now()
        if (partner := told.get("agentCollaboratorInvocationInput")) is not None:
            name = partner.get("agentCollaboratorName", "")
            self.recorder.nodes.add(name)
            self.recorder.edges[node, name] = None
        for kind, read in _DEEDS.items():
            found = told.get(f"{kind}Input")
            if found is not None and found.get("executionType") != "RETURN_CONTROL":
                tool, arguments = read(found)
                self._deeds.append(_Deed(kind, tool, arguments, now, node))

    def _hear_outcome(self, told: Mapping[str, Any], node: str) -> None:
        self._quiet_since = self.recorder.now()
        for kind in _DEEDS:
            found = told.get(f"{kind}Output")
            deed = next((d for d in self._deeds if (d.kind, d.node) == (kind, node)), None)
            if found is not None and deed is not None:
                self._deeds.remove(deed)
                error = found.get("executionError")
                self._done(deed, output=None if error else jsonable(_outcome(found)), error=error or None)

    def _fail(self, reason: str) -> None:
        self.failure = reason
        for deed in self._deeds:
            self._done(deed, error=reason)
        self._deeds.clear()

    def _done(self, deed: _Deed, **outcome: Any) -> None:
        step = Step(
            action=Action.CALL_TOOL,
            turn=self.turn,
            node=deed.node,
            tool=deed.tool,
            arguments=deed.arguments,
            started=deed.started,
            seconds=self.recorder.now() - deed.started,
            **outcome,
        )
        self.recorder.steps.append(step)


def _action(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name = found.get("function") or f"{found.get('verb', '')} {found.get('apiPath', '')}".strip()
    given = [*(found.get("parameters") or ()), *_body(found)]
    return name, {one["name"]: value_of(one) for one in given if one.get("name")}


def _body(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for content in ((found.get("requestBody") or {}).get("content") or {}).values():
        yield from content if isinstance(content, list) else ()


def _lookup(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "knowledge_base", {key: found[key] for key in ("knowledgeBaseId", "text") if key in found}


def _code(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "code_interpreter", {"code": found.get("code", "")}


_DEEDS: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]] = {
    "actionGroupInvocation": _action,
    "knowledgeBaseLookup": _lookup,
    "codeInterpreterInvocation": _code,
}
"""What the service does itself, by how the trace calls it."""


def _outcome(found: Mapping[str, Any]) -> Any:
    for key in ("text", "executionOutput"):
        if key in found:
            return found[key]
    references = found.get("retrievedReferences") or ()
    return [(one.get("content") or {}).get("text", "") for one in references]
