"""Setup and teardown of scenarios around a run, and what they ask of models."""

import asyncio
import contextvars
import sys
import threading
from typing import Any

import pytest

from agentmut.campaign.limits import Spend
from agentmut.campaign.running.spending import spent_with
from agentmut.campaign.trials import Launch
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.scenario import Scenario
from agentmut.nouns.trace import Action
from agentmut.recording.current import current_trial
from agentmut.recording.trial import Trial
from agentmut.trial import hooks
from tests.trial.attempts import CONFIG, RUDE, asking, blocking, end, execute, local


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
