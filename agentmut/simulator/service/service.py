"""The handling of requests in the simulator: the dialects around one simulated model."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial, reduce
from math import ceil
from typing import Any, NamedTuple

from aiohttp import web

from agentmut.nouns import Body, Codec, HttpCall, ModelReply, ModelRequest
from agentmut.recording import TRIAL_HEADER, trial_and_path
from agentmut.simulator.mind.behave import reply
from agentmut.simulator.mind.profiles import PROFILES
from agentmut.simulator.service import dialects, fields, ledgers, model_lists, react, speakers, thoughts
from agentmut.simulator.service.agents import BedrockAgents, Conversations, Sessions, UnknownResponseError
from agentmut.simulator.service.engines import AgentEngines
from agentmut.simulator.service.sending import Delay, Reply, hang, reset, send
from agentmut.simulator.service.service_settings import Settings
from agentmut.simulator.service.trouble import FaultKind
from agentmut.wire import all_codecs, codec_for
from agentmut.wire.bodies import mapping, read_json, write_json

AGENTS = BedrockAgents()
Dialect = Codec | BedrockAgents | AgentEngines
_ERRORS: Mapping[FaultKind | None, tuple[int, str, str]] = {
    FaultKind.RATE_LIMIT: (429, "The simulator was told to refuse this one.", "rate_limit_exceeded"),
    FaultKind.SERVER_ERROR: (500, "The simulator was told to fail here.", "server_error"),
    FaultKind.UNAVAILABLE: (503, "The simulator was told to be overloaded here.", "overloaded"),
}


class _FullRequest(NamedTuple):
    """A request with the conversation before it."""

    body: Body
    call: HttpCall


class ReceivedRequest(NamedTuple):
    """A request to a model, as it came in."""

    trial: str
    number: int
    """Among the requests of its trial, from 1."""
    dialect: str
    path: str
    """Without the part that names the trial."""
    request: ModelRequest | None
    """None where it cannot be read, or was not looked at because of the trouble it met."""
    fault: FaultKind | None
    """The trouble that it met."""


class _Refusal(Exception):  # noqa: N818 - it is what the client is told, no error of this program
    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _Arrival(NamedTuple):
    """A request on its way through the service."""

    codec: Dialect
    call: HttpCall
    trial: str
    number: int
    fault: FaultKind | None


class Service:
    """The handlers of one server, with its memory."""

    def __init__(self, settings: Settings, received: Callable[[ReceivedRequest], None] | None = None) -> None:
        self._settings = settings
        self._received = received
        self._numbers: Counter[str] = Counter()
        self._conversations = Conversations()
        self._sessions = Sessions()
        self._engines = AgentEngines()

    async def answer(self, http: web.Request) -> web.StreamResponse:
        """Return a request to a model, in any dialect."""
        trial, path = _trial_and_path(http)
        agents = (agent for agent in (AGENTS, self._engines) if agent.matches(path))
        codec = codec_for(path) or next(agents, None)
        if codec is None:
            return _no_such_path(path)
        number, fault = self._numbered(trial)
        came = _Arrival(codec, HttpCall(path, await http.read()), trial, number, fault)
        if self._received is not None:
            self._received(_received(came))
        settings = self._settings
        if settings.latency:
            await asyncio.sleep(settings.latency.seconds_for(settings.seed, trial, number))
        if fault is FaultKind.HANG:
            await hang()
        if fault is FaultKind.RESET:
            return reset(http)
        return await send(http, self._reply(came), fault, self._delay(came))

    async def models(self, http: web.Request) -> web.StreamResponse:
        """Return the list of models, or one model, in the dialect of the client."""
        _, path = _trial_and_path(http)
        names = [*PROFILES, *self._settings.aliases]
        body = model_lists.answer(path, names, http.headers)
        if body is None:
            return _no_such_path(path)
        return web.Response(body=write_json(body), content_type="application/json")

    def _numbered(self, trial: str) -> tuple[int, FaultKind | None]:
        if self._settings.is_plain and self._received is None:
            return 0, None  # nobody asks for numbers, which would be kept for every trial
        self._numbers[trial] += 1
        number = self._numbers[trial]
        return number, self._settings.trouble.fault_for(trial, number)

    def _delay(self, came: _Arrival) -> Delay | None:
        chunks, seed = self._settings.chunk_latency, self._settings.seed
        if not chunks:
            return None
        return lambda chunk: chunks.seconds_for(seed, came.trial, came.number, str(chunk))

    def _reply(self, came: _Arrival) -> Reply:
        try:
            return self._failed(came) or self._answered(came)
        except _Refusal as refusal:
            return _error(came.codec, refusal)
        except ValueError as error:
            message = f"The simulator cannot read this request: {error}"
            return _error(came.codec, _Refusal(400, message, "invalid_request"))

    def _failed(self, came: _Arrival) -> Reply | None:
        """Return the error that a request gets from its fault."""
        if came.fault not in _ERRORS:
            return None
        error = _error(came.codec, _Refusal(*_ERRORS[came.fault]))
        if came.fault is not FaultKind.RATE_LIMIT:
            return error
        return error._replace(headers=_retry_after(self._settings.trouble.retry_after))

    def _answered(self, came: _Arrival) -> Reply:
        codec, body = came.codec, came.call.body
        if isinstance(codec, BedrockAgents):
            return self._of_agent(came)
        if isinstance(codec, AgentEngines):
            return codec.answer(came.call, partial(self._model_reply, came=came), kept=came.fault is None)
        whole = self._full_request(came) if codec.name == dialects.RESPONSES else None
        request = codec.decode_request(came.call if whole is None else whole.call)
        answer = self._model_reply(request, came)
        reply_id = dialects.reply_id(codec, came.trial, body)
        if whole is not None:
            plain = read_json(codec.encode_reply(answer, reply_id=reply_id, stream=False))
            self._conversations.keep(reply_id, whole.body, plain["output"], len(body))
        encoded = codec.encode_reply(answer, reply_id=reply_id, stream=request.stream)
        if not request.stream:
            return Reply(codec.content_type(stream=False), [encoded])
        return dialects.stream(codec, came.call, encoded)

    def _of_agent(self, came: _Arrival) -> Reply:
        turn = self._sessions.turn(came.trial, came.call)
        before = len(turn.request.messages)
        invocation_id = dialects.digest(came.trial, came.call.body, str(before).encode())
        answer = self._model_reply(turn.request, came)
        encoded = self._sessions.answered(turn, answer, invocation_id, kept=came.fault is None)
        return dialects.agent_stream(turn.call, encoded)

    def _model_reply(self, request: ModelRequest, came: _Arrival) -> ModelReply:
        model = self._settings.aliases.get(request.model, request.model)
        if model not in PROFILES:
            raise _Refusal(404, _unknown(request.model, came.call.path), "model_not_found")
        if model != request.model:
            asked = request.model_copy(update={"model": model})
            return self._model_reply(asked, came).model_copy(update={"model": request.model})
        parallel = not dialects.wants_single_calls(came.call.body)
        return _in_its_form(request, seed=self._settings.seed, trial=came.trial, parallel=parallel)

    def _full_request(self, came: _Arrival) -> _FullRequest:
        given = dict(mapping(read_json(came.call.body), "the body"))
        try:
            body = self._conversations.whole(given)
        except UnknownResponseError as error:
            raise _Refusal(400, str(error), "previous_response_not_found") from None
        return _FullRequest(body, came.call if body is given else came.call._replace(body=write_json(body)))


def _in_its_form(request: ModelRequest, **options: Any) -> ModelReply:
    """Return the simulated model's reply in the text form of the agent's framework, if it has one."""
    forms = (fields.answered, speakers.answered, ledgers.answered, thoughts.answered, react.answered)
    answer = reduce(lambda inner, form: partial(form, reply=inner), reversed(forms), reply)
    return answer(request, **options)


def _trial_and_path(http: web.Request) -> tuple[str, str]:
    """Return the trial of a request, and its path without the trial."""
    named, path = trial_and_path(http.raw_path)
    return http.headers.get(TRIAL_HEADER) or named or "", path


def _received(came: _Arrival) -> ReceivedRequest:
    try:
        request = came.codec.decode_request(came.call)
    except ValueError:
        request = None
    return ReceivedRequest(came.trial, came.number, came.codec.name, came.call.path, request, came.fault)


def _error(codec: Dialect, refusal: _Refusal) -> Reply:
    body = codec.encode_error(refusal.status, str(refusal), refusal.code)
    return Reply("application/json", [body], status=refusal.status)


def _retry_after(seconds: float) -> dict[str, str]:
    """Return the standard header in whole seconds, and the finer header that SDKs read first."""
    return {"Retry-After": str(ceil(seconds)), "Retry-After-Ms": f"{seconds * 1000:g}"}


def _unknown(model: str, path: str) -> str:
    if "/agentAliases/" in path:
        return (
            f"The simulator keeps no agents, and `{model}` is one that is deployed at AWS. Run it there, or as an "
            "inline agent: agent.options: {inline: true}."
        )
    return (
        f"The model `{model}` does not exist here. The simulator has {', '.join(PROFILES)}; "
        f"`agentmut simulate --alias {model}=sim-large` gives one of them this name."
    )


def _no_such_path(path: str) -> web.Response:
    known = ", ".join([*(codec.name for codec in all_codecs()), AGENTS.name, AgentEngines.name])
    message = f"The simulator has nothing at {path[:200]!r}. It speaks {known}."
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=404)
