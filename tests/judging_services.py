"""The services of OpenAI and Anthropic on loopback, as far as judges ask them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.loopback import served


def verdict(**met: bool) -> dict[str, Any]:
    return {id: {"reason": f"because of {id}", "met": value} for id, value in met.items()}


def _kind(body: bytes) -> str:
    return "text/html" if body.startswith(b"<") else "application/json"


class Bench:
    """Both services; `says` is asked with the request, and gives what the model reports, text, an HTTP status, or
    the body of a reply as it is.
    """

    def __init__(self) -> None:
        self.says: Callable[[dict[str, Any]], Any] = lambda asked: verdict(answer=True)
        self.asked: list[dict[str, Any]] = []

    def replies(self, *script: Any) -> None:
        waiting = list(script)
        self.says = lambda asked: waiting.pop(0) if len(waiting) > 1 else waiting[0]

    async def openai(self, http: web.Request) -> web.Response:
        self.asked.append(await http.json())
        said = self.says(self.asked[-1])
        if isinstance(said, bytes):
            return web.Response(body=said, content_type=_kind(said))
        if isinstance(said, int):
            return web.json_response(
                {"error": {"message": "slow down"}}, status=said, headers={"retry-after-ms": "1"}
            )
        content = said if isinstance(said, str) else json.dumps(said)
        message = {"role": "assistant", "content": content}
        if said == "refuse":
            message = {"role": "assistant", "content": None, "refusal": "I will not."}  # type: ignore[dict-item]
        return web.json_response({
            "id": "c1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 40},
        })  # fmt: skip

    async def anthropic(self, http: web.Request) -> web.Response:
        self.asked.append(await http.json())
        said = self.says(self.asked[-1])
        if isinstance(said, bytes):
            return web.Response(body=said, content_type=_kind(said))
        if isinstance(said, int):
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "slow down"}}
            return web.json_response(error, status=said, headers={"retry-after-ms": "1"})
        block = {"type": "tool_use", "id": "t1", "name": "report", "input": said}
        if isinstance(said, str):
            block = {"type": "text", "text": said}
        return web.json_response({
            "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "stop_sequence": None, "content": [block], "usage": {"input_tokens": 30, "output_tokens": 10},
        })  # fmt: skip


@pytest.fixture
def bench(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    found = Bench()

    with served(
        loop_thread, {"/v1/chat/completions": found.openai, "/v1/messages": found.anthropic}
    ) as address:
        url = address
        for name, value in {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": url,
                            "ANTHROPIC_API_KEY": "k"}.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        yield found
