"""The ready loop of the openai adapter on Chat Completions: the real SDK against a service on loopback."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.adapters.openai import OpenAIAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.messages import ModelReply, Role
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, Usage
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import Adapter, AgentSpec, AsksAgent, NeedsDoubles
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.cutting import cut_once

LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


def look_up(order: str) -> dict[str, str]:
    """Look up an order by its number."""
    return {"order": order, "status": "on its way"}


async def refund(order: str, amount: float) -> str:
    """Refund an order."""
    if amount > 100:
        raise ValueError("too much")
    return f"{amount} refunded"


CONFIG = AgentConfig(
    prompt="You help customers. Never refund gifts.",
    model=ModelConfig(name="sim-large", temperature=0.7, top_p=0.9, max_tokens=400, seed=7, stop=("END",)),
    context=(Document(name="policy", text="Refunds take 5 days. Gifts are final."),),
)


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("loop_tools")
    module.__dict__.update(FUNCTIONS=[look_up, refund], NAMED={"find": look_up}, NUMBER=5, WRONG=[look_up, 5])
    monkeypatch.setitem(sys.modules, "loop_tools", module)
    return module


@pytest.fixture
def make(service: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def build(config: AgentConfig = CONFIG, **spec: Any) -> Any:
        keys = {"functions": "loop_tools:FUNCTIONS", **spec}
        return OpenAIAdapter.create(AgentSpec(adapter="openai", **keys), config)

    return build


def run(
    adapter: Adapter, *turns: Any, doubles: Any = None, trial: str = "t1", timeout: float = 600.0
) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap(all_codecs()).installed():
            return await attempt(adapter, Case(scenario, doubles or {}), trial, 0, timeout)

    found: Execution = LOOP.run_until_complete(once())
    return found


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


def mutants(config: AgentConfig) -> tuple[Any, ...]:
    catalogue = Catalogue.from_group("operators")
    options = OperatorOptions(swap_models=("sim-small",), slow_seconds=0.01)
    usual = [x for name in catalogue.names if not isinstance(x := catalogue.load(name)(), OnDemand)]
    return generate(config, usual, options).mutants


def test_mutants_of_every_class_arrive(make: Any, service: Any, calls: Any) -> None:
    adapter = make(CONFIG.model_copy(update={"history": History.KEPT}))
    base = adapter.get_config()
    first = {m.operator: m for m in reversed(mutants(base)) if not m.operator.startswith("control")}
    assert {name.partition(".")[0] for name in first} == {
        "prompt", "tool", "model", "context", "orchestration"
    }  # fmt: skip
    for mutant in first.values():
        assert adapter.cannot_express(mutant) == ""
        name, given = ("refund", ARGUMENTS) if mutant.subject == "refund" else ("look_up", ARGUMENTS_OF_ONE)
        called, other = calls((name, given)), calls((name, given.replace("A-1", "B-2").replace("12", "34")))
        service.replies(called, other, "Done.", "Done again.")
        agent = adapter.with_config(mutant.apply(base))
        found = run(agent, "One", "Two")
        assert Detector(mutant, base).witness(found.footprint), (mutant.operator, found)


ARGUMENTS = '{"order": "A-17", "amount": 12}'


@pytest.fixture
def simulated(simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    yield


def test_renamed_faulty_and_decoy_tools_are_called(make: Any, service: Any, calls: Any) -> None:
    tools = (
        ToolSpec(name="fetch", implemented_by="look_up"),
        ToolSpec(name="refund", fault=ToolFault(kind=FaultKind.ERROR)),
        ToolSpec(name="bait", fault=ToolFault(kind=FaultKind.DECOY)),
    )
    adapter = make()
    config = adapter.get_config().model_copy(update={"tools": tools})
    service.replies(calls(("fetch", ARGUMENTS_OF_ONE), ("refund", ARGUMENTS), ("bait", "{}")), "Done.")
    found = run(adapter.with_config(config))
    assert [(s.tool, s.error) for s in sorted(found.trace.tool_calls, key=lambda s: s.call_id or "")] == [
        ("look_up", None), ("refund", "ServiceError: 503 Service Unavailable"), ("bait", None)
    ]  # fmt: skip
    assert [m.text for m in service.requests[1].messages[-3:]] == [
        '{"order": "A-1", "status": "on its way"}',
        "Error: ServiceError: 503 Service Unavailable",
        "Nothing was found.",
    ]


ARGUMENTS_OF_ONE = '{"order": "A-1"}'


def test_a_tool_choice_goes_with_its_tool(make: Any, service: Any) -> None:
    choice = {"type": "function", "function": {"name": "look_up"}}
    model = CONFIG.model.model_copy(update={"tool_choice": choice})
    adapter = make(CONFIG.model_copy(update={"model": model}))
    run(adapter)
    assert service.requests[0].tool_choice == choice
    config = adapter.get_config()
    run(
        adapter.with_config(
            config.model_copy(update={"tools": (ToolSpec(name="f", implemented_by="look_up"),)})
        )
    )
    assert service.requests[1].tool_choice == {"type": "function", "function": {"name": "f"}}
    run(adapter.with_config(config.model_copy(update={"tools": ()})))
    assert service.requests[2].tool_choice is None and service.requests[2].tools == ()


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


def test_a_tool_without_a_function_needs_its_double(make: Any, service: Any, calls: Any) -> None:
    config = CONFIG.model_copy(update={"tools": (ToolSpec(name="look_up"), ToolSpec(name="send"))})
    adapter = make(config)
    assert isinstance(make(config), NeedsDoubles) and adapter.needs_doubles == {"send"}
    assert adapter.doubled_tools() == {"look_up", "send"}
    assert run(adapter).ending is Ending.UNBUILDABLE and not service.requests
    service.replies(calls(("send", '{"to": "me"}')), "Sent.")
    found = run(adapter, doubles={"send": lambda **given: given})
    assert [(s.tool, s.output) for s in found.trace.tool_calls] == [("send", {"to": "me"})]


def test_the_config_is_completed_and_says_what_the_agent_is(make: Any) -> None:
    adapter = make()
    config = adapter.get_config()
    assert isinstance(make(), AsksAgent) and adapter.not_built == ""
    assert config.tool_names == ("look_up", "refund") == tuple(t.name for t in adapter.get_tools())
    assert config.tools[0].description == "Look up an order by its number."
    assert config.orchestration == {"max_steps": 10}
    assert make(functions="loop_tools:NAMED").get_config().tool_names == ("find",)
    assert make(functions=None).get_config().tools == ()
    assert adapter.with_config(CONFIG).get_config() is CONFIG and adapter.get_config() is config
    assert set(adapter.versions()) == {"openai"} and adapter.default_route == "rebuild"


@pytest.mark.parametrize(
    ("config", "spec", "said"),
    [
        ({"model": ModelConfig()}, {}, "agent.config.model.name is missing"),
        ({"orchestration": {"retries": 2}}, {}, "'retries' is nothing that adapter openai carries out"),
        ({}, {"functions": "loop_tools:NUMBER"}, "loop_tools:NUMBER is a int; expected a list of functions"),
        ({}, {"functions": "loop_tools:WRONG"}, "'5' of loop_tools:WRONG is a int, not a function"),
        ({}, {"functions": "loop_tools:FUNCS"}, "has no 'FUNCS'"),
        ({}, {"run": "loop_tools:look_up", "stream": True}, "agent.functions is for the ready tool loop"),
    ],
)
def test_what_is_wrong_with_the_section_is_said_at_once(make: Any, config: Any, spec: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make(CONFIG.model_copy(update=config), **spec)


def test_without_a_key_nothing_runs(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    found = run(make())
    assert found.ending is Ending.UNBUILDABLE and "Set OPENAI_API_KEY" in found.reason


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
