"""Sixteen concurrent trials on nine stacks: whose request is whose, in one process and through the proxy."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from typing import Any

from agentmut.nouns.messages import Role
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

TRIALS = 16
TURNS = 2
Ask = Callable[[Mapping[str, str], str], Awaitable[str]]
"""Given the endpoints, asks a model something through one stack and returns what it said."""

openai = importlib.import_module("openai")
httpx = importlib.import_module("httpx")
httpx2 = importlib.import_module("httpx2")


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


class Stacks:
    """The nine; clients are shared by all trials, as agents do it that keep one at module level."""

    def __init__(self) -> None:
        anthropic = importlib.import_module("anthropic")  # slow
        self.openai = openai.OpenAI(api_key="k", base_url="http://unset", max_retries=0)
        self.openai_async = openai.AsyncOpenAI(api_key="k", base_url="http://unset", max_retries=0)
        self.anthropic = anthropic.Anthropic(api_key="k", base_url="http://unset", max_retries=0)
        self.anthropic_async = anthropic.AsyncAnthropic(api_key="k", base_url="http://unset", max_retries=0)
        self.httpx = httpx.AsyncClient()
        self.httpx2 = httpx2.Client()

    async def openai_sync_plain(self, at: Mapping[str, str], text: str) -> str:
        client = self.openai.with_options(base_url=at["OPENAI_BASE_URL"])
        reply = await asyncio.to_thread(client.chat.completions.create, model="m", messages=user(text))
        return str(reply.choices[0].message.content)

    async def openai_async_streamed(self, at: Mapping[str, str], text: str) -> str:
        client = self.openai_async.with_options(base_url=at["OPENAI_BASE_URL"])
        chunks = await client.chat.completions.create(model="m", messages=user(text), stream=True)
        return "".join([c.choices[0].delta.content or "" async for c in chunks if c.choices])

    async def openai_async_responses(self, at: Mapping[str, str], text: str) -> str:
        client = self.openai_async.with_options(base_url=at["OPENAI_BASE_URL"])
        return str((await client.responses.create(model="m", input=text)).output_text)

    async def anthropic_sync_streamed(self, at: Mapping[str, str], text: str) -> str:
        client = self.anthropic.with_options(base_url=at["ANTHROPIC_BASE_URL"])

        def streamed() -> str:
            with client.messages.stream(model="m", max_tokens=99, messages=user(text)) as events:
                return str(events.get_final_text())

        return await asyncio.get_running_loop().run_in_executor(None, streamed)

    async def anthropic_async_plain(self, at: Mapping[str, str], text: str) -> str:
        client = self.anthropic_async.with_options(base_url=at["ANTHROPIC_BASE_URL"])
        reply = await client.messages.create(model="m", max_tokens=99, messages=user(text))
        return str(reply.content[0].text)

    async def anthropic_async_streamed(self, at: Mapping[str, str], text: str) -> str:
        client = self.anthropic_async.with_options(base_url=at["ANTHROPIC_BASE_URL"])
        async with client.messages.stream(model="m", max_tokens=99, messages=user(text)) as events:
            return str(await events.get_final_text())

    async def httpx_async_plain(self, at: Mapping[str, str], text: str) -> str:
        body = {"model": "m", "messages": user(text)}
        reply = await self.httpx.post(f"{at['OPENAI_BASE_URL']}/chat/completions", json=body)
        return str(reply.json()["choices"][0]["message"]["content"])

    async def httpx2_sync_streamed(self, at: Mapping[str, str], text: str) -> str:
        body = {"model": "m", "messages": user(text), "stream": True}
        url = f"{at['OPENAI_BASE_URL']}/chat/completions"

        def streamed() -> str:
            with self.httpx2.stream("POST", url, json=body) as response:
                return "".join(response.iter_text())

        wire = await asyncio.to_thread(streamed)
        return str(ChatCompletions().decode_reply(wire.encode()).text)

    async def langgraph(self, at: Mapping[str, str], text: str) -> str:
        graph, chat = importlib.import_module("langgraph.graph"), importlib.import_module("langchain_openai")
        model = chat.ChatOpenAI(model="m", base_url=at["OPENAI_BASE_URL"], api_key="k", max_retries=0)
        builder = graph.StateGraph(graph.MessagesState)
        builder.add_node("ask", lambda state: {"messages": [model.invoke(state["messages"])]})
        builder.add_edge(graph.START, "ask")
        state = await builder.compile().ainvoke({"messages": user(text)})
        return str(state["messages"][-1].content)

    def all(self) -> dict[str, Ask]:
        return {
            name: getattr(self, name) for name in vars(Stacks) if not name.startswith("_") and name != "all"
        }


async def converse(ask: Ask, at: Mapping[str, str], name: str) -> None:
    for turn in range(TURNS):
        said = await ask(at, f"I am {name}, turn {turn}.")
        assert said == f"You said: I am {name}, turn {turn}."


def check(trials: Mapping[str, Trial], polyglot: Any) -> None:
    """Every exchange is its trial's, none is missing, and the service was told so each time."""
    assert len(trials) == 9 * TRIALS
    for name, trial in trials.items():
        seen = [e.request.messages[0].text for e in trial.recorder.exchanges]
        assert seen == [f"I am {name}, turn {turn}." for turn in range(TURNS)]
        replies = [e.reply.text for e in trial.recorder.exchanges if e.reply]
        assert replies == [f"You said: {text}" for text in seen]
        assert trial.recorder.waiting == []
    told = [
        (headers["x-agentmut-trial"], next(m.text for m in request.messages if m.role is Role.USER))
        for headers, request in zip(polyglot.headers, polyglot.requests, strict=True)
    ]
    assert sorted(told) == sorted((n, f"I am {n}, turn {t}.") for n in trials for t in range(TURNS))


