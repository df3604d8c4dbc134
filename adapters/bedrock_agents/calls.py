"""Calls of Bedrock agents on the wire: observed where botocore sends them, and read event by event."""

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from agentmut._base import described
from agentmut.adapters._shared.boto3 import hung_up
from agentmut.adapters.bedrock_agents.trace import CallEvents
from agentmut.nouns import Exchange, HttpCall, ModelReply, ModelRequest, ToolCall, Usage
from agentmut.recording import TRIAL_HEADER, CallPlace, Trial, TrialOverError, call_place
from agentmut.wire import is_loopback
from agentmut.wire.dialects import bedrock_agent

NAME = "bedrock_agents"
SERVICE = "bedrock-agent-runtime"
_FAILED = 400
_REFUSALS: Mapping[str, int] = {
    "validationException": 400,
    "accessDeniedException": 403,
    "resourceNotFoundException": 404,
}
"""Exceptions in a stream that is accepted, for which the service has a status as well: to ask again is no use."""


class AgentStreamError(ConnectionError):
    """The event stream of an agent ended without an answer."""


_calling: "ContextVar[AgentCalls | None]" = ContextVar("agentmut_bedrock_agent", default=None)
"""The run whose call this thread makes."""


def watched(client: Any) -> None:
    """Make a client's requests and answers visible to the runs that they belong to."""
    events = client.meta.events
    events.register(f"before-call.{SERVICE}", _of_run(AgentCalls.named))
    events.register(f"before-send.{SERVICE}", _of_run(AgentCalls.sent))
    events.register(f"response-received.{SERVICE}", _of_run(AgentCalls.received))


def _of_run(handle: Callable[..., None]) -> Callable[..., None]:
    def handler(**options: Any) -> None:
        if (run := _calling.get()) is not None:
            handle(run, **options)

    return handler


class AgentCalls:
    """The calls of one run, one after another, through a client that is `watched`."""

    def __init__(self, client: Any, trial: Trial) -> None:
        self._client = client
        self._trial = trial
        self._recorder = trial.recorder
        self._place = CallPlace()
        self._call = HttpCall("", b"")
        self._host = ""
        self._started: float | None = None
        self._is_awaited = False

    def collector(self, *, confirm: bool) -> CallEvents:
        """Return the collector for the traces of the next `invoke`."""
        return CallEvents(self._recorder, call_place().turn, self._recorder.now(), confirm)

    def invoke(self, operation: str, arguments: dict[str, Any], collected: CallEvents) -> None:
        """Call the agent and read its whole answer. Blocks; raise boto3's errors and `AgentStreamError`."""
        _calling.set(self)
        self._place = call_place()
        events = getattr(self._client, operation)(**arguments)["completion"]
        try:
            self._hear_out(events, collected)
        except Exception as error:
            self._record(_REFUSALS.get(_code(error), 200), None, described(error))
            raise
        self._record(200, _reply(collected), None)

    def _hear_out(self, events: Any, collected: CallEvents) -> None:
        with hung_up(events):
            for event in events:
                self._no_longer_awaited()
                if collected.over or self._recorder.closed:
                    raise TrialOverError(
                        f"trial {self._trial.id} is over; nobody listens to the agent any more"
                    )
                collected.hear(event)
        if not collected.answered:
            reason = f": {collected.failure}" if collected.failure else ""
            raise AgentStreamError(f"the agent's event stream ended without an answer{reason}")
        if collected.cut:
            raise AgentStreamError("the agent's event stream ended before its answer did")

    # What botocore tells on the way.

    def named(self, params: dict[str, Any], **_: Any) -> None:
        """Name the trial in a header, for a stand-in on this machine that serves several trials."""
        if is_loopback(urlsplit(params["url"]).hostname or ""):
            params["headers"][TRIAL_HEADER] = self._trial.id

    def sent(self, request: Any, **_: Any) -> None:
        """Begin to record an attempt, which is signed. Raises `TrialOverError` after the trial's end."""
        if self._recorder.closed:
            raise TrialOverError(f"trial {self._trial.id} is over; this run was abandoned at its timeout")
        parts, body = urlsplit(request.url), request.body or b""
        self._host = parts.hostname or ""
        self._call = HttpCall(parts.path, body.encode() if isinstance(body, str) else bytes(body))
        self._started = self._recorder.now()
        self._recorder.request_left(self._started)
        self._is_awaited = True

    def received(self, response_dict: Any, exception: Any, **_: Any) -> None:
        """Note that an attempt was answered or failed; the answer's stream is still to come."""
        if self._started is None:
            return
        status = response_dict["status_code"] if response_dict else None
        if exception is not None or status is None or status >= _FAILED:
            self._record(status, None, described(exception) if exception is not None else None)

    def _no_longer_awaited(self) -> None:
        """End the wait for the service, which has sent content; the headers of a stream come too early to count."""
        if self._started is not None and self._is_awaited:
            self._is_awaited = False
            self._recorder.settled(self._started)

    def _record(self, status: int | None, reply: ModelReply | None, error: str | None) -> None:
        self._no_longer_awaited()
        started, self._started = self._started, None
        if started is None:
            return
        exchange = Exchange(
            request=_request(self._call),
            reply=reply,
            status=status,
            error=error,
            started=started,
            seconds=self._recorder.now() - started,
            dialect=NAME,
            host=self._host,
            turn=self._place.turn,
            node=self._place.node,
        )
        self._recorder.exchanges.append(exchange)


def _code(error: Exception) -> str:
    """Return boto3's error code; empty for another error."""
    response = getattr(error, "response", None)
    found = response.get("Error") if isinstance(response, dict) else None
    return str(found.get("Code", "")) if isinstance(found, dict) else ""


def _request(call: HttpCall) -> ModelRequest:
    """Return the request, with functions under their own names."""
    found = bedrock_agent.decode(call)
    tools = tuple(one.tool.model_copy(update={"name": one.name}) for one in found.functions)
    return found.request.model_copy(update={"tools": tools})


def _reply(events: CallEvents) -> ModelReply:
    calls = tuple(
        ToolCall(id=one.call.id, name=one.call.name, arguments=json.dumps(one.call.arguments))
        for one in events.calls
    )
    usage: Usage = events.usage
    reason = "tool_calls" if calls else "stop"
    return ModelReply(
        model=events.model, text=events.text, tool_calls=calls, finish_reason=reason, usage=usage
    )
