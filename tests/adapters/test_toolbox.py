"""A callable agent's own functions, called by the names that the model is told of."""

import asyncio
import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

import agentmut
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.mutant import Mutant
from agentmut.nouns.scenario import EvaluatorSpec, Scenario, ToolDouble
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.plugins import load
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.trial.calls.doubles import resolve
from agentmut.trial.calls.offered import calls_by_offered_name, finds_offered_tools
from agentmut.trial.single_run import Case, attempt


def get_order(order: str) -> str:
    return f"order {order}"


@agentmut.tool
def pay(amount: float) -> dict[str, Any]:
    return {"paid": amount}


async def send_mail(to: str) -> str:
    await asyncio.sleep(0)
    return f"mail to {to}"


CONFIG = AgentConfig(
    tools=tuple(ToolSpec(name=name, description="Do it.") for name in ("get_order", "pay", "send_mail"))
)


def mutants(*operators: str) -> tuple[Mutant, ...]:
    return generate(CONFIG, [load("operators", name)() for name in operators], OperatorOptions()).mutants


def mutated(operator: str, description: str) -> AgentConfig:
    (found,) = [m for m in mutants(operator) if description in m.description]
    return found.apply(CONFIG)


def run(config: AgentConfig, name: str, doubles: dict[str, Any] | None = None, **arguments: Any) -> Execution:
    async def agent(config: AgentConfig, given: Any) -> Any:
        answer = agentmut.toolbox(config, [get_order, pay, send_mail])[name](**arguments)
        return await answer if asyncio.iscoroutine(answer) else answer

    scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
    return asyncio.run(attempt(CallableAdapter(agent, config), Case(scenario, doubles or {}), "t", 0, 5))


@pytest.mark.parametrize(
    ("renaming", "name", "arguments", "own", "output"),
    [
        ("get_order to fetch_order", "fetch_order", {"order": "A"}, "get_order", "order A"),
        ("pay to pay_v2", "pay_v2", {"amount": 2}, "pay", {"paid": 2}),
        ("send_mail to sendMail", "sendMail", {"to": "Bo"}, "send_mail", "mail to Bo"),
    ],
)
def test_a_renamed_tool_is_the_same_function_and_traced_once_under_its_own_name(
    renaming: str, name: str, arguments: Any, own: str, output: Any
) -> None:
    execution = run(mutated("tool.rename", renaming), name, **arguments)
    assert execution.trace.output == output
    assert [(step.tool, step.arguments, step.output) for step in execution.trace.tool_calls] == [
        (own, arguments, output)
    ]


def test_the_double_of_a_renamed_tool_answers() -> None:
    doubles = {"get_order": resolve(ToolDouble(returns="fake"))}
    execution = run(mutated("tool.rename", "get_order to fetch_order"), "fetch_order", doubles, order="A")
    assert execution.trace.output == "fake"


def test_a_decoy_finds_nothing_and_leaves_a_mark() -> None:
    execution = run(mutated("tool.decoy", "get_order_v2"), "get_order_v2", order="A")
    assert execution.trace.output == "Nothing was found."
    assert execution.trace.tools_called == ("get_order_v2",)
    assert execution.footprint.marks == ("/tools/get_order_v2/fault",)


def test_only_what_is_offered_and_has_a_function_is_there() -> None:
    config = AgentConfig(tools=(ToolSpec(name="get_order"), ToolSpec(name="nobody")))
    assert list(agentmut.toolbox(config, [get_order, pay])) == ["get_order"]


def test_functions_may_be_given_by_name() -> None:
    class Shop:
        async def __call__(self, order: str) -> str:
            return f"shop {order}"

    config = AgentConfig(tools=(ToolSpec(name="find", implemented_by="search"), ToolSpec(name="half")))
    functions: dict[str, Callable[..., Any]] = {"search": Shop(), "half": functools.partial(divmod, 7)}
    box = agentmut.toolbox(config, functions)
    assert asyncio.run(box["find"]("A")) == "shop A"
    assert box["half"](2) == (3, 1)


WITHOUT = "import json\ndef run(config, input): return json.dumps(input)\n"
WAYS = {
    "imported": "from agentmut import toolbox\ndef run(config, input): return toolbox(config, [])\n",
    "by attribute": "import agentmut\nasync def run(config, input): return agentmut.toolbox(config, [])\n",
    "in a method": "import agentmut\nclass A:\n def run(self, c, i):\n  return [agentmut.toolbox(c, f) for f in i]\n",
    "langgraph": "from agentmut.adapters.langgraph import bind_tools\ndef run(config, input): return 1\n",
}


def module(body: str) -> types.ModuleType:
    found = types.ModuleType("under_test")
    exec(body, found.__dict__)
    return found


@pytest.mark.parametrize("body", WAYS.values(), ids=WAYS)
def test_a_module_that_calls_tools_by_their_offered_names_is_known(body: str) -> None:
    assert calls_by_offered_name(module(body))
    assert not calls_by_offered_name(module(WITHOUT))


INSIDE = "def run(config, input):\n from agentmut.adapters.langgraph import bind_tools as b\n return b(config, [])\n"
NAMESAKE = "def toolbox(config): return {}\ndef run(config, input): return toolbox(config)\n"


def test_what_a_function_imports_itself_is_known_and_a_namesake_of_toolbox_is_not_taken_for_it() -> None:
    assert calls_by_offered_name(module(INSIDE))
    assert not calls_by_offered_name(module(NAMESAKE))


def test_helpers_of_other_frameworks_can_be_marked() -> None:
    other = types.ModuleType("other")
    other.__dict__["tools_for"] = lambda config: []
    mine = types.ModuleType("mine")
    mine.__dict__["other"] = other
    exec("def run(config, input): return other.tools_for(config)\n", mine.__dict__)
    assert not calls_by_offered_name(mine)
    finds_offered_tools(other.tools_for)
    assert calls_by_offered_name(mine)


def test_renamed_and_added_tools_are_not_expressible_where_calls_would_not_find_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for body, reason in ((WITHOUT, "use agentmut.toolbox in the agent's module"), (WAYS["imported"], "")):
        found = module(body)
        monkeypatch.setitem(__import__("sys").modules, "under_test", found)
        adapter = CallableAdapter(found.run, CONFIG)
        for mutant in mutants("tool.rename", "tool.decoy"):
            assert reason in adapter.cannot_express(mutant) and bool(reason) == bool(
                adapter.cannot_express(mutant)
            )
        assert {adapter.cannot_express(m) for m in mutants("tool.remove", "tool.blank_description")} == {""}


WRAPS = """
import functools

class Framed:
    @functools.wraps(object.__init__)
    def __init__(self, *args):
        pass

def run(text):
    return str(Framed())
"""


def test_a_class_that_wraps_a_part_of_python_is_looked_through() -> None:
    assert not calls_by_offered_name(module(WRAPS))
