"""Any Python callable as an agent: what it returns, what it reads, the tools it marks."""

import asyncio
import contextlib
import copy
import functools
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import agentmut
from agentmut._base.errors import UsageError
from agentmut.adapters.python_callable import CallableAdapter, recording_view
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.tools import ToolSpec, read_tool
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import Adapter, AgentSpec

CONFIG = AgentConfig(
    prompt="Be kind.",
    tools=(ToolSpec(name="look"),),
    model=ModelConfig(name="big", temperature=0.5),
    context=(Document(name="d", text="Doc."),),
)


def run(function: Any, *turns: Any, trial: Trial | None = None) -> AgentTrace:
    async def once() -> AgentTrace:
        with running(trial or Trial(id="t")) as current:
            return await CallableAdapter(function, CONFIG).run(turns or ("Hi",), current)

    return asyncio.run(once())


class Sync:
    def __call__(self, config: AgentConfig, given: Any) -> str:
        return f"sync {given}"


class Async:
    async def __call__(self, config: AgentConfig, given: Any) -> str:
        return f"async {given}"

    async def method(self, config: AgentConfig, given: Any) -> str:
        return f"method {given}"


async def plain_async(config: AgentConfig, given: Any, greeting: str = "plain") -> str:
    await asyncio.sleep(0)
    return f"{greeting} {given}"


def returns_coroutine(config: AgentConfig, given: Any) -> Any:
    return plain_async(config, given)


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda config, given: f"function {given}", "function Hi"),
        (plain_async, "plain Hi"),
        (Sync(), "sync Hi"),
        (Async(), "async Hi"),
        (Async().method, "method Hi"),
        (returns_coroutine, "plain Hi"),
        (functools.partial(plain_async, greeting="partial"), "partial Hi"),
    ],
)
def test_every_kind_of_callable_runs(function: Any, answer: str) -> None:
    adapter: Adapter = CallableAdapter(function, CONFIG)
    assert isinstance(adapter, Adapter)
    trace = run(function)
    assert (trace.output, trace.text) == (answer, answer)
    assert trace.steps[-1].action is Action.RESPOND


@pytest.mark.parametrize(
    ("returned", "outputs", "text"),
    [
        ("", ("",), ""),
        (None, (), ""),
        ({"b": 1, "a": (2, 3)}, ({"b": 1, "a": [2, 3]},), '{"a":[2,3],"b":1}'),
        (7, (7,), "7"),
        (float("nan"), ("NaN",), "NaN"),
        (b"\xff\xfe", ("b'\\xff\\xfe'",), "b'\\xff\\xfe'"),
        ("half \ud83d", ("half ?",), "half ?"),
        (AgentTrace(outputs=("a", "b")), ("a", "b"), "b"),
    ],
)
def test_whatever_is_returned_becomes_a_trace_that_can_be_stored(
    returned: Any, outputs: Any, text: str
) -> None:
    trace = run(lambda config, given: returned)
    assert (trace.outputs, trace.text) == (outputs, text)
    assert AgentTrace.model_validate_json(trace.model_dump_json()) == trace


def test_values_that_no_json_can_hold_are_described() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    class Mute:
        def __str__(self) -> str:
            raise ValueError("no words")

    assert run(lambda config, given: cycle).output == "[[...]]"
    assert run(lambda config, given: Mute()).output == "<Mute>"


def test_one_turn_is_given_as_it_is_and_several_as_a_list() -> None:
    assert run(lambda config, given: given, "a").output == "a"
    assert run(lambda config, given: given, {"order": 1}).output == {"order": 1}
    several = run(lambda config, given: given, "a", "b")
    assert several.output == ["a", "b"]
    assert several.steps[-1].turn == 1


def listed(turns: list[str]) -> Any:
    return turns


def sequenced(config: AgentConfig, turns: Sequence[str]) -> Any:
    return turns


def quoted(turns: "list[str]") -> Any:
    return turns


def either(turns: list[str] | str) -> Any:
    return turns


def worded(turns: str) -> Any:
    return turns


