"""Tool servers of agents in this process: agentmut wraps their clients."""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from agentmut.recording import current_trial
from agentmut.trial.calls.offered import finds_offered_tools, passes_tools
from agentmut.trial.mcp.passage import call_reply, list_reply

S = TypeVar("S")


@passes_tools
@finds_offered_tools
def watch(session: S) -> S:
    """Put agentmut between an agent and a tool server: returns `session`, which is used as before.

    It is an `mcp.ClientSession`, of version 1 or 2, or an `mcp.Client`, or whatever has their `list_tools` and
    `call_tool`. In a trial the tools are those that the trial's config wants, calls of renamed ones find the tool,
    and every call is a step that doubles and faults can answer. Outside of trials it is as it was.

        async with Client("http://127.0.0.1:8000/mcp") as client:
            watch(client)

    Raises `TypeError` for what has no such methods.
    """
    if not all(callable(getattr(session, name, None)) for name in ("list_tools", "call_tool", "send_ping")):
        raise TypeError(
            f"agentmut.mcp.watch takes an mcp.ClientSession or an mcp.Client, not a {type(session).__name__}"
        )
    watched: Any = session
    if not hasattr(watched.call_tool, _WATCHED):
        watched.list_tools = _listing(watched.list_tools)
        watched.call_tool = _calling(watched.call_tool)
    return session


_WATCHED = "__agentmut_watched__"


def _listing(list_tools: Any) -> Any:
    @functools.wraps(list_tools)
    async def passed(*args: Any, **kwargs: Any) -> Any:
        result = await list_tools(*args, **kwargs)
        trial = current_trial()
        if trial is None:
            return result
        reply = _written(result)
        changed = list_reply(trial, reply)
        return result if changed == reply else type(result).model_validate(changed)

    return passed


def _calling(call_tool: Any) -> Any:
    @functools.wraps(call_tool)
    async def passed(name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        trial = current_trial()
        if trial is None:
            return await call_tool(name, arguments, *args, **kwargs)
        result, reply = None, None

        async def forward(own: str) -> Mapping[str, Any]:
            nonlocal result, reply
            result = await call_tool(own, arguments, *args, **kwargs)
            reply = _written(result)
            return reply

        given = await call_reply(trial, name, arguments or {}, forward)
        return result if given is reply else _result(given)

    setattr(passed, _WATCHED, True)
    return passed


def _written(result: Any) -> dict[str, Any]:
    """Return a value in the protocol's form; both versions of the package use the same names."""
    written: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return written


def _result(result: Mapping[str, Any]) -> Any:
    from mcp.types import CallToolResult

    return CallToolResult.model_validate(result)
