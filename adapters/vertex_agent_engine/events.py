"""The events of a deployed ADK agent as steps of a trace.

Times are those at which the events arrive. Keys are read in both spellings: engines in Python write snake_case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import UnavailableError, jsonable
from agentmut.adapters.vertex_agent_engine.errors import SHOWN, failure, reported
from agentmut.nouns import END, START, Action, Step, Usage
from agentmut.recording import Recorder
from agentmut.wire import get

_OF_MODELS = ("usageMetadata", "modelVersion", "finishReason")
"""What events have that a model's reply was made, whichever of them the engine sends."""


class Call(NamedTuple):
    """A call of a tool."""

    key: str
    """Its id, or where it has none the tool's name: results come in the order of their calls then."""
    asked: Mapping[str, Any]
    author: str
    since: float


@dataclass
class TurnEvents:
    """Collects the events of one turn."""

    recorder: Recorder
    turn: int
    since: float
    """When what is heard next began."""
    answer: JsonValue = None
    last: str = START
    called: list[Call] = field(default_factory=list)
    """The calls that have no result yet."""
    heard: int = 0
    """Events so far."""

    def hear(self, event: Mapping[str, Any]) -> None:
        """Add one event. Raise the error that it reports, if any."""
        self.heard += 1
        self._check(event)
        if event.get("partial"):
            return
        now, author = self.recorder.now(), str(event.get("author") or "")
        parts = _parts(event)
        calls = any(get(part, "functionCall") for part in parts)
        self._entered(author)
        if calls or any(get(event, key) for key in _OF_MODELS):
            self._replied(event, author, now)
        for part in parts:
            self._call(part, author, now)
        texts = [str(part["text"]) for part in parts if part.get("text") and not part.get("thought")]
        if texts and not calls and not any(get(part, "functionResponse") for part in parts):
            self.answer = "".join(texts)
        self.since = now

    def end(self) -> None:
        """End the turn. Raise `UnavailableError` if no event arrived, since an agent always sends events."""
        if not self.heard:
            raise UnavailableError("the engine sent no events: its logs say what went wrong there")
        self.recorder.edges[self.last, END] = None

    def left_over(self, error: str | None = None) -> None:
        """Note the calls that got no result, of tools that run on, or as the run broke off by an error."""
        told = {"response": {"error": f"no result was told: {error}"}} if error else {}
        for call in self.called:
            step = self._tool_step(call, told, self.recorder.now())
            self.recorder.steps.append(step.model_copy(update={"output": None}))

    def _check(self, event: Mapping[str, Any]) -> None:
        code, message = get(event, "errorCode"), get(event, "errorMessage")
        if problem := reported(event):
            raise problem
        if code and not event.get("content"):
            raise failure(f"the engine reported {code!s}: {str(message)[:SHOWN]}")

    def _entered(self, author: str) -> None:
        if not author or author in (self.last, "user"):
            return
        self.recorder.nodes.add(author)
        self.recorder.edges[self.last, author] = None
        self.last = author

    def _replied(self, event: Mapping[str, Any], author: str, now: float) -> None:
        step = Step(
            action=Action.REASON,
            turn=self.turn,
            node=author or None,
            model=str(get(event, "modelVersion") or "") or None,
            usage=_usage(_mapping(get(event, "usageMetadata"))),
            started=self.since,
            seconds=now - self.since,
        )
        self.recorder.steps.append(step)

    def _call(self, part: Mapping[str, Any], author: str, now: float) -> None:
        asked, answered = get(part, "functionCall"), get(part, "functionResponse")
        if isinstance(asked, dict):
            self.called.append(Call(_key(asked), asked, author, now))
        if isinstance(answered, dict):
            if call := self._call_of(answered, author):
                self.called.remove(call)
            step = self._tool_step(call or Call("", {}, author, self.since), answered, now)
            self.recorder.steps.append(step)

    def _call_of(self, answered: Mapping[str, Any], author: str) -> Call | None:
        """Return the call behind a result. Agents that run at once may use the same id."""
        same = [call for call in self.called if call.key == _key(answered)]
        mine = (
            call for call in same if (call.author, call.asked.get("name")) == (author, answered.get("name"))
        )
        return next(mine, next(iter(same), None))

    def _tool_step(self, call: Call, answered: Mapping[str, Any], now: float) -> Step:
        result, told = answered.get("response"), {**call.asked, **answered}
        error = _mapping(result).get("error")
        return Step(
            action=Action.CALL_TOOL,
            turn=self.turn,
            node=call.author or None,
            tool=str(told.get("name") or ""),
            call_id=str(told["id"]) if told.get("id") else None,
            arguments=jsonable(_mapping(call.asked.get("args"))),
            output=jsonable(result),
            error=str(error) if error else None,
            started=call.since,
            seconds=now - call.since,
        )


def _key(call: Mapping[str, Any]) -> str:
    return str(call.get("id") or call.get("name") or "")


def _parts(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = _mapping(event.get("content")).get("parts")
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def _usage(metadata: Mapping[str, Any]) -> Usage:
    """Return what tools of the service add to the prompt is input, thoughts are output."""

    def total(*keys: str) -> int:
        counts = (get(metadata, key) for key in keys)
        return sum(count for count in counts if isinstance(count, int) and count > 0)

    read = total("promptTokenCount", "toolUsePromptTokenCount")
    return Usage(
        input_tokens=read,
        output_tokens=total("candidatesTokenCount", "thoughtsTokenCount"),
        cached_tokens=min(read, total("cachedContentTokenCount")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