@pytest.mark.parametrize(
    ("function", "given"),
    [(listed, ["Hi"]), (sequenced, ["Hi"]), (quoted, ["Hi"]), (either, "Hi"), (worded, "Hi")],
)
def test_a_function_that_asks_for_a_list_gets_one_turn_as_a_list(function: Any, given: Any) -> None:
    async def answers() -> list[Any]:
        adapter = CallableAdapter(function, CONFIG, takes_config=function is sequenced)
        found = []
        several: tuple[tuple[Any, ...], ...] = (("Hi",), ("Hi", "Bye"), (["a", "b"],))
        for turns in several:
            with running(Trial(id="t")) as trial:
                found.append((await adapter.run(turns, trial)).output)
        return found

    # a turn that is a list already is what the user wrote for this function
    assert asyncio.run(answers()) == [given, ["Hi", "Bye"], ["a", "b"]]


def test_a_trace_of_its_own_is_kept_and_one_without_steps_is_given_those_that_were_seen() -> None:
    @agentmut.tool
    def look(order: str) -> str:
        return "found"

    own = AgentTrace(steps=(Step(action=Action.CALL_TOOL, tool="mine"),), outputs=("x",))
    bare = AgentTrace(outputs=("x",))
    assert run(lambda config, given: look("A") and own) == own
    seen = run(lambda config, given: look("A") and bare)
    assert (seen.tools_called, seen.outputs) == (("look",), ("x",))
    assert seen.seconds > 0


def test_blocking_agents_run_side_by_side() -> None:
    meeting = threading.Barrier(8, timeout=600)

    def agent(config: AgentConfig, given: Any) -> str:
        meeting.wait()  # passed only when all eight are there at once
        return f"{given}"

    async def once(number: int) -> AgentTrace:
        with running(Trial(id=str(number))) as trial:
            return await CallableAdapter(agent, CONFIG).run((number,), trial)

    async def everything() -> list[AgentTrace]:
        return await asyncio.gather(*(once(number) for number in range(8)))

    assert [trace.output for trace in asyncio.run(everything())] == [str(n) for n in range(8)]


WHOLE = {"prompt", "tools", "model", "context", "orchestration"}
READS: list[tuple[Callable[[AgentConfig], Any], set[str]]] = [
    (lambda c: None, set()),
    (lambda c: c.prompt, {"prompt"}),
    (lambda c: c.model, set()),
    (lambda c: c.model.name, {"model.name"}),
    (lambda c: c.model.temperature, {"model.temperature"}),
    (lambda c: c.model.model_dump(), {"model"}),
    (lambda c: c.tool_names, {"tools"}),
    (lambda c: c.system_text(), {"prompt", "context"}),
    (lambda c: c.digest, set()),
    (lambda c: getattr(c, "context"), {"context"}),  # noqa: B009
    (lambda c: c.model_dump(), WHOLE),
    (lambda c: c.model_dump(mode="json", include={"prompt"}), WHOLE),
    (lambda c: c.model_dump_json(), WHOLE),
    (dict, WHOLE),
    (list, WHOLE),
    (vars, WHOLE),
    (repr, WHOLE),
    (str, WHOLE),
    (lambda c: c.model_copy(), WHOLE),
    (copy.copy, WHOLE),
    (copy.deepcopy, WHOLE),
    (lambda c: c.model_copy(update={"prompt": "x"}), WHOLE),
    (pickle.dumps, WHOLE),
]


@pytest.mark.parametrize(("look", "expected"), READS)
def test_reads_of_the_config_are_noted_field_by_field(
    look: Callable[[AgentConfig], Any], expected: set[str]
) -> None:
    trial = Trial(id="t")
    run(lambda config, given: [look(config), "x"][1], trial=trial)
    assert {
        read.split(".")[0] if expected is WHOLE else read for read in trial.recorder.config_reads
    } == expected
    assert expected is not WHOLE or "model" in trial.recorder.config_reads


def test_the_recording_view_is_a_config_like_any_other() -> None:
    reads: set[str] = set()
    view = recording_view(CONFIG, reads)
    assert isinstance(view, AgentConfig)
    assert reads == set()
    assert view.digest == CONFIG.digest
    assert view.model_dump() == CONFIG.model_dump()
    assert view.model_copy(update={"prompt": "x"}).system_text().startswith("x")


def test_a_tool_is_traced_and_left_alone_outside_of_trials() -> None:
    @agentmut.tool
    def look(order: str, *, deep: bool = False) -> dict[str, Any]:
        """Find an order."""
        time.sleep(0.05)
        return {"order": order}

    assert look("A") == {"order": "A"}
    trace = run(lambda config, given: str(look("A", deep=True)))
    (step,) = trace.tool_calls
    assert (step.tool, step.arguments, step.output) == ("look", {"order": "A", "deep": True}, {"order": "A"})
    assert step.seconds >= 0.05
    assert (look.__name__, look.__doc__, read_tool(look).name) == ("look", "Find an order.", "look")


