"""Requests a second that the simulator answers on one core, by a realistic request.

Run `python benchmarks/simulator.py`. Server and client are separate processes; the figure that counts is
requests per second of the server's own processor time, which other load on the machine hardly changes.
"""

import argparse
import asyncio
import json
import multiprocessing
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.service.server import serve

EXAMPLE = Path(__file__).parent.parent / "examples" / "support_desk"
TOOLS = {
    "lookup_order": "Look up an order: where it is, its status, its items and its total amount.",
    "verify_identity": "Verify the identity of the person writing, by the email address on file.",
    "issue_refund": "Issue a refund: sends the money back to the card. Cannot be undone.",
    "create_return_label": "Create a prepaid return label for sending goods back.",
    "cancel_order": "Cancel an order completely.",
    "escalate_to_human": "Escalate the case to a human colleague, who takes over.",
}
RESULTS = [
    ("lookup_order", '{"status": "delivered", "delivered_days_ago": 9, "items": ["stove"], "total": 89.9}'),
    ("verify_identity", '{"verified": true}'),
    ("create_return_label", '{"label": "https://labels.example.com/A-1007"}'),
]


def request_body(customer: int) -> bytes:
    """Return a request with the example's prompt and documents, six tools and eight messages."""
    documents = tuple(Document(name=p.name, text=p.read_text()) for p in sorted((EXAMPLE / "docs").iterdir()))
    config = AgentConfig(prompt=(EXAMPLE / "prompts" / "system.md").read_text(), context=documents)
    asked = f"The stove from order A-{customer} arrived broken, refund it. I am jon@example.com."
    messages: list[Any] = [
        {"role": "system", "content": config.system_text()},
        {"role": "user", "content": asked},
    ]
    for number, (name, result) in enumerate(RESULTS):
        call = {"name": name, "arguments": json.dumps({"order_id": f"A-{customer}"})}
        messages += [
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return json.dumps({"model": "sim-large", "messages": messages, "tools": _tools()}).encode()


def _tools() -> list[Any]:
    order = {"type": "string", "description": "Order number, such as A-1234"}
    schema: Any = {"type": "object", "properties": {"order_id": order}, "required": ["order_id"]}
    return [ToolSpec(name=n, description=d, parameters=schema).to_openai() for n, d in TOOLS.items()]


def main() -> None:
    """Start the server, send the requests, print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=3_000)
    requests = parser.parse_args().requests
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    url = ours.recv()
    wall = asyncio.run(_send(url, requests))
    ours.send("stop")
    cpu = ours.recv()
    server.join()
    print(f"requests                     {requests}")
    print(f"requests/s, wall clock       {requests / wall:.0f}")
    print(f"requests/s of one core       {requests / cpu:.0f}")


def _serve(pipe: Connection) -> None:
    asyncio.run(_serve_until_told(pipe))


async def _serve_until_told(pipe: Connection) -> None:
    async with serve() as url:
        pipe.send(url)
        started = time.process_time()
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        pipe.send(time.process_time() - started)


async def _send(url: str, requests: int) -> float:
    bodies = [request_body(1000 + customer) for customer in range(50)]
    started = time.perf_counter()
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(_client(session, url, bodies, first, requests) for first in range(8)))
    return time.perf_counter() - started


async def _client(
    session: aiohttp.ClientSession, url: str, bodies: list[bytes], first: int, requests: int
) -> None:
    for number in range(first, requests, 8):
        headers = {"x-agentmut-trial": str(number), "content-type": "application/json"}
        body = bodies[number % len(bodies)]
        async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
            await response.read()
            response.raise_for_status()


if __name__ == "__main__":
    main()
