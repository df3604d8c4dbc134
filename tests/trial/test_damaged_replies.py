"""Runs in which the service's reply was damaged are no evidence; replies that only agentmut cannot read are."""

import asyncio
from typing import Any

import openai
import pytest

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

CONFIG = AgentConfig(prompt="Be brief.", model=ModelConfig(name="m"))
SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="x"),))
BROKEN = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}#'
EXOTIC = b'{"choices": {"first": {"message": {"content": "Hello."}}}}'


def end(agent: Any) -> Execution:
    async def once() -> Execution:
        with Tap(all_codecs()).installed():
            return await attempt(CallableAdapter(agent, CONFIG), Case(SCENARIO, {}), "t", 0, 600.0)

    return asyncio.run(once())


async def ask(url: str, **options: Any) -> Any:
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **options}
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return await client.chat.completions.create(**asked)


@pytest.mark.parametrize("body", [BROKEN, b"", b"<html>The gateway is away</html>"])
def test_an_agent_that_stumbles_over_a_damaged_reply_met_trouble(body: bytes, service: Any) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        return str((await ask(service.url)).choices[0].message.content)

    service.answer = lambda request: body
    execution = end(agent)
    assert execution.ending is Ending.INFRASTRUCTURE


def test_an_agent_that_makes_do_with_a_damaged_reply_met_trouble_all_the_same(service: Any) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        try:
            return str((await ask(service.url)).choices[0].message.content)
        except ValueError:
            return "I am sorry."

    service.answer = lambda request: BROKEN
    execution = end(agent)
    assert (execution.ending, execution.reason) == (Ending.INFRASTRUCTURE, "the reply is not JSON")


def test_a_damaged_reply_that_was_asked_for_again_does_no_harm(service: Any) -> None:
    async def agent(config: AgentConfig, given: Any) -> str:
        for _ in range(2):
            try:
                return str((await ask(service.url)).choices[0].message.content)
            except ValueError:
                continue
        return ""

    service.replies(BROKEN, "Hello.")
    execution = end(agent)
    assert (execution.ending, execution.trace.text) == (Ending.ANSWERED, "Hello.")


def test_a_reply_that_only_agentmut_cannot_read_leaves_passes_and_failures_as_they_are(service: Any) -> None:
    async def reads(config: AgentConfig, given: Any) -> str:
        await ask(service.url)
        return "Hello."

    async def raises(config: AgentConfig, given: Any) -> str:
        await ask(service.url)
        raise ValueError("the agent's own")

    service.answer = lambda request: EXOTIC
    assert end(reads).ending is Ending.ANSWERED
    assert end(raises).ending is Ending.RAISED


def test_a_stream_that_the_agent_leaves_early_is_not_damaged(service: Any) -> None:
    async def leaves(config: AgentConfig, given: Any) -> str:
        async for chunk in await ask(service.url, stream=True):
            if chunk.choices[0].delta.content:
                return "enough"
        return "all"

    service.answer = lambda request: "Hello to all of you."
    execution = end(leaves)
    assert (execution.ending, execution.trace.text) == (Ending.ANSWERED, "enough")


def test_a_stream_that_its_service_cuts_off_between_two_events_is_no_answer(service: Any) -> None:
    async def gathers(config: AgentConfig, given: Any) -> str:
        said = [chunk.choices[0].delta.content or "" async for chunk in await ask(service.url, stream=True)]
        return "".join(said)

    event = b'data: {"choices": [{"index": 0, "delta": {"content": "You may "}}]}\n\n'
    service.answer = lambda request: event
    execution = end(gathers)
    assert (execution.ending, execution.reason) == (
        Ending.INFRASTRUCTURE,
        "the stream ends before its finish_reason: it was cut off",
    )
    service.answer = lambda request: event + b"data: [DONE]\n\n"
    assert end(gathers).ending is Ending.ANSWERED
