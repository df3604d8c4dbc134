"""Adapter for an agent behind an HTTP endpoint: a service that the user starts.

Its model requests pass agentmut's proxy if the service sends them there: to the fixed port `agent.proxy_port` with the
header `x-agentmut-trial` of the request that it was asked with, or to the address that a header or the body gives it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import quote, urlsplit

from pydantic import JsonValue

from agentmut._base import AdapterError, UnavailableError, UsageError
from agentmut.adapters._shared.outside.agents import (
    OutsideAgent,
    as_input,
    check_options,
    outside_trace,
    placeholders_in,
    record_steps,
)
from agentmut.adapters._shared.outside.answers import NoAnswerError, answer_in, check_pointer
from agentmut.adapters._shared.outside.placeholders import as_word, filled
from agentmut.adapters._shared.outside.programs import LIMIT
from agentmut.adapters._shared.outside.templates import endpoint_values, filled_body, texts
from agentmut.nouns import AgentConfig, AgentTrace
from agentmut.recording import TRIAL_HEADER, Redactor, Trial, belonging, header_secrets, url_secrets
from agentmut.seams import AgentKeys, AgentSpec, TakesKeys
from agentmut.wire.bodies import write_json

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

DEFAULT_BODY: JsonValue = {"input": "{input}"}
OWN = ("input", "turns", "trial")
"""Placeholders besides the parts of the config and the addresses of model services."""
REDIRECTS = 5
"""Redirects within the service that are followed."""
BUSY = frozenset({408, 425, 429, 502, 503, 504})
"""Statuses that say nothing about the agent: it is overloaded, or what stands before it does not reach it."""
MISDIRECTED = frozenset({401, 403, 404, 405, 407, 410})
"""Statuses that say that the project file is wrong: the address, the method, or the credentials."""


class ServiceError(RuntimeError):
    """The agent's service failed: it reported an error, broke off, or gave no answer."""


class Reply(NamedTuple):
    """The service's reply."""

    status: int
    kind: str
    body: bytes