def test_in_one_process_each_exchange_is_its_trials(polyglot: Any) -> None:
    at = {"OPENAI_BASE_URL": f"{polyglot.origin}/v1", "ANTHROPIC_BASE_URL": polyglot.origin}

    async def one(ask: Ask, name: str) -> Trial:
        with running(Trial(name)) as trial:
            await converse(ask, at, name)
        return trial

    async def everything() -> dict[str, Trial]:
        asks = [(ask, f"{stack}-{i}") for stack, ask in Stacks().all().items() for i in range(TRIALS)]
        found = await asyncio.gather(*(one(ask, name) for ask, name in asks))
        return {trial.id: trial for trial in found}

    with Tap(all_codecs()).installed():
        trials = asyncio.run(everything())
    check(trials, polyglot)


def test_through_the_proxy_each_exchange_is_its_trials(polyglot: Any) -> None:
    """Trials are admitted in the proxy's own loop: it cancels what a trial leaves under way."""
    environment = {"OPENAI_BASE_URL": f"{polyglot.origin}/v1", "ANTHROPIC_BASE_URL": polyglot.origin}

    async def everything() -> dict[str, Trial]:
        asks = [(ask, f"{stack}-{i}") for stack, ask in Stacks().all().items() for i in range(TRIALS)]
        trials = {name: Trial(name) for _, name in asks}
        async with open_gateway(environment) as gateway:
            attempts = {name: gateway.attempt(name) for name in trials}
            with ExitStack() as stack:
                for trial in trials.values():
                    stack.enter_context(attempts[trial.id].admitted(trial))
                await asyncio.gather(*(converse(ask, attempts[name].endpoints, name) for ask, name in asks))
        return trials

    trials = asyncio.run(everything())
    check(trials, polyglot)


def test_programs_are_led_to_their_trial_and_past_an_http_proxy() -> None:
    environment = {
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "HTTPS_PROXY": "http://proxy.example",
        "NO_PROXY": "inside.example",
    }

    async def endpoints() -> Mapping[str, str]:
        async with open_gateway(environment) as gateway:
            return gateway.attempt("a b").endpoints

    found = asyncio.run(endpoints())
    assert found["OPENAI_BASE_URL"].endswith("/t/a%20b.1/openai/v1")
    assert found["ANTHROPIC_BASE_URL"].endswith("/t/a%20b.1/anthropic")
    assert found["no_proxy"] == found["NO_PROXY"] == "inside.example,127.0.0.1,localhost"
    assert not [name for name in found if name.startswith("AWS")]  # signed requests cannot pass a proxy


def test_two_attempts_at_one_trial_are_told_apart_while_both_are_under_way() -> None:
    async def named() -> None:
        async with open_gateway({}) as gateway:
            first, second = gateway.attempt("t"), gateway.attempt("t")
            with first.admitted(older := Trial("t")):
                with second.admitted(newer := Trial("t")):
                    found = [second.roster.trial(one.name) for one in (first, second)]
                assert second.roster.trial(first.name) is older
        assert found[0] is older and found[1] is newer

    asyncio.run(named())
