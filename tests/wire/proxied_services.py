"""A proxy on loopback in front of a service."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import Upstream

httpx = importlib.import_module("httpx")
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}
BODY = {
    "model": "sim-large",
    "messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": LOOK}],
}
Use = Callable[[Any, Trial, str], Awaitable[Any]]
"""Takes a client, the trial and the base URL of the trial's requests."""


def through(
    upstream: str, use: Use, rewriter: Any = None, path: str = "/t/t1/v1", **options: Any
) -> tuple[Trial, Any]:
    """What `use` returns, given a proxy to `upstream` and one trial under way."""

    async def carry_out() -> tuple[Trial, Any]:
        roster, trial = AdmittedTrials(), Trial("t1", rewriter=rewriter)
        async with AsyncExitStack() as stack:
            proxy = Proxy([Upstream(upstream)], roster, **options)
            origin = await stack.enter_async_context(proxy.serving())
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=600))
            with roster.admitted(trial):
                return trial, await use(client, trial, origin + path)

    return asyncio.run(carry_out())


async def ask(client: Any, trial: Trial, base: str) -> Any:
    return await client.post(f"{base}/chat/completions", json=BODY, headers={"authorization": "Bearer k"})
