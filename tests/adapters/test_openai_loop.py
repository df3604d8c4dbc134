"""The ready loop of the openai adapter on Chat Completions: the real SDK against a service on loopback."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from agentmut.nouns.config import History, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.messages import ModelReply, Role
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, Usage
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.adapters.openai_loops import CONFIG, LOOP, install_tools, maker, mutants, run
from tests.cutting import cut_once


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return install_tools(monkeypatch)


@pytest.fixture
def make(service: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    return maker(service.url, monkeypatch)


streams = pytest.mark.parametrize("stream", [False, True])


@streams
def test_a_run_asks_calls_and_answers(make: Any, service: Any, calls: Any, stream: bool) -> None:
    service.replies(calls(("look_up", '{"order": "A-1"}')), "It is on its way.")
    found = run(make(stream=stream), "Where is A-1?")
    assert (found.ending, found.trace.output) == (Ending.ANSWERED, "It is on its way.")
    assert [step.action for step in found.trace.steps] == [
        Action.REASON, Action.CALL_TOOL, Action.REASON, Action.RESPOND
    ]  # fmt: skip
    asked, called, again, _ = found.trace.steps
    assert (called.tool, called.arguments) == ("look_up", {"order": "A-1"})
    assert called.output == {"order": "A-1", "status": "on its way"}
    assert (called.call_id, called.node, called.error) == ("call_0", "tools", None)
    assert (asked.model, asked.usage, asked.node) == (
        "sim-large",
        Usage(input_tokens=7, output_tokens=3),
        "model",
    )
    assert again.usage == Usage(input_tokens=7, output_tokens=3) and again.seconds > 0
    first, second = service.requests
    assert first.stream is stream
    assert first.system_text == CONFIG.system_text()
    assert [tool.name for tool in first.tools] == ["look_up", "refund"]
    assert json.loads(second.messages[-1].text) == {"order": "A-1", "status": "on its way"}
    assert (second.temperature, second.top_p, second.max_tokens, second.seed, second.stop) == (
        0.7, 0.9, 400, 7, ("END",)
    )  # fmt: skip
    assert (second.tool_choice, second.reasoning_effort, second.response_format) == (None, None, None)
    assert all("authorization" in headers for headers in service.headers)


@streams
def test_parallel_calls_run_at_once_and_stay_apart(
    make: Any, service: Any, calls: Any, tools: Any, stream: bool
) -> None:
    barrier = threading.Barrier(2, timeout=600)

    def wait(name: str) -> str:
        """Wait for the other."""
        barrier.wait()
        return name

    tools.FUNCTIONS = [wait]
    service.replies(calls(("wait", '{"name": "a"}'), ("wait", '{"name": "b"}')), "Done.")
    found = run(make(stream=stream))
    assert {(s.call_id, s.output) for s in found.trace.tool_calls} == {("call_0", "a"), ("call_1", "b")}
    assert [m.text for m in service.requests[1].messages if m.role is Role.TOOL] == ["a", "b"]


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(
    make: Any, service: Any, calls: Any
) -> None:
    """The loop is that of Anthropic Messages and Bedrock Converse, too."""
    order = ("look_up", '{"order": "A"}')
    service.replies(calls(order), calls(("find", "{}")), calls(("look_up", "{")), calls(order), "Done.")
    steps = run(make()).trace.tool_calls
    assert [(step.tool, bool(step.error)) for step in steps] == [
        ("look_up", False),
        ("find", True),
        ("look_up", True),
        ("look_up", False),
    ]
    assert {step.call_id for step in steps} == {"call_0"}
    told = [m.text for m in service.requests[-1].messages if m.role is Role.TOOL]
    assert ["Error" in text for text in told] == [False, True, True, False]


def test_async_functions_run_at_once(make: Any, service: Any, calls: Any, tools: Any) -> None:
    all_here = asyncio.Barrier(5)

    async def wait(name: str) -> str:
        """Wait until all five calls have begun."""
        await asyncio.wait_for(all_here.wait(), 600)
        return name

    tools.FUNCTIONS = [wait]
    service.replies(calls(*(("wait", '{"name": "a"}') for _ in range(5))), "Done.")
    found = run(make())
    assert [step.output for step in found.trace.tool_calls] == ["a"] * 5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("refund", '{"order": "A-1", "amount": 200}'), "Error: ValueError: too much"),
        (("refund", '{"order": "A-1"}'), "Error: TypeError"),
        (("refund", '{"order": '), "Error: the arguments of 'refund' are not JSON"),
        (("refund", "[1]"), "Error: the arguments of 'refund' are no JSON object: [1]"),
        (("send", "{}"), "Error: there is no tool 'send'; there are: look_up, refund"),
    ],
)
def test_what_goes_wrong_with_a_call_is_told_the_model_and_the_trace(
    make: Any, service: Any, calls: Any, call: Any, said: str
) -> None:
    service.replies(calls(call), "Sorry.")
    found = run(make())
    assert found.trace.output == "Sorry."
    assert service.requests[1].messages[-1].text.startswith(said)
    assert (step := found.trace.tool_calls[0]).tool == call[0]
    assert step.error and step.call_id == "call_0"


def test_a_model_that_never_answers_is_stopped_and_fails(make: Any, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up", '{"order": "A"}')))
    found = run(make(CONFIG.model_copy(update={"orchestration": {"max_steps": 3}})))
    assert found.ending is Ending.RAISED
    assert found.reason == "StepLimitError: no answer after 3 model calls (orchestration.max_steps)"
    assert len(service.requests) == 3 and len(found.trace.tool_calls) == 2
    assert (last := found.trace.steps[-1]).action is Action.RESPOND and "3 model calls" in (last.error or "")
    service.requests.clear()
    assert run(make()).ending is Ending.RAISED and len(service.requests) == 10


def test_a_lower_limit_is_witnessed(make: Any, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up", '{"order": "A"}')), "Done.")
    adapter = make()
    mutant = next(m for m in mutants(adapter.get_config()) if m.operator == "orchestration.cut_max_steps")
    found = run(adapter.with_config(mutant.apply(adapter.get_config())))
    assert Detector(mutant, adapter.get_config()).witness(found.footprint)
    assert found.footprint.nodes == ("model", "tools")


def test_later_turns_see_the_conversation(make: Any, service: Any, calls: Any) -> None:
    service.replies(calls(("look_up", '{"order": "A"}')), "First.", "Second.")
    found = run(make(), "One", {"two": 2})
    assert found.trace.outputs == ("First.", "Second.")
    spoken = [(m.role, m.text) for m in service.requests[-1].messages if m.role is not Role.SYSTEM]
    assert spoken[0] == (Role.USER, "One") and spoken[-2:] == [
        (Role.ASSISTANT, "First."),
        (Role.USER, '{"two": 2}'),
    ]
    assert len(spoken) == 5
    assert [step.turn for step in found.trace.steps] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("history", "seen"),
    [
        (History.DROPPED, [(Role.USER, "Two")]),
        (History.SWAPPED, [(Role.ASSISTANT, "One"), (Role.USER, "First."), (Role.USER, "Two")]),
    ],
)
def test_earlier_turns_are_dropped_or_swapped(make: Any, service: Any, history: Any, seen: Any) -> None:
    service.replies("First.", "Second.")
    found = run(make(CONFIG.model_copy(update={"history": history})), "One", "Two")
    assert [(m.role, m.text) for m in service.requests[-1].messages[1:]] == seen
    assert found.footprint.marks == ("/history",)


@pytest.fixture
def simulated(simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    yield


@streams
def test_a_cut_answer_is_told_and_its_last_call_left(
    make: Any, service: Any, calls: Any, stream: bool
) -> None:
    cut = calls(("look_up", '{"order": "A"}'), ("look_up", "{}")).model_copy(
        update={"finish_reason": "length"}
    )
    service.replies(cut, ModelReply(model="sim-large", text="It is on", finish_reason="length"))
    found = run(make(stream=stream))
    assert found.trace.output == "It is on"
    assert found.trace.steps[-1].error == "the answer was cut off: max_tokens"
    assert [s.error for s in found.trace.tool_calls] == [None, "the call was cut off: max_tokens"]


@streams
def test_a_refusal_is_the_answer(make: Any, service: Any, stream: bool) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot do that."}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "sim-large"}
    if stream:
        chunk = {**body, "choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
        service.replies(b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n")
    else:
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        service.replies(json.dumps({**body, "choices": [choice]}).encode())
    assert run(make(stream=stream)).trace.output == "I cannot do that."


def test_a_stream_that_breaks_off_is_no_answer(make: Any, service: Any) -> None:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    chunk["choices"] = [{"index": 0, "delta": {"content": "It is"}, "finish_reason": None}]
    service.replies(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    found = run(make(stream=True))
    assert found.ending is Ending.INFRASTRUCTURE
    assert found.trace.steps[0].error and "before the answer did" in found.trace.steps[0].error


def test_errors_of_the_service_are_in_the_trace(make: Any, service: Any) -> None:
    service.replies(400)
    found = run(make())
    assert found.ending is Ending.REFUSED
    assert found.trace.steps[0].action is Action.REASON and "BadRequestError" in (
        found.trace.steps[0].error or ""
    )


def test_runs_share_nothing(make: Any, service: Any) -> None:
    adapter = make()
    run(adapter, "One"), run(adapter, "Two")
    assert [m.text for m in service.requests[1].messages[1:]] == ["Two"]


def test_a_cancelled_run_sends_nothing_more(
    make: Any, service: Any, calls: Any, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang() -> str:
        """Hang."""
        begun.set()
        go_on.wait(600)
        return "late"

    tools.FUNCTIONS = [hang]
    service.replies(calls(("hang", "{}")), "Done.")
    cut_once(monkeypatch, lambda recorder: begun.is_set())
    found = run(make())
    assert (found.ending, len(service.requests)) == (Ending.TIMEOUT, 1)
    go_on.set()
    LOOP.run_until_complete(asyncio.sleep(0.2))
    assert len(service.requests) == 1


def test_the_simulated_model_is_asked_by_eight_at_once(make: Any, simulated: None) -> None:
    adapter = make(CONFIG.model_copy(update={"model": ModelConfig(name="sim-large")}))

    async def all_at_once() -> list[Execution]:
        with Tap(all_codecs()).installed():
            return await asyncio.gather(*(one(number) for number in range(8)))

    async def one(number: int) -> Execution:
        scenario = Scenario(
            name="s", turns=(f"Where is order A-{number}?",), evaluators=(EvaluatorSpec(name="x"),)
        )
        return await attempt(adapter, Case(scenario, {}), f"t{number}", 0, 600.0)

    for number, found in enumerate(LOOP.run_until_complete(all_at_once())):
        assert found.ending is Ending.ANSWERED
        assert all(f"A-{number}" in str(step.arguments) for step in found.trace.tool_calls)
