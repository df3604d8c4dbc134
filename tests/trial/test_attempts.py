"""How runs end: real clients against a service on loopback that fails as it is told."""

import asyncio
import contextlib
import contextvars
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import openai
import pytest

import agentmut
from agentmut._base.errors import AdapterError, UsageError
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.campaign.limits import Spend
from agentmut.campaign.running.spending import spent_with
from agentmut.campaign.trials import Launch
from agentmut.nouns.codec import HttpCall
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Outcome, Step, Usage
from agentmut.project.schema import Price
from agentmut.recording.current import current_trial
from agentmut.recording.recorder import Recorder
from agentmut.recording.trial import Trial
from agentmut.trial import hooks
from agentmut.trial.classification import ending_of_timeout
from agentmut.trial.executor import Executor, LocalExecutor, RetryingExecutor, RunSettings, TrialRequest
from agentmut.trial.hooks import give_up
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.suite_config import SuiteConfig
from agentmut.wire.carriers.http_attempt import UnderWay
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from tests.cutting import cut_once

CONFIG = AgentConfig(prompt="Be kind.", model=ModelConfig(name="sim-large"))
SCENARIO = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def end(function: Any, *, timeout: float = 600.0, **hooks: Any) -> Execution:
    """One attempt, watched."""

    async def once() -> Execution:
        case = Case(SCENARIO, hooks.pop("doubles", {}), **hooks)
        with Tap((ChatCompletions(),)).installed():
            return await attempt(CallableAdapter(function, CONFIG), case, "t", 0, timeout)

    return asyncio.run(once())


def asking(url: str, **options: Any) -> Any:
    """An agent that asks a model once, with the OpenAI SDK."""
    options = {"max_retries": 0, **options}

    async def agent(config: AgentConfig, given: Any) -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", **options) as client:
            reply = await client.chat.completions.create(
                model=config.model.name, messages=[{"role": "user", "content": str(given)}]
            )
        return reply.choices[0].message.content

    return agent


def blocking(url: str) -> Any:
    def agent(config: AgentConfig, given: Any) -> Any:
        with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
            reply = client.chat.completions.create(
                model=config.model.name, messages=[{"role": "user", "content": str(given)}]
            )
        return reply.choices[0].message.content

    return agent


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


def test_hooks_surround_every_trial_and_teardown_is_always_called() -> None:
    calls: list[str] = []

    async def teardown(scenario: Scenario) -> None:
        calls.append(f"down {scenario.name}")

    def setup(scenario: Scenario) -> None:
        calls.append(f"up {scenario.name}")

    def broken(scenario: Scenario) -> None:
        raise OSError("disk full")

    def fails(config: AgentConfig, given: Any) -> str:
        raise ValueError

    def works(config: AgentConfig, given: Any) -> str:
        calls.append("run")
        return "x"

    assert end(works, setup=setup, teardown=teardown).ending is Ending.ANSWERED
    assert calls == ["up s", "run", "down s"]
    calls.clear()
    assert end(fails, setup=setup, teardown=teardown).ending is Ending.RAISED
    failed = end(fails, setup=broken, teardown=teardown)
    assert (failed.ending, failed.reason) == (Ending.SETUP_FAILED, "setup: OSError: disk full")
    assert calls == ["up s", "down s", "down s"]


def test_what_hooks_ask_of_models_is_priced_and_counted_apart_from_the_run(service: Any) -> None:
    """A reply of the service counts 7 tokens in and 3 out; the model costs 1 and 2 dollars a million."""
    ask = blocking(service.url)

    def hook(scenario: Scenario) -> None:
        ask(CONFIG, "prepare")

    def broken(scenario: Scenario) -> None:
        hook(scenario)
        raise OSError("disk full")

    executor = local(asking(service.url), setup=hook, teardown=hook)
    (execution,) = execute(executor)
    asked = [step for step in execution.trace.steps if step.action is Action.REASON]
    assert (len(execution.hooks), len(asked)) == (2, 1)
    assert [step.usd for step in execution.hooks] == [pytest.approx(13e-6)] * 2
    assert execution.trace.usd == pytest.approx(13e-6)
    launch = Launch("", "s", 0, 0)
    spend = spent_with(spent_with(Spend(), [(launch, execution)]), [(launch, execution)])
    assert spend.tokens == 20
    assert spend.usd == pytest.approx(26e-6)
    (use,) = spend.hooks
    assert (use.model, use.requests, use.input_tokens, use.output_tokens) == ("sim-large", 4, 28, 12)
    assert spend.beside_agent_usd == use.usd == pytest.approx(52e-6)
    (failed,) = execute(local(asking(service.url), setup=broken))
    assert (failed.ending, len(failed.hooks)) == (Ending.SETUP_FAILED, 1)