def test_an_async_tool_is_traced_and_concurrent_calls_stay_apart() -> None:
    @agentmut.tool
    async def look(order: int) -> int:
        await asyncio.sleep(0.05 / (order + 1))
        return order * 10

    async def agent(config: AgentConfig, given: Any) -> Any:
        return await asyncio.gather(*(look(n) for n in range(4)))

    trace = run(agent)
    assert trace.output == [0, 10, 20, 30]
    assert sorted((s.arguments or {}).get("order", -1) for s in trace.tool_calls) == [0, 1, 2, 3]  # type: ignore[type-var]
    assert all(s.output == 10 * (s.arguments or {})["order"] for s in trace.tool_calls)  # type: ignore[operator]


def test_a_tool_that_raises_or_is_called_wrongly_leaves_a_step_with_the_error() -> None:
    @agentmut.tool
    def pay(amount: float) -> None:
        raise ValueError("card expired")

    def agent(config: AgentConfig, given: Any) -> str:
        for arguments in ({"amount": 3.0}, {"sum": 3.0}):
            with contextlib.suppress(ValueError, TypeError):
                pay(**arguments)
        return "tried"

    raised, wrong = run(agent).tool_calls
    assert (raised.arguments, raised.error) == ({"amount": 3.0}, "ValueError: card expired")
    assert wrong.arguments == {"sum": 3.0}
    assert wrong.error is not None
    assert wrong.error.startswith("TypeError")


class Shop:
    @agentmut.tool
    def look(self, order: str, *rest: str, **more: int) -> str:
        raise AssertionError("the real tool ran")


def test_a_double_answers_in_place_of_a_method_with_any_arguments() -> None:
    seen: list[Any] = []

    def double(*args: Any, **kwargs: Any) -> str:
        seen.append((args, kwargs))
        return "doubled"

    trial = Trial(id="t", doubles={"look": double})
    trace = run(lambda c, g: Shop().look("A", "B", n=1), trial=trial)
    assert trace.output == "doubled"
    assert seen == [(("B",), {"order": "A", "n": 1})]
    assert trace.tool_calls[0].arguments == {"order": "A", "n": 1, "*": ["B"]}


async def late(order: str) -> str:
    await asyncio.sleep(0.01)
    return f"late {order}"


def quick(order: str) -> str:
    return f"quick {order}"


@pytest.mark.parametrize(("double", "answer"), [(late, "late A"), (quick, "quick A")])
@pytest.mark.parametrize("caller", ["blocking agent", "async agent, sync tool", "async agent, async tool"])
def test_sync_and_async_doubles_fit_sync_and_async_tools(
    double: Callable[..., Any], answer: str, caller: str
) -> None:
    @agentmut.tool
    def look(order: str) -> str:
        raise AssertionError("the real tool ran")

    @agentmut.tool
    async def alook(order: str) -> str:
        raise AssertionError("the real tool ran")

    async def agent(config: AgentConfig, given: Any) -> str:
        return look("A") if "sync tool" in caller and "async tool" not in caller else await alook("A")

    trial = Trial(id="t", doubles={"look": double, "alook": double})
    trace = run(agent if caller.startswith("async") else lambda c, g: look("A"), trial=trial)
    assert trace.output == answer
    assert trace.tool_calls[0].output == answer


def test_create_imports_the_function_and_says_what_is_wrong_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "callable_under_test.py").write_text(
        "import agentmut\n"
        "@agentmut.tool\ndef look(order): return 1\n"
        "TOOLS = [look]\n"
        "def run(config, given): return 'ok'\n"
        "def narrow(config): return 'ok'\n"
        "def parts(config, given): yield 'ok'\n"
        "value = 3\n"
    )

    def create(name: str | None) -> CallableAdapter:
        run = None if name is None else f"callable_under_test:{name}"
        return CallableAdapter.create(AgentSpec(adapter="python", run=run, root=str(tmp_path)), CONFIG)

    assert create("run").doubled_tools() == {"look"}
    for name, complaint in [
        (None, "agent.run is missing"),
        ("value", "is a int, not a function"),
        ("narrow", r"must take \(config, input\)"),
        ("parts", "yields its answer in parts"),
    ]:
        with pytest.raises(UsageError, match=complaint):
            create(name)
