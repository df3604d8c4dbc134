"""In-process carrier for `requests`: it wraps `Session.send`, which every call of that library uses.

requests is not imported for this: where an agent imports it later, the method is replaced then.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib import import_module
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agentmut.nouns import HttpCall, Take
from agentmut.recording import TRIAL_HEADER, current_trial
from agentmut.wire.carriers.compression import is_packed
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.nested_hooks import OF_THE_BODY, Begin, beneath
from agentmut.wire.carriers.passage import Passage
from agentmut.wire.carriers.patching import replaced, when_imported
from agentmut.wire.carriers.raw_streams import PassingRaw
from agentmut.wire.carriers.signing import signed_again
from agentmut.wire.carriers.throttle import Throttle


class RequestsHooks:
    """Carries what sessions of requests send while installed."""

    def __init__(self, begin: Begin, throttle: Throttle | None = None) -> None:
        self._begin = begin
        self._throttle = throttle

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Carry the requests of every session of this process during the block, then restore the original method."""
        with ExitStack() as stack, when_imported("requests.sessions", lambda: self._install(stack)):
            yield

    def _install(self, stack: ExitStack) -> None:
        session = import_module("requests.sessions").Session
        stack.enter_context(replaced(session, "send", self._send))

    def _send(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def send(session: Any, request: Any, **options: Any) -> Any:
            host = urlsplit(request.url).hostname or ""
            passage = self._begin(request.path_url, _body(request), host)
            if passage is None:
                return original(session, request, **options)
            time.sleep(passage.pause)
            if played := passage.played():
                return _recorded(request, played)
            while True:
                with passage:
                    time.sleep(passage.hold(self._throttle))
                    outgoing = _outgoing(request, passage.call, host)
                    with beneath():
                        response = original(session, outgoing, **options)
                    if response.request is outgoing:
                        response.request = request
                    given = _in_agents_form(response, passage, options)
                if given is not None:
                    return given

        return send


def _body(request: Any) -> bytes | None:
    """Return the body; None for a stream or a file, which can be read only once."""
    body = request.body.encode() if isinstance(request.body, str) else request.body
    return body if isinstance(body, bytes) else None


def _outgoing(request: Any, call: HttpCall, host: str) -> Any:
    """Return the request with this path and body. Only a stand-in service is told the trial."""
    outgoing = request.copy()
    path, _, query = call.path.partition("?")
    outgoing.url = urlunsplit(urlsplit(request.url)._replace(path=path, query=query))
    trial = current_trial()
    if trial is not None and is_loopback(host):
        outgoing.headers[TRIAL_HEADER] = trial.id
    if (call.path, call.body) == (request.path_url, _body(request)):
        return outgoing
    outgoing.body = call.body
    outgoing.headers["Content-Length"] = str(len(call.body))
    outgoing.headers.pop("Transfer-Encoding", None)
    if not is_packed(call.body):
        outgoing.headers.pop("Content-Encoding", None)
    lowered = {name.lower(): _text(value) for name, value in outgoing.headers.items()}
    outgoing.headers.update(signed_again(request.method, outgoing.url, lowered, call.body))
    return outgoing


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _in_agents_form(response: Any, passage: Passage, options: Mapping[str, Any]) -> Any | None:
    """Return the response in the agent's form; None where another round is needed."""
    if response.status_code >= 400:
        passage.refused(response.status_code)
        return response
    is_read = not options.get("stream") or response._content_consumed
    if not is_read and passage.relays(response.headers.get("content-type", "")):
        relay = passage.relay(response.status_code)
        relay.begun()
        response.raw = PassingRaw(response.raw, relay)
        return response
    body = response.content
    given = passage.received(response.status_code, body)
    if given is None:
        return None
    return response if given == body else _with_body(response, given)


def _with_body(response: Any, body: bytes) -> Any:
    for name in OF_THE_BODY:
        response.headers.pop(name, None)
    response.headers["Content-Length"] = str(len(body))
    response._content, response._content_consumed = body, True
    response.raw = BytesIO(body)
    return response


def _recorded(request: Any, take: Take) -> Any:
    """Return the response that was recorded."""
    response = import_module("requests.models").Response()
    response.status_code, response.url, response.request = take.status, request.url, request
    response.headers["Content-Type"] = take.content_type
    response.encoding = import_module("requests.utils").get_encoding_from_headers(response.headers)
    response.elapsed = timedelta(0)
    return _with_body(response, take.body)