def test_what_a_hook_leaves_at_work_belongs_to_no_trial() -> None:
    found: list[Trial | None] = []
    go_on, done = threading.Event(), threading.Event()

    def left(scenario: Scenario) -> None:
        def server() -> None:
            found.append(current_trial())
            go_on.wait(600)
            found.append(current_trial())
            done.set()

        context = contextvars.copy_context()
        threading.Thread(target=lambda: context.run(server), daemon=True).start()

    def works(config: AgentConfig, given: Any) -> str:
        go_on.set()
        done.wait(600)
        return "x"

    assert end(works, setup=left).ending is Ending.ANSWERED
    assert [trial and trial.id for trial in found] == ["t:hooks", None]


def test_a_failing_teardown_neither_loses_the_trial_nor_ends_the_campaign(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def teardown(scenario: Scenario) -> None:
        sys.exit("cannot clean up")

    execution = end(lambda config, given: "x", teardown=teardown)
    assert (execution.ending, execution.trace.output) == (Ending.ANSWERED, "x")
    assert "teardown of scenario s failed" in caplog.text
    assert "cannot clean up" in caplog.text


RUDE = ("GeneratorExit", "KeyboardInterrupt", "SystemExit(1)", "BaseException", "asyncio.CancelledError")


@pytest.mark.parametrize("rude", RUDE)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_whatever_a_hook_raises_is_its_own_failure(
    rude: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    names: dict[str, Any] = {"asyncio": asyncio}
    exec(f"{kind} hook(scenario): raise {rude}", names)
    name = rude.removeprefix("asyncio.").partition("(")[0]
    execution = end(lambda config, given: "x", setup=names["hook"])
    assert execution.ending is Ending.SETUP_FAILED
    assert name in execution.reason
    assert end(lambda config, given: "x", teardown=names["hook"]).ending is Ending.ANSWERED
    assert name in caplog.text


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


def test_a_hanging_hook_ends_at_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, waited_out = threading.Event(), threading.Event(), threading.Event()

    def hangs(scenario: Scenario) -> None:
        begun.set() or go_on.wait(600)  # type: ignore[func-returns-value]  # on one line, which is told
        waited_out.set()

    place_in = hooks._place_in
    monkeypatch.setattr(hooks, "_place_in", lambda threads: begun.wait(600) and place_in(threads))

    execution = end(lambda config, given: "x", timeout=0.2, setup=hangs)
    place = f"{__file__}:{hangs.__code__.co_firstlineno + 1} in hangs"
    assert execution.ending is Ending.SETUP_FAILED
    assert execution.reason == f"setup: not done within 0.2 s, at {place}"
    assert not waited_out.is_set()
    go_on.set()


def test_a_hanging_async_hook_is_told_with_its_place() -> None:
    async def waits() -> None:
        await asyncio.sleep(600)

    async def hangs(scenario: Scenario) -> None:
        await waits()

    execution = end(lambda config, given: "x", timeout=0.2, setup=hangs)
    place = f"{__file__}:{waits.__code__.co_firstlineno + 1} in waits"
    assert execution.reason == f"setup: not done within 0.2 s, at {place}"


def local(function: Any, setup: Any = None, teardown: Any = None, **settings: Any) -> LocalExecutor:
    adapter = CallableAdapter(function, CONFIG)
    cases = {"s": Case(SCENARIO, {}, setup, teardown)}
    suite = SuiteConfig(CONFIG, [SCENARIO])
    prices = {"sim-large": Price(input=1.0, output=2.0)}
    return LocalExecutor(adapter, suite, cases, Pricer(prices), RunSettings(**{"timeout": 600.0, **settings}))


def execute(executor: Executor, times: int = 1) -> list[Execution]:
    async def all_of_them() -> list[Execution]:
        async with executor.session():
            requests = [TrialRequest(None, "s", f"t{n}") for n in range(times)]
            return await asyncio.gather(*(executor.execute(request) for request in requests))

    return asyncio.run(all_of_them())


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
