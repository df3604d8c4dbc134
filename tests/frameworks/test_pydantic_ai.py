"""pydantic-ai, with the simulator behind it, or a script where it must not vary."""

import asyncio
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.adapters._shared import sdk_version as _requirement
from agentmut.nouns.config import AgentConfig, History, ModelConfig
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.threads import TrialThreads
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from tests.frameworks.kit import Case, check, two_tools

pytestmark = pytest.mark.framework

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
AGENTS = "tests.frameworks.pydantic_ai_agents"
ODD = "tests.frameworks.pydantic_ai_odd_agents"
NOTHING = AgentConfig()
CASES = (
    two_tools("pydantic_ai", f"{AGENTS}:desk"),
    Case(
        "pydantic_ai",
        "agent in a tool",
        f"{AGENTS}:office",
        ["Ask the clerk: where is my order A-1042?"],
        ["ask_clerk"],
        limit=3,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def adapter(factory: str, config: AgentConfig = NOTHING, **options: JsonValue) -> Adapter:
    kind: type[Adapter] = load(Group.ADAPTERS, "pydantic_ai")
    spec = AgentSpec(adapter="pydantic_ai", factory=f"{ODD}:{factory}", options=options)
    return kind.create(spec, config)


def changed(agent: Adapter, **parts: Any) -> Adapter:
    return agent.with_config(agent.get_config().model_copy(update=parts))


def run(agent: Adapter, *turns: JsonValue, trial: Trial | None = None) -> AgentTrace:
    async def ran() -> AgentTrace:
        asyncio.get_running_loop().set_default_executor(TrialThreads())
        with running(trial or Trial("one")) as one:
            return await agent.run(turns or ("Hello.",), one)

    return asyncio.run(ran())


# Prompts: told() answers with what it was told.


@pytest.mark.parametrize(
    ("factory", "before", "after"),
    [
        ("prompted", "- Be kind.", "system=['New.', 'It is Monday.'] instructions=None"),
        (
            "mixed",
            "- Be kind.\n\n- Be brief.",
            "system=['You are a desk.'] instructions='New.\\n\\nIt is Monday.'",
        ),
        ("unprompted", "", "system=[] instructions='New.'"),
    ],
)
def test_a_new_prompt_takes_the_place_of_texts_and_leaves_functions(
    factory: str, before: str, after: str
) -> None:
    agent = adapter(factory)
    assert agent.get_config().prompt == before
    as_it_was = run(agent).output
    assert after in str(run(changed(agent, prompt="New.")).output)
    assert run(agent).output == as_it_was


@pytest.mark.parametrize("history", [History.SWAPPED, History.DROPPED, History.KEPT])
def test_system_prompts_are_told_in_every_turn_whatever_becomes_of_the_history(history: History) -> None:
    outputs = run(changed(adapter("prompted"), history=history), "One.", "Two.").outputs
    assert all("system=['- Be kind.', 'It is Monday.']" in str(output) for output in outputs)


# Calls of tools.


def test_calls_that_come_to_no_tool_are_steps_with_an_error() -> None:
    calls = run(adapter("confused")).tool_calls
    assert [(call.tool, call.call_id) for call in calls] == [
        ("no_such_tool", "call-1"),
        ("look_up_order", "call-2"),
        ("look_up_order", "call-3"),
    ]
    assert calls[1].arguments == {"order": "A-1"}
    assert [bool(call.error) for call in calls] == [True, True, False]


def test_calls_are_told_apart_though_a_service_gives_their_ids_again() -> None:
    calls = run(adapter("confused_again")).tool_calls
    assert [(call.tool, bool(call.error)) for call in calls] == [
        ("look_up_order", False),
        ("no_such_tool", True),
        ("look_up_order", True),
        ("look_up_order", False),
    ]
    assert [call.arguments for call in calls if not call.error] == [{"order_id": "A-1"}, {"order_id": "A-2"}]
    assert {call.call_id for call in calls} == {"call-1"}


def test_a_call_that_uses_up_the_retries_is_a_step() -> None:
    trial = Trial("lost")
    with pytest.raises(Exception, match="exceeded max retries"):
        run(adapter("lost"), trial=trial)
    [step] = [step for step in trial.recorder.steps if step.tool]
    assert "Field required" in str(step.error)


def test_a_tool_that_asks_for_another_attempt_has_an_error_and_is_called_again() -> None:
    first, second = run(adapter("insistent")).tool_calls
    assert (first.error, first.call_id) == ("ModelRetry: more than that", "call-1")
    assert (second.output, second.arguments) == ("paid", {"amount": 9.0})


def test_calls_at_once_have_the_arguments_that_the_model_gave() -> None:
    calls = run(adapter("ordering")).tool_calls
    assert {call.call_id: call.arguments for call in calls} == {
        "call-1": {"order_id": "A-1"},
        "call-2": {"order_id": "A-2", "gift": True},
    }
    assert {"order_id": "A-2", "gift": True} in [call.output for call in calls]


def test_an_answer_of_a_shape_is_data_and_no_call_of_a_tool() -> None:
    trace = run(adapter("structured"))
    assert trace.output == {"order_id": "A-1", "gift": False}
    assert trace.tools_called == ("look_up_order",)


def test_tools_of_toolsets_are_doubled_and_go_wrong_by_the_names_that_the_toolsets_give_them() -> None:
    agent = adapter("with_toolsets")
    looked_up, refund = agent.get_config().tools
    assert (looked_up.name, refund.name) == ("shop_look_up_order", "issue_refund")
    broken = refund.model_copy(update={"fault": ToolFault(kind=FaultKind.EMPTY)})
    trial = Trial(
        "both", doubles={"shop_look_up_order": lambda order_id: "gone"}, tools={"issue_refund": broken}
    )
    trace = run(changed(agent, tools=(looked_up, broken)), trial=trial)
    assert {call.tool: call.output for call in trace.tool_calls} == {
        "shop_look_up_order": "gone",
        "issue_refund": "",
    }
    assert trial.recorder.marks == {"/tools/issue_refund/fault"}


def test_a_tool_that_an_agent_offers_later_is_left_to_it() -> None:
    agent = adapter("later")
    assert [tool.name for tool in agent.get_config().tools] == ["first"]
    assert [call.output for call in run(agent).tool_calls] == ["one", "two"]
    first, second = run(changed(agent, tools=())).tool_calls
    assert ("Unknown tool name" in str(first.error), second.output) == (True, "two")


def test_a_removed_tool_is_not_offered() -> None:
    agent = adapter("AGENT")
    [step] = run(changed(agent, tools=())).tool_calls
    assert "Unknown tool name" in str(step.error)
    assert run(agent).tool_calls[0].error is None


def test_calls_that_end_the_run_are_steps_and_are_answered_by_doubles() -> None:
    agent, names = adapter("waiting"), {"slow", "pay", "front"}
    trace = run(agent)
    assert {(call.tool, call.error, call.output) for call in trace.tool_calls} == {
        (name, None, None) for name in names
    }
    assert isinstance(trace.output, dict) and trace.output.keys() >= {"calls", "approvals"}
    trial = Trial("answered", doubles=dict.fromkeys(names, lambda: "yes"))
    trace = run(agent, trial=trial)
    assert (trace.output, {call.output for call in trace.tool_calls}) == ("Done.", {"yes"})


def test_a_result_that_says_more_is_told_and_goes_wrong_as_what_the_model_is_told() -> None:
    agent = adapter("explaining")
    assert [call.output for call in run(agent).tool_calls] == ["a coat"]
    [find] = agent.get_config().tools
    broken = find.model_copy(update={"fault": ToolFault(kind=FaultKind.EMPTY)})
    trial = Trial("empty", tools={"find": broken})
    assert [call.output for call in run(changed(agent, tools=(broken,)), trial=trial).tool_calls] == [""]


# What a run depends on.


def test_each_trial_has_dependencies_of_its_own() -> None:
    agent = adapter("shopping", deps=f"{ODD}:Shop")
    for _ in range(2):
        first, second, *_ = run(agent).tool_calls
        assert (first.arguments, first.output) == ({"what": "tea", "amount": 1}, ["tea"])
        assert second.output == ["tea", "milk"]


# Models.


def test_settings_that_a_function_makes_stay_beside_the_changed_ones() -> None:
    told = str(run(changed(adapter("with_settings"), model=ModelConfig(temperature=0.9))).output)
    assert "('max_tokens', 50), ('temperature', 0.9)" in told


@pytest.mark.parametrize("factory", ["wrapped", "with_fallback"])
def test_the_model_within_another_is_read_and_changed(factory: str) -> None:
    from agentmut.adapters._shared.change import Change
    from agentmut.adapters.pydantic_ai.parts import Parts

    agent: Any = adapter(factory)
    found = agent.get_config()
    assert found.model.name == "sim-large"
    wanted = found.model_copy(update={"model": found.model.model_copy(update={"name": "other"})})
    live = agent.source.build(found)
    _, overrides = Parts.from_agent(live).changed(Change(found, wanted))
    assert "other" in overrides["model"].model_name
    assert "other" not in live.model.model_name


# What cannot be run.


@pytest.mark.parametrize(
    ("factory", "options", "said"),
    [
        ("without_model", {}, "the agent has no model; give it one"),
        ("unknown_model", {}, "the agent's model nobody:gpt-9 cannot be made"),
        ("raising", {}, "raised RuntimeError: no database"),
        ("slow", {}, "is async; it must be a plain function"),
        ("nothing", {}, r"returned a NoneType; expected a pydantic_ai\.Agent"),
        ("TEXT", {}, r"is a str; expected a pydantic_ai\.Agent, or a function"),
        ("no_such_factory", {}, "no_such_factory"),
        ("shopping", {}, r"tools cannot be listed: .* name them with agent\.options\.deps"),
        ("shopping", {"deps": f"{ODD}:no_shop"}, "no_shop raised RuntimeError: closed"),
        ("shopping", {"deps": f"{ODD}:late_shop"}, "late_shop is async"),
        ("shopping", {"deps": f"{ODD}:no_such_shop"}, "no_such_shop"),
        ("shopping", {"deps": ["a"]}, r"agent\.options\.deps is a reference"),
        ("shopping", {"dep": "a"}, r"agent\.options: unknown key 'dep'.*deps"),
    ],
)
def test_what_cannot_be_run_is_told(factory: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(AgentmutError, match=said):
        adapter(factory, **options)


def test_tools_of_the_project_have_to_be_the_agents() -> None:
    tool = ToolSpec(name="issue_refnd", description="Pay.", parameters={"type": "object", "properties": {}})
    with pytest.raises(UsageError, match=r"agent\.config\.tools: .* has no tool 'issue_refnd'.*issue_refund"):
        adapter("with_toolsets", AgentConfig(tools=(tool,)))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, r"Install it with: pip install 'agentmut\[pydantic-ai\]'"),
        ({"pydantic-ai-slim": "1.9.0"}, r"found 1\.9\.0"),
        ({"pydantic-ai-slim": "3.0.0"}, r"found 3\.0\.0"),
    ],
)
def test_other_versions_are_refused(
    found: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_requirement, "version_of", lambda *packages: found)
    with pytest.raises(AdapterError, match=said):
        adapter("prompted")
