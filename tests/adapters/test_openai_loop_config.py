"""The config of an agent in the OpenAI loop: what it must hold, and that its mutants arrive."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.nouns.config import History, ModelConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.adapter import AsksAgent, NeedsDoubles
from agentmut.trial.witness.witness import Detector
from tests.adapters.openai_loops import CONFIG, install_tools, maker, mutants, run


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return install_tools(monkeypatch)


@pytest.fixture
def make(service: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    return maker(service.url, monkeypatch)


ARGUMENTS = '{"order": "A-17", "amount": 12}'
ARGUMENTS_OF_ONE = '{"order": "A-1"}'


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
