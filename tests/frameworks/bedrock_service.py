"""A service that keeps agents of Bedrock: instruction and functions are its own, the simulated model decides."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from agentmut.adapters._bedrock_agent_terms import action_group
from agentmut.simulator.agents import Sessions
from agentmut.simulator.behave import reply
from agentmut.tools import ToolSpec
from agentmut.trial import TRIAL_HEADER
from agentmut.wire.codec import HttpCall
from agentmut.wire.dialects import bedrock_agent

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


@asynccontextmanager
async def served(answer: Any) -> AsyncIterator[str]:
    """The address at which a handler answers whatever is asked."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