@dataclass(frozen=True)
class HttpAdapter(OutsideAgent, TakesKeys):
    """Asks `agent.url` once for each trial, in a new session."""

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        "url",
        "http://127.0.0.1:8000/ask",
        frozenset({"method", "headers", "body", "answer", "proxy_port", "options"}),
    )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "HttpAdapter":
        """Check address, headers, body and their placeholders, without a request."""
        url = urlsplit(spec.url or "")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise UsageError(
                "agent.url: adapter http needs the address of the agent, as http://127.0.0.1:8000/ask"
            )
        check_pointer(spec.answer)
        check_options(spec, config)
        names = placeholders_in(_templates(spec), config, OWN)
        if spec.method == "GET" and (spec.body is not None or not names & {"input", "turns"}):
            raise UsageError(
                "agent.method: a GET request has no body; put {input} into agent.url, as in ?q={input}"
            )
        return cls(spec, config, config, names)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Ask once and read the answer. Several turns are given all at once."""
        trial.recorder.config_reads |= self.carries - {"tools"}  # which its servers tell
        try:
            answer = await self._answer_of(self._values(turns, trial), trial)
        finally:
            record_steps(trial)
        return outside_trace(answer, trial, len(turns) - 1)

    def _values(self, turns: tuple[JsonValue, ...], trial: Trial) -> dict[str, JsonValue]:
        own: dict[str, JsonValue] = {"input": as_input(turns), "turns": list(turns), "trial": trial.id}
        return {**self.values(), **endpoint_values(trial, self.names), **own}

    async def _answer_of(self, values: Mapping[str, JsonValue], trial: Trial) -> JsonValue:
        from aiohttp import ClientError, ClientSession, ClientTimeout

        reply: Reply | Exception
        try:
            with belonging(None):  # the agent is asked, and no model, also where its path is a model's
                async with ClientSession(timeout=ClientTimeout(total=None)) as session:
                    reply = await self._reply(session, self._request(values, trial))
        except (ClientError, OSError) as error:
            reply = self._trouble(error)
        if isinstance(reply, Exception):  # raised here, without the client's own error: that may hold secrets
            raise reply
        self._check(reply, trial.redact)
        return self._answer(reply, trial.redact)

    def _request(self, values: Mapping[str, JsonValue], trial: Trial) -> dict[str, Any]:
        """Return method, address, headers and body as keywords of aiohttp."""
        words = {name: as_word(value) for name, value in values.items()}
        headers = {TRIAL_HEADER: trial.id}
        for name, value in self.spec.headers.items():
            headers[name] = filled(value.get_secret_value(), words.__getitem__, "agent.headers")
        url = filled(self.spec.url or "", lambda name: quote(words[name], safe=""), "agent.url")
        request: dict[str, Any] = {"method": self.spec.method, "url": url, "headers": headers}
        if self.spec.method == "GET":
            return request
        template = DEFAULT_BODY if self.spec.body is None else self.spec.body
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        return {**request, "data": write_json(filled_body(template, values))}

    async def _reply(self, session: "ClientSession", request: dict[str, Any]) -> Reply:
        for _ in range(REDIRECTS + 1):
            async with session.request(**request, allow_redirects=False) as response:
                if not (response.status in (301, 302, 303, 307, 308) and "location" in response.headers):
                    return Reply(response.status, response.content_type, await _body(response))
                request = self._redirected(request, response)
        raise AdapterError(f"{self.place} redirects more than {REDIRECTS} times; correct agent.url")

    def _redirected(self, request: dict[str, Any], response: "ClientResponse") -> dict[str, Any]:
        """Return the redirected request, if the service is the same: another one gets neither input nor secrets."""
        from yarl import URL

        try:
            new = response.url.join(URL(response.headers["location"]))
            origin = new.origin()
        except ValueError:
            raise ServiceError(f"{self.place} redirects ({response.status}) to what is no address") from None
        if origin != response.url.origin():
            raise AdapterError(
                f"{self.place} redirects to {origin}, another service, which was not asked; "
                "put its address into agent.url if that is right"
            )
        if response.status in (307, 308):
            return {**request, "url": new}
        return {"method": "GET", "url": new, "headers": request["headers"]}

    def _trouble(self, error: Exception) -> Exception:
        """Return the error: an unreachable service is no evidence; a service that breaks off has failed."""
        from aiohttp import ClientConnectorError, InvalidURL, ServerTimeoutError

        if isinstance(error, InvalidURL):
            return AdapterError("agent.url: the address is no longer one when its placeholders are filled in")
        if isinstance(error, ClientConnectorError | ServerTimeoutError):
            return UnavailableError(f"nothing answers at {self.place}; start the service before the run")
        return ServiceError(
            f"{self.place} broke off the connection while it was asked ({type(error).__name__})"
        )

    def _check(self, reply: Reply, redact: Callable[[str], str]) -> None:
        if reply.status < 400:
            return
        said = f"{self.place} answered {reply.status}{self._described_reply(reply, redact)}"
        if reply.status in MISDIRECTED:
            raise AdapterError(f"{said}. Correct agent.url, agent.method or agent.headers")
        raise UnavailableError(said) if reply.status in BUSY else ServiceError(said)

    def _described_reply(self, reply: Reply, redact: Callable[[str], str]) -> str:
        """Return the beginning of a body, without secrets, such as what the service may repeat of headers
        and address.
        """
        own = Redactor(header_secrets(self.spec.headers) | url_secrets(self.spec.url or ""))
        said = " ".join(redact(own.text(reply.body.decode("utf-8", "replace"))).split())
        return f": {said[:300]}" if said else ""

    def _answer(self, reply: Reply, redact: Callable[[str], str]) -> JsonValue:
        text = reply.body.decode("utf-8", "replace")
        is_json = reply.kind == "application/json" or reply.kind.endswith("+json")
        if self.spec.answer is None and not is_json:
            return text
        try:
            return answer_in(text, self.spec.answer or "", "the reply", redact)
        except NoAnswerError as error:
            raise ServiceError(str(error)) from None


def _templates(spec: AgentSpec) -> Iterator[tuple[str, str]]:
    """Yield every text that may hold placeholders, with its place."""
    yield "agent.url", spec.url or ""
    for name, value in spec.headers.items():
        if any(char in name + value.get_secret_value() for char in "\r\n\0"):
            raise UsageError(f"agent.headers.{name}: a header is one line")
        yield f"agent.headers.{name}", value.get_secret_value()
    default = DEFAULT_BODY if spec.method != "GET" else None
    yield from (("agent.body", text) for text in texts(default if spec.body is None else spec.body))


async def _body(response: "ClientResponse") -> bytes:
    held = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        held += chunk
        if len(held) > LIMIT:
            raise ServiceError(f"the reply is longer than {LIMIT // 2**20} MB")
    return bytes(held)
