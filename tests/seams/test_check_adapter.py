"""`check_adapter`: it passes the adapters here, and finds one planted fault each."""

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import openai
import pytest

from agentmut._base.errors import AdapterError
from agentmut.adapters.anthropic import AnthropicAdapter
from agentmut.adapters.command import CommandAdapter
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.conformance.adapters.adapter_checks import CHECKS
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.flow import CHANGED
from agentmut.nouns.messages import ModelReply, ModelRequest, Role
from agentmut.nouns.mutant import OperatorClass
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.testing import check_adapter


def look_up(order: str) -> dict[str, str]:
    """Look up an order by its number."""
    return {"order": order, "status": "on its way"}


CONFIG = AgentConfig(
    prompt="You help customers. Look up the order before you answer. Never promise refunds.",
    model=ModelConfig(name="sim-large", temperature=0.3, max_tokens=500),
    context=(Document(name="policy", text="Refunds take 5 days. Gifts are final."),),
)
TURNS = ("Where is order A-1042?", "And order B-2077?")


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("kit_tools")
    module.__dict__["FUNCTIONS"] = [look_up]
    monkeypatch.setitem(sys.modules, "kit_tools", module)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield


def loop(kind: Any = OpenAIAdapter, config: AgentConfig = CONFIG, **spec: Any) -> Callable[[], Adapter]:
    return lambda: kind.create(AgentSpec(adapter="x", functions="kit_tools:FUNCTIONS", **spec), config)


def test_a_streamed_loop_is_sound() -> None:
    """Adapters as such are put through the kit in tests/frameworks."""
    check_adapter(loop(stream=True), turns=TURNS, expect_tools=["look_up"])


PROGRAM = """
import json, os, sys, urllib.request
said = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.stdin.read()}]
told = {"model": "sim-large", "temperature": 0.3, "max_tokens": 500, "messages": said}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
asked = urllib.request.Request(url, json.dumps(told).encode(), {"content-type": "application/json"})
print(json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"])
"""


@pytest.mark.process
def test_a_program_is_sound(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"SYSTEM = {CONFIG.system_text()!r}\n{PROGRAM}")
    spec = AgentSpec(adapter="command", command=(sys.executable, "-IS", "agent.py"), root=str(tmp_path))
    check_adapter(lambda: CommandAdapter.create(spec, CONFIG), turns=TURNS[:1])


@pytest.mark.parametrize("sound", [True, False])
def test_a_change_of_the_flow_counts_where_the_run_takes_another_course(sound: bool) -> None:
    class Saying(Sound if sound else ignoring("orchestration")):  # type: ignore[misc]
        """It says that it has another limit."""

        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            trial.recorder.marks |= {CHANGED, "/orchestration/max_steps"}
            trace: AgentTrace = await super().run(turns, trial)
            return trace

    limited = CONFIG.model_copy(update={"orchestration": {"max_steps": 3}})
    make = loop(Saying, config=limited)
    found = check_adapter(make, turns=TURNS, expect_tools=["look_up"], only=["mutation.orchestration"])
    cut = ("orchestration.cut_max_steps",)
    support = found[OperatorClass.ORCHESTRATION]
    assert (support.delivered, support.not_met) == ((cut, ()) if sound else ((), cut))


MUTATION = [check for check in CHECKS if check.startswith("mutation.")]


@pytest.mark.parametrize("make", [loop(), loop(api="responses"), loop(AnthropicAdapter)])
def test_agents_that_are_rebuilt_can_be_changed_on_the_wire_as_well(make: Any) -> None:
    check_adapter(make, turns=TURNS, expect_tools=["look_up"], only=MUTATION, route="wire")


class Sound(OpenAIAdapter):
    """What the faulty ones are made of."""

    def changed(self, trace: AgentTrace, change: Callable[[Step], Step | None]) -> AgentTrace:
        kept = [step for step in map(change, trace.steps) if step is not None]
        return trace.model_copy(update={"steps": tuple(kept)})


