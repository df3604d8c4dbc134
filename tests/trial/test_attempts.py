"""How runs end: real clients against a service on loopback that fails as it is told."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import openai
import pytest

from agentmut._base.errors import AdapterError
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import Action, Outcome
from tests.trial.attempts import RUDE, asking, blocking, end


def test_an_answer_ends_a_run_well_and_leaves_no_thread(service: Any) -> None:
    for agent in (asking(service.url), blocking(service.url)):
        execution = end(agent)
        assert (execution.ending, execution.trace.output) == (Ending.ANSWERED, "Hello.")
        assert not execution.abandoned
        assert execution.footprint.requests[0].model == "sim-large"


@pytest.mark.parametrize("make", [asking, blocking])
@pytest.mark.parametrize(
    ("status", "ending"),
    [
        (429, Ending.INFRASTRUCTURE),
        (500, Ending.INFRASTRUCTURE),
        (503, Ending.INFRASTRUCTURE),
        (408, Ending.INFRASTRUCTURE),
        (400, Ending.REFUSED),
        (401, Ending.REFUSED),
        (404, Ending.REFUSED),
    ],
)
def test_what_the_service_answers_decides(make: Any, status: int, ending: Ending, service: Any) -> None:
    service.answer = lambda request: status
    assert end(make(service.url)).ending is ending


def test_a_dead_endpoint_is_infrastructure() -> None:
    assert end(asking("http://127.0.0.1:9/v1")).ending is Ending.INFRASTRUCTURE
    assert end(blocking("http://127.0.0.1:9/v1")).ending is Ending.INFRASTRUCTURE


@pytest.mark.parametrize(("status", "ending"), [(500, Ending.INFRASTRUCTURE), (404, Ending.REFUSED)])
def test_an_agent_that_hides_the_failure_of_its_model_is_no_evidence(
    status: int, ending: Ending, service: Any
) -> None:
    service.answer = lambda request: status

    async def agent(config: AgentConfig, given: Any) -> str:
        with contextlib.suppress(openai.APIStatusError):
            await asking(service.url)(config, given)
        return "Sorry, try again later."

    assert end(agent).ending is ending


def test_trouble_in_one_of_several_requests_counts_whatever_came_last(service: Any) -> None:
    service.answer = lambda request: 500 if "bad" in request.messages[0].text else "Hello."

    async def agent(config: AgentConfig, given: Any) -> str:
        with contextlib.suppress(openai.APIStatusError):
            await asking(service.url)(config, "bad")
        answer: str = await asking(service.url)(config, "good")
        return answer

    assert end(agent).ending is Ending.INFRASTRUCTURE


def test_retries_of_the_sdk_are_attempts_of_which_the_last_decides(service: Any) -> None:
    service.replies(500, 429, "Hello.")
    execution = end(asking(service.url, max_retries=2), timeout=600)
    assert execution.ending is Ending.ANSWERED
    assert len(service.requests) == 3
    assert len([step for step in execution.trace.steps if step.action is Action.REASON]) == 1


class WrappedError(Exception):
    """As frameworks wrap what their clients raise."""


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[..., Any]:
    async def agent(config: AgentConfig, given: Any) -> Any:
        raise error from cause

    return agent


REQUEST, REQUEST2 = httpx.Request("POST", "http://x/v1"), httpx2.Request("POST", "http://x/v1")


LIMITED = openai.RateLimitError("slow down", response=httpx2.Response(429, request=REQUEST2), body=None)


INVALID = openai.BadRequestError("no such field", response=httpx2.Response(400, request=REQUEST2), body=None)


class ToolHTTPError(Exception):
    status_code = 404


@pytest.mark.parametrize(
    ("error", "cause", "ending"),
    [
        (LIMITED, None, Ending.INFRASTRUCTURE),
        (WrappedError(), LIMITED, Ending.INFRASTRUCTURE),
        (ExceptionGroup("in parallel", [ValueError(), LIMITED]), None, Ending.INFRASTRUCTURE),
        (openai.APIConnectionError(request=REQUEST2), None, Ending.INFRASTRUCTURE),
        (WrappedError(), openai.APITimeoutError(REQUEST2), Ending.INFRASTRUCTURE),
        (httpx.ConnectError("refused"), None, Ending.INFRASTRUCTURE),
        (httpx2.ReadTimeout("silent"), None, Ending.INFRASTRUCTURE),
        (httpx.RemoteProtocolError("cut off"), None, Ending.INFRASTRUCTURE),
        (ConnectionResetError(), None, Ending.INFRASTRUCTURE),
        (
            httpx.HTTPStatusError("", request=REQUEST, response=httpx.Response(503)),
            None,
            Ending.INFRASTRUCTURE,
        ),
        (httpx.HTTPStatusError("", request=REQUEST, response=httpx.Response(404)), None, Ending.RAISED),
        (INVALID, None, Ending.REFUSED),
        (WrappedError(), INVALID, Ending.REFUSED),
        (ToolHTTPError(), None, Ending.RAISED),
        (ValueError("mine"), None, Ending.RAISED),
        (KeyError("tool"), None, Ending.RAISED),
        (SystemExit(2), None, Ending.RAISED),
        (asyncio.CancelledError(), None, Ending.RAISED),
        (StopAsyncIteration(), None, Ending.RAISED),
        (AdapterError("no graph"), None, Ending.UNBUILDABLE),
    ],
)
def test_exceptions_are_told_apart_by_what_they_came_from(
    error: BaseException, cause: BaseException | None, ending: Ending
) -> None:
    execution = end(raising(error, cause))
    assert execution.ending is ending
    assert execution.trace.error is not None


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt(), StopIteration(3), ValueError("mine")])
def test_nothing_that_a_blocking_agent_raises_ends_the_campaign(error: BaseException) -> None:
    def agent(config: AgentConfig, given: Any) -> str:
        raise error

    execution = end(agent)
    assert execution.ending is Ending.RAISED
    assert type(error).__name__ in execution.reason


def test_empty_answers_fail_and_runs_without_anything_are_no_evidence(service: Any) -> None:
    async def silent_after_a_model(config: AgentConfig, given: Any) -> None:
        await asking(service.url)(config, given)

    assert end(silent_after_a_model).ending is Ending.EMPTY_ANSWER
    assert end(lambda config, given: "  ").ending is Ending.EMPTY_ANSWER
    assert end(lambda config, given: None).ending is Ending.EMPTY_RUN
    assert Ending.EMPTY_ANSWER.outcome is Outcome.FAIL


@pytest.mark.parametrize("rude", RUDE)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_whatever_an_agent_raises_is_its_own_failure(rude: str, kind: str) -> None:
    names: dict[str, Any] = {"asyncio": asyncio}
    exec(f"{kind} run(config, given): raise {rude}", names)
    execution = end(names["run"])
    assert execution.ending is Ending.RAISED
    assert rude.removeprefix("asyncio.").partition("(")[0] in (execution.trace.error or "") or "exit" in (
        execution.trace.error or ""
    )
