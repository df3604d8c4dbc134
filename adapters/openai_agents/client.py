"""The HTTP client that the OpenAI Agents SDK keeps for the whole process, in an event loop of a later run."""

import asyncio
import weakref
from typing import Any

from agents.models import openai_provider

_LOOP = "_agentmut_loop"


def keep_to_this_loop() -> None:
    """Have the SDK make a new client where its own may belong to another event loop.

    Its connections end with the loop that they were made in; whoever meets one of them later is told that the event
    loop is closed. Each campaign, and each run of a suite under pytest, has a loop of its own.
    """
    loop = asyncio.get_running_loop()
    client: Any = getattr(openai_provider, "_http_client", None)
    known = getattr(client, _LOOP, None)
    if known is not None and known() is loop:
        return
    if client is not None:
        openai_provider._http_client = None
    setattr(openai_provider.shared_http_client(), _LOOP, weakref.ref(loop))
