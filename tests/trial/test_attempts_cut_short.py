"""How runs end at their timeout: a late agent's failure, or a silent service's trouble."""

import asyncio
import contextlib
import threading
import time
from typing import Any

import pytest

import agentmut
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.recording.recorder import Recorder
from agentmut.recording.trial import Trial
from agentmut.trial.classification import ending_of_timeout
from agentmut.trial.hooks import give_up
from agentmut.trial.single_run import Case, attempt
from agentmut.wire.carriers.http_attempt import UnderWay
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from tests.cutting import cut_once
from tests.trial.attempts import CONFIG, SCENARIO, asking, blocking, end


def test_a_late_async_agent_is_cancelled() -> None:
    cleaned = threading.Event()

    async def agent(config: AgentConfig, given: Any) -> str:
        try:
            await asyncio.sleep(30)
        finally:
            cleaned.set()
        return "late"

    execution = end(agent, timeout=0.1)
    assert (execution.ending, execution.abandoned) == (Ending.TIMEOUT, False)
    assert cleaned.is_set()


def test_an_answer_or_error_given_only_when_cancelled_is_still_a_timeout() -> None:
    async def answers(config: AgentConfig, given: Any) -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        return "just in time?"

    async def complains(config: AgentConfig, given: Any) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            raise ValueError("interrupted") from None
        return "late"

    assert end(answers, timeout=0.1).ending is Ending.TIMEOUT
    assert end(complains, timeout=0.1).ending is Ending.TIMEOUT


def test_who_is_cancelled_while_it_gives_a_run_up_closes_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C cancels trials; a second request may come while their agents have time to end."""
    monkeypatch.setattr("agentmut.trial.hooks.GRACE", 60)

    async def swallows() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)

    async def once() -> bool:
        task = asyncio.ensure_future(swallows())
        await asyncio.sleep(0)
        giving_up = asyncio.ensure_future(give_up(task))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        giving_up.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await giving_up
        await asyncio.wait({task})
        return giving_up.cancelled()

    assert asyncio.run(once())


def test_an_agent_that_swallows_every_cancellation_is_ended_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentmut.trial.hooks.GRACE", 0.1)
    beats: list[float] = []

    async def agent(config: AgentConfig, given: Any) -> str:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                beats.append(time.monotonic())
                await asyncio.sleep(0.02)

    async def once() -> tuple[Execution, int, int]:
        execution = await attempt(CallableAdapter(agent, CONFIG), Case(SCENARIO, {}), "t", 0, 0.1)
        before = len(beats)
        await asyncio.sleep(0.1)
        return execution, before, len(beats)

    execution, before, after = asyncio.run(once())  # returns: no task is left that would hold it up
    assert (execution.ending, execution.abandoned) == (Ending.TIMEOUT, False)
    assert before == after


def test_a_blocking_agent_is_abandoned_counted_and_cut_off(service: Any) -> None:
    go_on, tried = threading.Event(), threading.Event()
    problems: list[str] = []

    @agentmut.tool
    def pay() -> str:
        raise AssertionError("money was spent")

    def agent(config: AgentConfig, given: Any) -> str:
        go_on.wait(600)
        for effect in (pay, lambda: blocking(service.url)(config, given)):
            try:
                effect()
            except Exception as error:
                problems.append(str(error.__cause__ or error))
        tried.set()
        return "late"

    async def once() -> Execution:
        with Tap((ChatCompletions(),)).installed():
            execution = await attempt(CallableAdapter(agent, CONFIG), Case(SCENARIO, {}), "t", 0, 0.1)
            go_on.set()
            await asyncio.to_thread(tried.wait, 600)
        return execution

    execution = asyncio.run(once())
    assert (execution.ending, execution.abandoned) == (Ending.TIMEOUT, True)
    assert len(problems) == 2
    assert all("t is over" in problem for problem in problems)
    assert service.requests == []


@pytest.fixture
def cut_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the timeout come once a request has waited far longer than any before."""

    def silent(recorder: Recorder) -> bool:
        spent = recorder.service_time(600.0)
        return spent.waiting > 0.3 + 10 * max(spent.waits, default=0.0)

    cut_once(monkeypatch, silent)


@pytest.mark.usefixtures("cut_in_silence")
@pytest.mark.parametrize("make", [asking, blocking])
def test_waiting_for_a_silent_model_is_infrastructure(make: Any, service: Any) -> None:
    service.answer = lambda request: "silence"
    assert end(make(service.url)).ending is Ending.INFRASTRUCTURE


@pytest.mark.usefixtures("cut_in_silence")
def test_a_service_that_falls_silent_later_is_infrastructure_too(service: Any) -> None:
    async def asks_twice(config: AgentConfig, given: Any) -> Any:
        await asking(service.url)(config, given)
        service.answer = lambda request: "silence"
        return await asking(service.url)(config, given)

    execution = end(asks_twice)
    assert execution.ending is Ending.INFRASTRUCTURE
    assert "silent" in execution.reason


def test_a_silence_is_the_services_however_long_its_answers_take() -> None:
    now = [0.0]
    recorder = Recorder(clock=lambda: now[0])
    recorder.request_left(0.0)
    now[0] = 4.0
    recorder.settled(0.0)
    recorder.request_left(4.0)  # not ten times as long as the answer before
    now[0] = 30.0
    assert ending_of_timeout(recorder.service_time(30.0))[0] is Ending.INFRASTRUCTURE
    assert ending_of_timeout(recorder.service_time(30.0), usual=27.0)[0] is Ending.TIMEOUT


def test_waiting_for_a_place_under_the_rate_limit_is_no_silence() -> None:
    recorder = Recorder(clock=lambda: 0.0)
    call = HttpCall("/v1/chat/completions", b"{}")
    UnderWay(Trial("t", recorder=recorder), ChatCompletions(), call, None, "").note_wait(10.0)
    recorder.clock = lambda: 11.0
    assert recorder.waiting == [10.0]
    spent = recorder.service_time(10.0)
    assert (spent.waiting, spent.own) == (1.0, 0.0)
    assert ending_of_timeout(spent)[0] is Ending.INFRASTRUCTURE  # it did nothing but wait
    assert ending_of_timeout(spent, usual=1.0)[0] is Ending.TIMEOUT


@pytest.mark.usefixtures("cut_in_silence")
def test_a_silence_after_a_call_is_the_services(service: Any) -> None:
    @agentmut.tool
    def look() -> str:
        return "found"

    async def tool_then_silence(config: AgentConfig, given: Any) -> Any:
        look()
        return await asking(service.url)(config, given)

    service.answer = lambda request: "silence"
    execution = end(tool_then_silence)
    assert (execution.ending, execution.trace.tools_called) == (Ending.INFRASTRUCTURE, ("look",))


def test_a_timeout_in_the_midst_of_replies_is_the_agents(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a machine that stands still is no silent service
    monkeypatch.setattr("agentmut.trial.pace.BRIEF", 600.0)

    async def asks_for_ever(config: AgentConfig, given: Any) -> Any:
        while True:
            await asking(service.url)(config, given)

    assert end(asks_for_ever, timeout=0.3).ending is Ending.TIMEOUT
