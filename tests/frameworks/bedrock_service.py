"""A service that keeps agents of Bedrock: instruction and functions are its own, the simulated model decides."""

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from agentmut._base.environment import environ
from agentmut.adapters.bedrock_agents.terms import action_group
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.trial import TRIAL_HEADER
from agentmut.simulator.mind.behave import reply
from agentmut.simulator.service.agents import Sessions
from agentmut.wire.dialects import aws_event_stream, bedrock_agent

AGENT, ALIAS = "DESKAGENT1", "LIVE"


class Keeper:
    """Answers InvokeAgent for one agent that it keeps."""

    def __init__(self, instruction: str, tools: Sequence[ToolSpec]) -> None:
        self._own = {"instruction": instruction, "actionGroups": action_group("desk", tools)}
        self._sessions = Sessions()
        self.bodies: list[Any] = []

    async def answer(self, http: web.Request) -> web.Response:
        body = json.loads(await http.read())
        self.bodies.append(body)
        call = HttpCall(http.path, json.dumps({**body, **self._own}).encode())
        turn = self._sessions.turn("", call)
        asked = turn.request.model_copy(update={"model": "sim-large"})
        said = reply(asked, seed=0, trial=http.headers.get(TRIAL_HEADER, ""), parallel=True)
        invocation = f"{turn.call.session}-{len(turn.request.messages)}"
        stream = self._sessions.answered(turn, said, invocation, kept=True)
        return web.Response(body=stream, headers=bedrock_agent.headers(turn.call))


class Script:
    """Answers each call with the next of some bodies, or with a status; what was asked is kept."""

    def __init__(self, *answers: bytes | int) -> None:
        self._answers = list(answers)
        self.bodies: list[Any] = []
        self.trials: list[str | None] = []
        self.sessions: list[str] = []

    async def answer(self, http: web.Request) -> web.Response:
        self.bodies.append(json.loads(await http.read()))
        self.sessions.append(http.path)
        self.trials.append(http.headers.get(TRIAL_HEADER))
        found = self._answers.pop(0)
        if isinstance(found, int):
            return web.json_response({"message": "not now"}, status=found)
        kind = "application/json" if found.startswith(b"{") else aws_event_stream.MEDIA_TYPE
        return web.Response(body=found, headers={"Content-Type": kind})


def told(**trace: Any) -> bytes:
    """A trace event of the orchestration; `of` is the collaborator that it is about."""
    whose = {"collaboratorName": trace.pop("of")} if "of" in trace else {}
    return aws_event_stream.event("trace", {**whose, "trace": {"orchestrationTrace": trace}})


def thought(tokens: int, **more: Any) -> bytes:
    """The trace events of one call of the model."""
    usage = {"inputTokens": tokens, "outputTokens": 1}
    asked = told(modelInvocationInput={"foundationModel": "claude", "text": "..."}, **more)
    said = {"metadata": {"usage": usage}, "rawResponse": {"content": "I think."}}
    return asked + told(modelInvocationOutput=said, **more)


def answer(text: str) -> bytes:
    """The event with an answer."""
    data = base64.b64encode(text.encode()).decode()
    return aws_event_stream.event("chunk", {"bytes": data})


def hand_back(*inputs: Any) -> bytes:
    """The event that hands control back."""
    return aws_event_stream.event("returnControl", {"invocationId": "i1", "invocationInputs": list(inputs)})


def guarded() -> bytes:
    """The trace event of a guardrail that intervenes."""
    return aws_event_stream.event("trace", {"trace": {"guardrailTrace": {"action": "INTERVENED"}}})


def broken(message: str, kind: str = "internalServer") -> bytes:
    """The event that ends a stream with an error."""
    return aws_event_stream.exception(f"{kind}Exception", message)


def failed(reason: str) -> bytes:
    """The trace event of a failure."""
    return aws_event_stream.event("trace", {"trace": {"failureTrace": {"failureReason": reason}}})


@contextmanager
def served(loop: Any, handle: Any) -> Iterator[str]:
    """The address at which a handler answers whatever is asked; `loop` is the fixture `loop_thread`."""

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop.run(start())
    try:
        named = (f"AWS_ENDPOINT_URL_BEDROCK_{part}RUNTIME" for part in ("", "AGENT_"))
        with environ(_VARIABLES | dict.fromkeys(named, _url(runner))):
            yield _url(runner)
    finally:
        loop.run(runner.cleanup())


_VARIABLES = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-central-1"}
_VARIABLES |= {"AWS_DEFAULT_REGION": "eu-central-1"}


def _url(runner: web.AppRunner) -> str:
    return f"http://127.0.0.1:{runner.addresses[0][1]}"