def spoiling(change: Callable[[Step], Step | None]) -> type[Sound]:
    class Spoiling(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            return self.changed(await super().run(turns, trial), change)

    return Spoiling


def with_calls(**changes: Any) -> type[Sound]:
    return spoiling(lambda s: s.model_copy(update=changes) if s.action is Action.CALL_TOOL else s)


def with_reasons(**changes: Any) -> type[Sound]:
    return spoiling(lambda s: s.model_copy(update=changes) if s.action is Action.REASON else s)


def without(action: Action) -> type[Sound]:
    return spoiling(lambda step: None if step.action is action else step)


def ignoring(part: str) -> type[Sound]:
    class Ignoring(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            kept = self._config.model_copy(update={part: getattr(self._original, part)})
            return await OpenAIAdapter(self._dialect, self._functions, kept, self._original).run(turns, trial)

    return Ignoring


def remembering() -> type[Sound]:
    earlier: list[str] = []

    class Remembering(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            said = tuple(" ".join([*earlier, str(turn)]) for turn in turns)
            earlier.extend(turns)
            return await super().run(said, trial)

    return Remembering


def mixing() -> type[Sound]:
    last: dict[str, Any] = {}

    class Mixing(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            last["turns"] = turns
            await asyncio.sleep(0.05)
            return await super().run(last["turns"], trial)

    return Mixing


class SwallowingErrors(Sound):
    async def run(self, turns: Any, trial: Trial) -> AgentTrace:
        try:
            return await super().run(turns, trial)
        except openai.APIError:
            return AgentTrace(outputs=("Sorry.",), seconds=trial.recorder.now())


class NotLettingGo(Sound):
    async def run(self, turns: Any, trial: Trial) -> AgentTrace:
        try:
            return await super().run(turns, trial)
        except asyncio.CancelledError:
            return AgentTrace(outputs=("Better late than never.",))


class NotEnding(Sound):
    async def run(self, turns: Any, trial: Trial) -> AgentTrace:
        try:
            return await super().run(turns, trial)
        except asyncio.CancelledError:
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)


class WithoutDoubles(Sound):
    async def run(self, turns: Any, trial: Trial) -> AgentTrace:
        with running(dataclasses.replace(trial, doubles={})) as own:
            return await super().run(turns, own)


class ChangingItself(Sound):
    def with_config(self, config: AgentConfig) -> Any:
        self._config = config
        return super().with_config(config)


class ForgettingConfigs(Sound):
    def with_config(self, config: AgentConfig) -> Any:
        return super().with_config(self._original)


class Unbuildable(Sound):
    async def run(self, turns: Any, trial: Trial) -> AgentTrace:
        raise AdapterError("no such thing")


@pytest.mark.parametrize(
    ("kind", "check", "said"),
    [
        (remembering, "fresh_state", "the second run sent what only the first was told"),
        (mixing, "concurrency", "one sent what another was told"),
        (lambda: without(Action.REASON), "steps", "there are 0 reason steps for"),
        (lambda: without(Action.CALL_TOOL), "steps", "there are 0 steps of the tool 'look_up' for"),
        (lambda: without(Action.RESPOND), "answers", "there are 0 respond steps for 2 turns"),
        (lambda: with_calls(arguments=None), "arguments", "its steps say"),
        (lambda: with_calls(output="lost"), "outputs", "its steps say ['lost'"),
        (lambda: with_calls(error=None), "errors", "no step of 'look_up' says what it raised"),
        (lambda: SwallowingErrors, "errors", "the run neither raised nor has it in a step"),
        (lambda: with_reasons(usage=Usage()), "usage", "the trace has 0 tokens in and 0 out"),
        (lambda: with_reasons(seconds=0.0), "durations", "a reason step took no time at all"),
        (lambda: with_calls(seconds=99.0), "durations", "ended after the run"),
        (lambda: with_calls(seconds=0.0), "doubles", "its step says 0.000 s"),
        (lambda: WithoutDoubles, "doubles", "the double of 'look_up' did not answer"),
        (lambda: NotLettingGo, "cancellation", "it swallows the cancellation"),
        (lambda: NotEnding, "cancellation", "until it was closed: it swallows the cancellation"),
        (
            lambda: ChangingItself,
            "config",
            "with_config changed the config of the adapter that it was called on",
        ),
        (lambda: ForgettingConfigs, "config", "has another config than it was given"),
        (lambda: ignoring("prompt"), "mutation.prompt", "nothing of it was in what the run sent"),
        (lambda: ignoring("tools"), "mutation.tool", "tool.rename"),
        (lambda: ignoring("model"), "mutation.model", "model.swap"),
        (lambda: ignoring("context"), "mutation.context", "context."),
        (lambda: ignoring("orchestration"), "mutation.orchestration", "orchestration.cut_max_steps"),
        (lambda: Unbuildable, "run", "the agent did not answer: unbuildable"),
    ],
)
def test_a_planted_fault_is_found(kind: Any, check: str, said: str) -> None:
    with pytest.raises(AssertionError) as found:
        check_adapter(loop(kind()), turns=TURNS, expect_tools=["look_up"], only=[check])
    assert f"- {check}: " in str(found.value) and said in str(found.value), found.value


def test_parallel_calls_that_are_merged_are_found(
    service: Any, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def reply(request: ModelRequest) -> ModelReply | str:
        if request.messages[-1].role is Role.TOOL:
            return "Both are on their way."
        return calls(("look_up", '{"order": "A-1"}'), ("look_up", '{"order": "B-2"}'))  # type: ignore[no-any-return]

    service.answer = reply

    class Merging(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            kept: dict[Any, Step] = {}
            trace = await super().run(turns, trial)
            for number, step in enumerate(trace.steps):
                kept[step.tool or number] = step
            return trace.model_copy(update={"steps": tuple(kept.values())})

    wanted = ["steps", "arguments", "outputs"]
    check_adapter(loop(), expect_tools=["look_up"], only=wanted)
    with pytest.raises(AssertionError, match="there are 1 steps of the tool 'look_up' for 2 calls") as found:
        check_adapter(loop(Merging), expect_tools=["look_up"], only=wanted)
    assert "- arguments: a call of 'look_up' had the arguments {'order': 'A-1'}" in str(found.value)


def test_expected_failures_are_named_with_reasons_and_reported_when_they_pass() -> None:
    zero = with_reasons(usage=Usage())
    only = ["usage", "steps"]
    check_adapter(loop(zero), turns=TURNS, only=only, except_for={"usage": "it cannot know"})
    with pytest.raises(AssertionError, match=r"steps: expected to fail \(it cannot know\), but it holds"):
        check_adapter(loop(), turns=TURNS, only=only, except_for={"steps": "it cannot know"})
    with pytest.raises(ValueError, match=r"there is no check 'stepz' to make. Did you mean 'steps'\?"):
        check_adapter(loop(), except_for={"stepz": "x"})
    with pytest.raises(ValueError, match="say why 'steps' is expected to fail"):
        check_adapter(loop(), except_for={"steps": " "})
    with pytest.raises(ValueError, match="only: there is no check 'all'"):
        check_adapter(loop(), only=["all"])


def test_all_faults_are_said_at_once() -> None:
    class Bad(Sound):
        async def run(self, turns: Any, trial: Trial) -> AgentTrace:
            def spoil(step: Step) -> Step | None:
                return None if step.action is Action.RESPOND else step.model_copy(update={"usage": Usage()})

            return self.changed(await super().run(turns, trial), spoil)

    with pytest.raises(AssertionError) as found:
        check_adapter(
            loop(Bad), turns=TURNS, expect_tools=["look_up", "send"], only=["run", "answers", "usage"]
        )
    assert "run: the agent did not call 'send'" in str(found.value)
    with pytest.raises(AssertionError) as found:
        check_adapter(loop(Bad), turns=TURNS, expect_tools=["look_up"], only=["run", "answers", "usage"])
    assert "- answers: " in str(found.value) and "- usage: " in str(found.value)
