"""Events of a deployed ADK agent, as its engine streams them, made steps of a trace.

Times are those at which the events arrive. Keys are read in both spellings: engines in Python write snake_case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agentmut.adapters._vertex_engines import EngineError
from agentmut.flow import END, START
from agentmut.plain import jsonable
from agentmut.trace import Action, Step, Usage
from agentmut.trial import Recorder
from agentmut.wire.dialects.gemini.spelling import get


@dataclass
class Hearing:
    """Listens to one turn."""

    recorder: Recorder
    turn: int
    since: float
    """When what is heard next began."""
    answer: JsonValue = None
    last: str = START
    called: dict[str, tuple[Mapping[str, Any], float]] = field(default_factory=dict)
    """Calls that have no result yet, and when they were asked for."""

    def hear(self, event: Mapping[str, Any]) -> None:
        """One event. Raises `EngineError` where it tells of an error."""
        self._check(event)
        now, author = self.recorder.now(), str(event.get("author") or "")
        parts = [one for one in _mapping(event.get("content")).get("parts") or () if isinstance(one, dict)]
        if event.get("partial"):
            return
        self._entered(author)
        if get(event, "usageMetadata") or any(get(part, "functionCall") for part in parts):
            self._replied(event, author, now)
        for part in parts:
            self._call(part, author, now)
        texts = [str(part["text"]) for part in parts if part.get("text") and not part.get("thought")]
        if texts and not any(get(p, "functionCall") or get(p, "functionResponse") for p in parts):
            self.answer = "".join(texts)
        self.since = now

    def end(self) -> None:
        """The turn is over."""
        self.recorder.edges[self.last, END] = None

    def _check(self, event: Mapping[str, Any]) -> None:
        error = event.get("error")
        code, message = get(event, "errorCode"), get(event, "errorMessage")
        if error or (code and not event.get("content")):
            told = error if error else f"{code}: {message}"
            raise EngineError(f"the engine reported {str(told)[:500]}")

    def _entered(self, author: str) -> None:
        if not author or author in (self.last, "user"):
            return
        self.recorder.nodes.add(author)
        self.recorder.edges[self.last, author] = None
        self.last = author

    def _replied(self, event: Mapping[str, Any], author: str, now: float) -> None:
        usage = _mapping(get(event, "usageMetadata"))
        told = (get(usage, "promptTokenCount"), get(usage, "candidatesTokenCount"))
        tokens = [one if isinstance(one, int) else 0 for one in told]
        step = Step(
            action=Action.REASON,
            turn=self.turn,
            node=author or None,
            model=str(get(event, "modelVersion") or "") or None,
            usage=Usage(input_tokens=tokens[0], output_tokens=tokens[1]),
            started=self.since,
            seconds=now - self.since,
        )
        self.recorder.steps.append(step)

    def _call(self, part: Mapping[str, Any], author: str, now: float) -> None:
        asked, answered = get(part, "functionCall"), get(part, "functionResponse")
        if isinstance(asked, dict):
            self.called[_key(asked)] = (asked, now)
        if isinstance(answered, dict):
            call, started = self.called.pop(_key(answered), (answered, self.since))
            self.recorder.steps.append(self._tool_step(call, answered, author, started, now))

    def _tool_step(
        self, call: Mapping[str, Any], answered: Mapping[str, Any], author: str, started: float, now: float
    ) -> Step:
        result = answered.get("response")
        error = _mapping(result).get("error")
        return Step(
            action=Action.CALL_TOOL,
            turn=self.turn,
            node=author or None,
            tool=str(answered.get("name") or ""),
            call_id=str(answered["id"]) if answered.get("id") else None,
            arguments=jsonable(_mapping(call.get("args"))),
            output=jsonable(result),
            error=str(error) if error else None,
            started=started,
            seconds=now - started,
        )


def _key(call: Mapping[str, Any]) -> str:
    return str(call.get("id") or call.get("name") or "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
