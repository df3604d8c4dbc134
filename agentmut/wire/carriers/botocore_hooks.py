"""In-process carrier for Amazon's SDK (boto3, botocore), which has its own HTTP client and signs its requests.

A request is changed before it is signed. Clients made before or during a trial are carried alike, as methods of their
classes are replaced for the session. botocore is not imported for this: where an agent imports it later, the methods
are replaced then. Converse and InvokeModel are carried, plain and streamed; other operations of Bedrock, and the
asynchronous aiobotocore, pass unseen.
"""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agentmut.nouns import Codec, HttpCall, Take
from agentmut.recording import TRIAL_HEADER, current_trial
from agentmut.wire.carriers.hosts import is_loopback
from agentmut.wire.carriers.passage import Passage, begin, is_stream
from agentmut.wire.carriers.patching import replaced, when_imported
from agentmut.wire.carriers.raw_streams import PassingRaw
from agentmut.wire.carriers.throttle import Throttle

_carried: ContextVar[Passage | None] = ContextVar("agentmut_botocore", default=None)
"""The passage of the operation that the calling code sends."""

_own: "ContextVar[BotocoreHooks | None]" = ContextVar("agentmut_botocore_hooks", default=None)
"""The hooks of the session that the calling code belongs to."""


class BotocoreHooks:
    """Carries what clients of botocore send while installed; see `installed`."""

    def __init__(self, codecs: tuple[Codec, ...], throttle: Throttle | None = None) -> None:
        self._codecs = codecs
        self._throttle = throttle

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Carry the requests of every client of this process during the block, then restore the original methods."""
        outer = _own.get()
        with ExitStack() as stack, when_imported("botocore.client", lambda: self._install(stack)):
            stack.callback(_own.set, outer)
            _own.set(self)
            yield

    def _install(self, stack: ExitStack) -> None:
        client, endpoint = (import_module(f"botocore.{name}") for name in ("client", "endpoint"))
        stack.enter_context(replaced(client.BaseClient, "_make_request", self._operation))
        stack.enter_context(replaced(endpoint.Endpoint, "_send", self._attempt))

    def _operation(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of one operation: rounds of requests, each with the client's own retries."""

        def make_request(client: Any, operation: Any, request: dict[str, Any], context: Any) -> Any:
            passage = self._passage(request)
            if passage is None:
                return original(client, operation, request, context)
            time.sleep(passage.pause)
            token = _carried.set(passage)
            try:
                while True:
                    call = passage.call
                    answer = original(client, operation, _with_call(request, call), context)
                    if passage.call is call:  # no other round is wanted
                        return answer
            finally:
                _carried.reset(token)

        return make_request

    def _attempt(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of one HTTP attempt."""

        def send(endpoint: Any, request: Any) -> Any:
            passage = _carried.get()
            if passage is None or _own.get() not in (None, self):
                return original(endpoint, request)
            token = _carried.set(None)  # it is this one's, should hooks of another session be installed below
            try:
                if played := passage.played():
                    return _recorded(request, played)
                with passage:
                    time.sleep(passage.hold(self._throttle))
                    return _in_agents_form(
                        original(endpoint, request), passage, streamed=request.stream_output
                    )
            finally:
                _carried.reset(token)

        return send

    def _passage(self, request: dict[str, Any]) -> Passage | None:
        trial, parts = current_trial(), urlsplit(request["url"])
        if trial is None or _carried.get() is not None or _own.get() not in (None, self):
            return None
        body = request["body"]
        if not isinstance(body, bytes | str):
            return None
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        host, body = parts.hostname or "", body.encode() if isinstance(body, str) else body
        passage = begin(trial, self._codecs, path, body, host=host)
        if passage is not None and is_loopback(host):  # a stand-in may want it
            request["headers"][TRIAL_HEADER] = trial.id
        return passage


def _with_call(request: dict[str, Any], call: HttpCall) -> dict[str, Any]:
    """Return the operation's request with this path and body, before it is signed."""
    path, _, query = call.path.partition("?")
    url = urlunsplit(urlsplit(request["url"])._replace(path=path, query=query))
    return {**request, "url": url, "url_path": path, "body": call.body}


def _recorded(request: Any, take: Take) -> Any:
    """Return the response that was recorded."""
    made = import_module("botocore.awsrequest")
    headers = made.HeadersDict({"content-type": take.content_type, "content-length": str(len(take.body))})
    return made.AWSResponse(request.url, take.status, headers, _CompleteBody(take.body))


def _in_agents_form(response: Any, passage: Passage, *, streamed: bool) -> Any:
    """Return the response in the client's form."""
    if response.status_code >= 400:
        passage.refused(response.status_code)
        return response
    # to botocore, the plain answer of InvokeModel streams as well
    kind = response.headers.get("content-type", "")
    if streamed and is_stream(kind) and passage.relays(kind):
        relay = passage.relay(response.status_code)
        relay.begun()
        response.raw = PassingRaw(response.raw, relay)
        return response
    given = passage.received(response.status_code, response.content)
    if given is None:
        return response
    headers = response.headers.copy()
    if "content-length" in headers:
        headers["content-length"] = str(len(given))  # of a streamed body, botocore compares it
    return type(response)(response.url, response.status_code, headers, _CompleteBody(given))


class _CompleteBody(io.BytesIO):
    """A complete body."""

    def stream(self, *_arguments: Any, **_options: Any) -> Iterator[bytes]:
        """Yield the body in one piece."""
        yield self.read()
