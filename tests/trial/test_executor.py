"""Many trials, repeated attempts, prices and the documents of scenarios."""

import asyncio
import time
from typing import Any

import httpx
import pytest

from agentmut._base.errors import UsageError
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.project.schema import Price
from agentmut.trial.executor import RetryingExecutor
from agentmut.trial.pricing import Pricer
from agentmut.trial.suite_config import SuiteConfig
from tests.trial.attempts import SCENARIO, asking, execute, local


def test_trouble_is_retried_with_pauses_until_it_passes(service: Any) -> None:
    service.replies(500, 429, "Hello.")
    started = time.monotonic()
    (execution,) = execute(RetryingExecutor(local(asking(service.url)), retries=3, wait=0.1))
    assert (execution.ending, execution.attempts) == (Ending.ANSWERED, 3)
    assert time.monotonic() - started > 0.5 * (0.1 + 0.2)
    assert execution.trace.usd == pytest.approx((7 * 1.0 + 3 * 2.0) / 1e6)


def test_trouble_that_stays_ends_after_the_retries_and_failures_are_not_retried(service: Any) -> None:
    service.answer = lambda request: 503
    (execution,) = execute(RetryingExecutor(local(asking(service.url)), retries=2, wait=0.01))
    assert (execution.ending, execution.attempts, len(service.requests)) == (Ending.INFRASTRUCTURE, 3, 3)
    runs: list[int] = []

    def fails(config: AgentConfig, given: Any) -> str:
        runs.append(1)
        raise ValueError

    (execution,) = execute(RetryingExecutor(local(fails), retries=2, wait=0.01))
    assert (execution.ending, execution.attempts, len(runs)) == (Ending.RAISED, 1, 1)


def test_attempts_that_were_no_evidence_have_cost_their_price(service: Any) -> None:
    """Two attempts fail at their second call. A call takes 7 tokens in and 3 out, at 1 and 2 dollars a million."""
    service.replies("Hello.", 500, "Hello.", 500, "Hello.", "Hello.")

    async def twice(config: AgentConfig, given: Any) -> Any:
        await asking(service.url)(config, given)
        return await asking(service.url)(config, "Go on")

    (execution,) = execute(RetryingExecutor(local(twice), retries=3, wait=0.01))
    assert (execution.ending, execution.attempts) == (Ending.ANSWERED, 3)
    assert execution.trace.usd == pytest.approx(2 * 13e-6)  # of the run that counts
    assert execution.trace.paid_usd == pytest.approx(4 * 13e-6)
    assert execution.trace.paid_tokens == 40


def test_time_spent_waiting_for_the_rate_limit_is_not_the_agents(service: Any) -> None:
    body = {"model": "sim-large", "messages": [{"role": "user", "content": "Hi"}]}

    async def agent(config: AgentConfig, given: Any) -> str:
        async with httpx.AsyncClient(verify=False) as client:
            return (await client.post(f"{service.url}/chat/completions", json=body)).text

    executions = execute(local(agent, timeout=1.0, requests_per_minute=480), times=12)
    assert [execution.ending for execution in executions] == [Ending.ANSWERED] * 12
    assert max(execution.trace.seconds for execution in executions) > 1.2


def test_many_trials_in_flight_do_not_wait_for_each_other() -> None:
    all_at_once = asyncio.Barrier(300)

    async def agent(config: AgentConfig, given: Any) -> str:
        await all_at_once.wait()
        return "x"

    executions = execute(local(agent), times=300)
    assert {execution.ending for execution in executions} == {Ending.ANSWERED}


def test_prices_come_from_the_project_then_from_the_public_list() -> None:
    pricer = Pricer({"mine": Price(input=1.0, output=2.0)}, provider="openai")
    assert pricer.cost("mine", Usage(input_tokens=1_000_000, output_tokens=500_000)) == pytest.approx(2.0)
    known = pricer.cost("gpt-4o", Usage(input_tokens=1_000_000))
    assert known is not None
    assert known > 0
    swapped = pricer.cost("claude-sonnet-4-5", Usage(input_tokens=1_000_000))
    assert swapped is not None
    for model in ("sim-large", "sim-medium", "sim-small", "no such model", ""):
        assert pricer.cost(model, Usage(input_tokens=10)) is None


def test_a_call_without_usage_has_no_known_price_and_a_failed_one_is_free() -> None:
    pricer = Pricer({"mine": Price(input=1.0, output=1.0)})
    steps = [
        Step(action=Action.REASON, model="mine", usage=Usage(input_tokens=1_000_000)),
        Step(action=Action.REASON, model="mine", error="refused"),
    ]
    assert pricer.priced(AgentTrace(steps=tuple(steps))).usd == pytest.approx(1.0)
    streamed = Step(action=Action.REASON, model="mine")
    assert pricer.priced(AgentTrace(steps=(*steps, streamed))).usd is None


def test_scenarios_run_with_their_own_documents_only() -> None:
    shared, own, foreign = (Document(name=name, text=name) for name in ("shared", "own", "foreign"))
    base = AgentConfig(context=(shared,))
    first = SCENARIO.model_copy(update={"name": "first", "context": (own, shared)})
    second = SCENARIO.model_copy(update={"name": "second", "context": (foreign,)})
    suite = SuiteConfig(base, iter([first, second]))
    assert suite.full.context == (shared, own, foreign)
    assert suite.part(suite.full, "first").context == (shared, own)
    assert suite.part(suite.full, "second").context == (shared, foreign)
    assert suite.carriers("own") == {"first"}
    assert suite.carriers("shared") == suite.carriers("") == {"first", "second"}


def test_two_documents_of_one_name_are_refused() -> None:
    one, other = (Document(name="notes", text=text) for text in ("one", "other"))
    first = SCENARIO.model_copy(update={"name": "first", "context": (one,)})
    second = SCENARIO.model_copy(update={"name": "second", "context": (other,)})
    with pytest.raises(UsageError, match="first: its document 'notes' differs"):
        SuiteConfig(AgentConfig(), [first, second])
