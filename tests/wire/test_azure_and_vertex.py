"""Programs that ask Azure OpenAI or Vertex AI: the proxy has a door for each where the environment names it."""

import asyncio
import importlib
import json
from typing import Any

import pytest
from aiohttp import web

from agentmut.nouns.config import AgentConfig
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.refusal import RefusalError
from agentmut.wire.carriers.proxy.roster import Everyone
from agentmut.wire.carriers.proxy.server import Proxy
from agentmut.wire.carriers.proxy.upstream import destination, doors_of
from agentmut.wire.codecs import all_codecs
from agentmut.wire.rewriting.rewriter import ConfigRewriter

httpx, openai = importlib.import_module("httpx"), importlib.import_module("openai")

BASE = AgentConfig(prompt="Be kind. Never guess.")
MUTANT = AgentConfig(prompt="Be kind.")
OF_VERTEX = "/v1/projects/p/locations/europe-west1/publishers/google/models/gemini-x:generateContent"
CHAT_REPLY = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip
GEMINI_REPLY = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]
}


async def asked() -> tuple[list[tuple[str, str, Any]], Trial]:
    seen: list[tuple[str, str, Any]] = []
    trial = Trial(id="one", rewriter=ConfigRewriter(BASE, MUTANT))

    async def answer(http: web.BaseRequest) -> web.Response:
        key = str(http.headers.get("api-key") or http.headers.get("authorization", ""))
        seen.append((http.path_qs, key, json.loads(await http.read())))
        return web.json_response(GEMINI_REPLY if "models/" in http.path else CHAT_REPLY)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    here = f"http://127.0.0.1:{runner.addresses[0][1]}"
    doors = doors_of({"AZURE_OPENAI_ENDPOINT": here, "GOOGLE_VERTEX_BASE_URL": here})
    proxy = Proxy([door.upstream for door in doors], Everyone(lambda name: trial))
    async with proxy.serving() as origin:
        variables: dict[str, str] = {}
        for door in doors:
            variables |= door.variables(f"{origin}/t/one")
        client = openai.AsyncAzureOpenAI(
            azure_endpoint=variables["AZURE_OPENAI_ENDPOINT"],
            api_key="mine",
            api_version="2026-01-01",
            max_retries=0,
        )
        said = [{"role": "system", "content": BASE.prompt}, {"role": "user", "content": "Hi"}]
        await client.chat.completions.create(model="my-deployment", messages=said)
        body = {
            "systemInstruction": {"parts": [{"text": BASE.prompt}]},
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        }
        async with httpx.AsyncClient(headers={"authorization": "Bearer theirs"}) as plain:
            await plain.post(variables["GOOGLE_VERTEX_BASE_URL"] + OF_VERTEX, json=body)
    await runner.cleanup()
    return seen, trial


def test_requests_to_azure_and_vertex_are_changed_and_seen() -> None:
    (azure, vertex), trial = asyncio.run(asked())
    assert azure[:2] == ("/openai/deployments/my-deployment/chat/completions?api-version=2026-01-01", "mine")
    assert azure[2]["messages"][0]["content"].strip() == MUTANT.prompt
    assert vertex[:2] == (OF_VERTEX, "Bearer theirs")
    assert vertex[2]["systemInstruction"]["parts"][0]["text"].strip() == MUTANT.prompt
    assert [(one.dialect, one.answered) for one in trial.recorder.exchanges] == [
        ("chat_completions", True),
        ("gemini", True),
    ]


def test_a_path_without_a_service_goes_where_two_services_are_one_server() -> None:
    codecs, path = all_codecs(), "/v1beta/models/gemini-x:generateContent"
    one, other = "http://127.0.0.1:9001", "http://127.0.0.1:9002"

    def meant(gemini: str, vertex: str) -> str:
        named = {"GOOGLE_GEMINI_BASE_URL": gemini, "GOOGLE_VERTEX_BASE_URL": vertex}
        upstreams = [door.upstream for door in doors_of(named)]
        return destination(upstreams, codecs, "POST", path, "http://127.0.0.1:1").upstream.service

    assert meant(one, one) == "gemini"
    with pytest.raises(RefusalError, match="does not say which one is meant"):
        meant(one, other)


def test_without_their_variables_they_have_no_door() -> None:
    assert {door.service.name for door in doors_of({})} == {"openai", "anthropic", "gemini", "ollama"}
