"""The simulator as a service on this machine that speaks OpenAI Chat Completions."""

import errno
import hashlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

from aiohttp import web
from pydantic import JsonValue

from agentmut.errors import RunError, UsageError
from agentmut.simulator.behave import reply
from agentmut.simulator.profiles import PROFILES
from agentmut.wire.bodies import write_json
from agentmut.wire.chat_completions import ChatCompletions
from agentmut.wire.codec import HttpCall

TRIAL_HEADER = "x-agentmut-trial"
MAX_BODY = 64 * 2**20
_SEED = web.AppKey("seed", int)
_CODEC = ChatCompletions()


@asynccontextmanager
async def serve(host: str = "127.0.0.1", port: int = 0, seed: int = 0) -> AsyncIterator[str]:
    """Serve while the context is open; yields the base URL that `OPENAI_BASE_URL` wants.

    Port 0 takes a free one. Trials are told apart by the header `x-agentmut-trial` or by the path
    `/t/<trial>/v1`. Raises `UsageError` for a host that other machines can reach, and `RunError` when the
    port cannot be had.
    """
    _check_loopback(host)
    runner = web.AppRunner(application(seed), access_log=None, logger=_logger())
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await _start(site, host, port)
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


def _logger() -> logging.Logger:
    """Says what goes wrong here, but not that a client has hung up, as clients do when they are stopped."""
    logger = logging.Logger("agentmut.simulator")
    logger.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], ConnectionError)))
    return logger


def application(seed: int) -> web.Application:
    """The service's routes."""
    app = web.Application(client_max_size=MAX_BODY)
    app[_SEED] = seed
    app.router.add_post("/v1/chat/completions", _complete)
    app.router.add_post("/t/{trial}/v1/chat/completions", _complete)
    app.router.add_get("/v1/models", _models)
    app.router.add_get("/t/{trial}/v1/models", _models)
    return app


async def _complete(http: web.Request) -> web.Response:
    body = await http.read()
    try:
        request = _CODEC.decode_request(HttpCall(http.path, body))
    except ValueError as error:
        return _error(400, f"The simulator cannot read this request: {error}", "invalid_request")
    if request.model not in PROFILES:
        return _error(404, _unknown(request.model), "model_not_found")
    trial = http.headers.get(TRIAL_HEADER) or http.match_info.get("trial", "")
    answer = reply(request, seed=http.app[_SEED], trial=trial)
    encoded = _CODEC.encode_reply(answer, reply_id=_reply_id(trial, body), stream=request.stream)
    kind = "text/event-stream" if request.stream else "application/json"
    return web.Response(body=encoded, content_type=kind, charset="utf-8")


async def _models(http: web.Request) -> web.Response:
    models: list[JsonValue] = [
        {"id": name, "object": "model", "created": 0, "owned_by": "agentmut"} for name in PROFILES
    ]
    return web.Response(body=write_json({"object": "list", "data": models}), content_type="application/json")


def _error(status: int, message: str, code: str) -> web.Response:
    body = _CODEC.encode_error(status, message, code)
    return web.Response(status=status, body=body, content_type="application/json")


def _unknown(model: str) -> str:
    return f"The model `{model}` does not exist here. The simulator has {', '.join(PROFILES)}."


def _reply_id(trial: str, body: bytes) -> str:
    digest = hashlib.blake2b(trial.encode("utf-8", "surrogateescape"), digest_size=12)
    digest.update(body)
    return f"chatcmpl-{digest.hexdigest()}"


def _check_loopback(host: str) -> None:
    if host != "localhost" and not _is_loopback(host):
        raise UsageError(
            f"the simulator serves this machine only, and {host!r} is not a loopback address. Use 127.0.0.1."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _start(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "another program uses it" if taken else (error.strerror or str(error))
        raise RunError(
            f"the simulator cannot listen on {host}:{port}: {why}. "
            "Choose another one with --port, or 0 for any free one."
        ) from error
