"""The token in a proxy's address: who was not given it is refused, other users of this machine included."""

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentmut.recording.trial import Trial
from agentmut.trial.mcp.front import open_tool_doors
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.proxy.roster import AdmittedTrials
from agentmut.wire.carriers.proxy.security import behind_token, new_token

TOKEN = re.compile(r"(http://127\.0\.0\.1:\d+)/([\w-]{22})(/.*)")


def without(url: str) -> str:
    found = TOKEN.fullmatch(url)
    assert found
    return found[1] + found[3]


def wrong(url: str) -> str:
    found = TOKEN.fullmatch(url)
    assert found
    return f"{found[1]}/{new_token()}{found[3]}"


async def _statuses(service: str, changed: Callable[[str], str]) -> tuple[int, int]:
    """What a program gets that asks for its models at its own address, and at a changed one."""
    async with open_gateway({"OPENAI_BASE_URL": f"{service}/v1"}) as gateway:
        led = gateway.attempt("t1")
        base = led.endpoints["OPENAI_BASE_URL"]
        async with httpx.AsyncClient() as client:
            with led.admitted(Trial("t1")):
                own = await client.get(f"{base}/models")
                other = await client.get(f"{changed(base)}/models")
    assert other.status_code != 403 or "no_token" in other.text
    return own.status_code, other.status_code


@pytest.mark.parametrize("changed", [without, wrong])
def test_a_program_has_the_token_and_nobody_else(changed: Callable[[str], str], polyglot: Any) -> None:
    assert asyncio.run(_statuses(polyglot.origin, changed)) == (200, 403)


def test_the_doors_of_tool_servers_have_a_token_too() -> None:
    async def asked() -> list[int]:
        roster = AdmittedTrials()
        async with open_tool_doors(roster) as doors, httpx.AsyncClient() as client:
            with roster.admitted(Trial("t1")):
                url = f"{doors.front}/t/t1/mcp/http://127.0.0.1:9/mcp"  # where nobody listens
                return [(await client.post(one, json={})).status_code for one in (url, without(url))]

    assert asyncio.run(asked()) == [502, 403]


def test_tokens_differ_and_are_compared_whole() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    for target in ("/abcd", "/abc/v1", "/abcde/v1", "/v1/abcd/", "//abcd/v1"):
        with pytest.raises(Exception, match="token"):
            behind_token(target, "abcd")
    assert behind_token("/abcd/v1?x=/abcd/", "abcd") == "/v1?x=/abcd/"


def listening(process: int) -> Iterator[str]:
    """Addresses that a process listens on, as the system lists them."""
    own = {str(path.readlink()) for path in Path(f"/proc/{process}/fd").iterdir() if path.is_symlink()}
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                yield fields[1].partition(":")[0]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads the system's table of sockets")
def test_nothing_listens_beyond_loopback(polyglot: Any) -> None:
    """`polyglot` is a service of the test itself on loopback."""

    async def addresses() -> set[str]:
        async with open_gateway({"OPENAI_BASE_URL": f"{polyglot.origin}/v1"}, tool_doors=open_tool_doors):
            return set(listening(os.getpid()))

    assert asyncio.run(addresses()) == {"0100007F"}
