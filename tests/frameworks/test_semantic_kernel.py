"""Semantic Kernel, with the simulator behind it, or a script where it must not vary."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.nouns.config import Document, History
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.mutant import Edit
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from tests.frameworks.kit import POLICY, Case, check
from tests.frameworks.semantic_kernel_runs import Ran, adapter, changed

pytest.importorskip("semantic_kernel", reason="semantic-kernel is not installed")
AGENTS = "tests.frameworks.semantic_kernel_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "semantic_kernel"
PAGE = Path(__file__).parents[2] / "docs" / "semantic_kernel.md"
CASES = (
    Case(
        "semantic_kernel",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["Orders-look_up_order"],
        config=POLICY,
        limit=3,
    ),
    Case(
        "semantic_kernel",
        "agent as plugin",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["Orders-look_up_order"],
    ),
    Case(
        "semantic_kernel",
        "hand-off",
        f"{AGENTS}:swarm",
        ["Please refund my order A-1042."],
        ["Orders-look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


# What is lost silently without agentmut.


def test_changed_instructions_of_an_agent_that_has_run_arrive() -> None:
    from tests.frameworks.semantic_kernel_odd_agents import scripted, service_of

    agent = scripted("One.", "Two.")
    asyncio.run(agent.get_response(messages="Hello."))
    agent.instructions = "Be rude."
    asyncio.run(agent.get_response(messages="Hello."))
    assert service_of(agent).asked[1]["messages"][0] == ("system", "Be kind.")  # as Semantic Kernel has it

    kept = adapter("KEPT")
    assert Ran(changed(kept, prompt="Be rude.")).system == "Be rude."


def test_an_agent_that_is_an_object_is_not_touched() -> None:
    from tests.frameworks.semantic_kernel_odd_agents import KEPT, service_of

    before, service = dict(KEPT), service_of(KEPT)
    plugins = {name: list(plugin.functions) for name, plugin in KEPT.kernel.plugins.items()}
    agent = adapter("KEPT")
    model = agent.get_config().model.model_copy(update={"name": "other", "temperature": 0.1})
    service.script[:] = ["Done."]
    first = Ran(
        changed(agent, model=model, tools=agent.get_config().tools[:1], orchestration={"max_steps": 1})
    )
    assert (first.asked[-1]["model"], first.asked[-1]["temperature"]) == ("other", 0.1)
    assert len(first.asked[-1]["tools"]) == 1
    service.script[:] = ["Done."]
    again = Ran(agent)
    assert (again.asked[-1].get("model"), again.asked[-1].get("temperature")) == (None, None)
    assert dict(KEPT) == before
    assert {name: list(plugin.functions) for name, plugin in KEPT.kernel.plugins.items()} == plugins
    assert KEPT.arguments is None
    assert not KEPT.kernel.auto_function_invocation_filters


# Calls.


def test_calls_that_semantic_kernel_answers_itself_are_steps_with_an_error() -> None:
    calls = Ran(adapter("confused")).trace.tool_calls
    assert {step.call_id: (step.tool, bool(step.error)) for step in calls} == {
        "call-1": ("Orders-cancel", True),
        "call-2": ("Orders-look_up_order", True),
        "call-3": ("Orders-look_up_order", True),
        "call-4": ("Orders-look_up_order", False),
    }


def test_calls_are_told_apart_though_a_service_gives_their_ids_again() -> None:
    """In turns of a conversation, as services do that count the calls of a request."""
    agent = adapter("confused_again")
    calls = Ran(changed(agent, history=History.DROPPED), "Hello.", "Hello.").trace.tool_calls
    assert sorted((step.turn, step.call_id, bool(step.error)) for step in calls) == [
        (0, "c", False),
        (1, "c", False),
        (1, "c", True),
    ]


def test_functions_that_the_agent_has_later_are_offered_and_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = adapter("later")
    assert [tool.name for tool in agent.get_tools()] == ["Door-open"]
    monkeypatch.setattr("tests.frameworks.semantic_kernel_odd_agents.LATER", ["orders"])
    run = Ran(changed(agent, prompt="Be rude."), "Hello.", "Hello.")
    told = [[tool["function"]["name"] for tool in asked["tools"]] for asked in run.asked[::2]]
    orders = ["Orders-issue_refund", "Orders-look_up_order"]
    assert [sorted(names) for names in told] == [
        ["Door-open", *orders],
        ["Clock-day", "Clock-fail", "Door-open", *orders],
    ]
    assert [(step.tool, step.output, step.call_id) for step in run.trace.tool_calls] == [
        ("Door-open", "It is open.", "call-1"),
        ("Clock-day", "Monday", "call-3"),
    ]
    assert Ran(changed(agent, tools=())).offered == orders


def test_what_a_function_raises_is_in_its_step_and_told_to_the_model() -> None:
    run = Ran(adapter("failing"))
    [step] = run.trace.tool_calls
    assert "the clock has stopped: rust" in (step.error or "")
    assert (step.node, step.arguments) == ("desk", {"why": "rust"})
    assert run.trace.output == "It failed."


def test_filters_of_the_user_run_once_and_may_end_a_turn() -> None:
    from tests.frameworks.semantic_kernel_odd_agents import FILTERED

    FILTERED.clear()
    run = Ran(adapter("filtered"))
    assert FILTERED == ["Orders-look_up_order"]
    assert run.trace.output == "A-1 was delivered on Monday."
    assert len(run.asked) == 1


def test_a_tool_may_be_a_prompt() -> None:
    run = Ran(adapter("with_prompt_function"))
    [step] = run.trace.tool_calls
    assert (step.tool, step.arguments) == ("Texts-shorten", {"text": "Good morning."})
    assert "Hi." in str(step.output)
    assert ("user", "Shorten: Good morning.") in run.asked[1]["messages"]


def test_a_limit_of_calls_is_kept() -> None:
    agent = adapter("endless")
    assert agent.get_config().orchestration == {"max_steps": 5}
    run = Ran(changed(agent, orchestration={"max_steps": 2}))
    assert len(run.trace.tool_calls) == 2
    assert "tools" not in run.asked[2]  # Semantic Kernel asks once more, without tools


# Instructions.


def test_instructions_are_a_template_and_documents_are_not() -> None:
    agent = adapter("templated")
    assert agent.get_config().prompt == "Today is {{Clock.day}}. {{$motto}}"
    policy = Document(name="policy", text="{{Clock.day}} and {{$this are no template.")
    run = Ran(changed(agent, prompt="It is {{Clock.day}}! {{$motto}}", context=(policy,)))
    assert run.system.startswith("It is Monday! Be kind.")
    assert run.system.endswith(policy.wrapped)
    assert not run.trace.tool_calls  # what a template calls is no call of the model's


def test_a_template_may_call_a_function_that_the_model_is_not_offered() -> None:
    agent = adapter("templated")
    kept = tuple(tool for tool in agent.get_config().tools if tool.name != "Clock-day")
    run = Ran(changed(agent, tools=kept))
    assert run.system == "Today is Monday. Be kind."
    assert "Clock-day" not in run.offered


def test_history_with_swapped_speakers_is_a_new_thread() -> None:
    agent = adapter("KEPT")
    from tests.frameworks.semantic_kernel_odd_agents import KEPT, service_of

    service_of(KEPT).script[:] = ["One.", "Two."]
    run = Ran(changed(agent, history=History.SWAPPED), "Where is A-1?", "And A-2?")
    assert run.asked[-1]["messages"][1:] == [
        ("assistant", "Where is A-1?"),
        ("user", "One."),
        ("user", "And A-2?"),
    ]


# Tools.


def test_names_are_those_that_the_model_is_told() -> None:
    names = ["Orders-issue_refund", "Orders-look_up_order", "Clock-day", "Clock-fail"]
    assert [tool.name for tool in adapter("failing").get_tools()] == names


def test_an_order_of_tools_across_plugins_arrives() -> None:
    agent = adapter("failing")
    tools = agent.get_config().tools
    order = (tools[3], tools[0], tools[2], tools[1])
    assert Ran(changed(agent, tools=order)).offered == [tool.name for tool in order]


def test_of_functions_that_filters_leave_out_nothing_is_offered() -> None:
    agent = adapter("choosy")
    [tool] = agent.get_config().tools
    assert tool.name == "Orders-look_up_order"
    other = tool.model_copy(update={"name": "look_up", "implemented_by": tool.name})
    decoy = ToolSpec(
        name="Orders-look_up_order_v2", description="New.", fault=ToolFault(kind=FaultKind.DECOY)
    )
    run = Ran(changed(agent, tools=(other, decoy)))
    assert run.offered == ["look_up", "Orders-look_up_order_v2"]
    [looked_up, day] = run.trace.tool_calls
    assert (looked_up.tool, looked_up.output) == ("Orders-look_up_order", "A-1 was delivered on Monday.")
    assert (day.tool, day.output) == ("Clock-day", None)
    assert "not part of the provided tools" in (day.error or "")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit(pointer="/tools/0/name", before="Clock-day", after="Clock.day"), "are called 'Clock.day'"),
        (Edit(pointer="/tools/0", before=None, after={"name": "day?"}), "are called 'day?'"),
        (Edit(pointer="/tools/0/parameters/additionalProperties", before=None, after=False), "does not send"),
        (Edit(pointer="/tools/0/parameters", before={}, after={"oneOf": []}), "does not send 'oneOf'"),
        (Edit(pointer="/tools/0/parameters/properties/name", before=None, after={}), ""),
        (Edit(pointer="/model/reasoning_effort", before=None, after="minimal"), "do not take 'minimal'"),
        (
            Edit(pointer="/model/tool_choice", before="auto", after={"type": "function"}),
            "no way to ask for the tool choice",
        ),
        (Edit(pointer="/model/tool_choice", before="auto", after="required"), ""),
        (Edit(pointer="/model/temperature", before=None, after=0.0), ""),
        (Edit(pointer="/orchestration/nodes", before=None, after=["desk"]), "orchestration.nodes"),
    ],
    ids=lambda one: one.pointer if isinstance(one, Edit) else "",
)
def test_what_semantic_kernel_cannot_say_is_refused(edit: Edit, said: str) -> None:
    reason = adapter("failing")._cannot_change(edit)
    assert said in reason
    assert bool(said) == bool(reason)


def test_a_factory_that_takes_the_config_may_leave_limits_to_the_adapter() -> None:
    agent = changed(adapter("from_config"), prompt="Be rude.", orchestration={"max_steps": 1})
    run = Ran(agent)
    assert run.system == "Be rude."
    assert len(run.asked) == 2
    assert "tools" not in run.asked[1]


def test_a_prompt_that_is_no_template_any_more_is_no_agent() -> None:
    with pytest.raises(AdapterError, match=r"cannot be read as a template: .*foo bar"):
        Ran(changed(adapter("templated"), prompt="It is {{foo bar}}."))


def test_an_agent_that_only_streams_is_told_of_the_wire() -> None:
    with pytest.raises(AdapterError, match=r"without streaming, .*invoke_stream.* agent\.route: wire"):
        Ran(adapter("streaming"))


# Models.


def test_settings_are_read_from_where_they_are_and_put_there() -> None:
    agent = adapter("required")
    model = agent.get_config().model
    assert (model.name, model.stop, model.max_tokens, model.seed) == ("scripted", ("END",), 90, 4)
    assert model.tool_choice == "required"
    other = model.model_copy(
        update={"max_tokens": 9, "stop": (), "seed": None, "tool_choice": "none", "name": "m"}
    )
    asked = Ran(
        changed(agent, model=other.model_copy(update={"response_format": {"type": "json_object"}}))
    ).asked[0]
    assert (asked["max_completion_tokens"], asked["tool_choice"], asked["model"]) == (9, "none", "m")
    assert asked["response_format"] == {"type": "json_object"}
    assert not {"stop", "seed", "max_tokens"} & asked.keys()


def test_a_tool_choice_can_be_left_out() -> None:
    agent = adapter("failing")
    model = agent.get_config().model.model_copy(update={"tool_choice": None})
    asked = Ran(changed(agent, model=model)).asked[0]
    assert asked["tools"]
    assert "tool_choice" not in asked


def test_there_is_nothing_to_choose_without_tools() -> None:
    assert adapter("without_tools").get_config().model.tool_choice is None


def test_the_name_of_a_model_at_azure_is_refused_where_the_address_chooses_it() -> None:
    agent = adapter("deployed")
    assert agent.get_config().model.name == "sim-large"
    reason = agent.cannot_change(Edit(pointer="/model/name", before="sim-large", after="sim-small"))
    assert "an Azure client's address chooses the model" in reason
    assert agent.cannot_change(Edit(pointer="/model/temperature", before=None, after=0.1)) == ""


def test_settings_that_a_service_does_not_know_are_refused() -> None:
    reason = adapter("plain").cannot_change(Edit(pointer="/model/temperature", before=None, after=0.1))
    assert reason.startswith("PromptExecutionSettings of Semantic Kernel have no temperature")
    assert "agent.route: wire" in reason


# Agents that ask agents.


def test_of_several_agents_the_one_that_is_named_is_changed() -> None:
    agent = adapter("team", agent="billing")
    config = agent.get_config()
    assert config.prompt == "Be kind."
    assert config.orchestration["handoffs"] == {
        "triage": {"billing-billing": "billing", "stock-stock": "stock"}
    }
    run = Ran(changed(agent, prompt="Be rude."))
    assert run.system == "Be kind."  # the first agent's
    assert run.offered == ["billing-billing", "Clock-day", "Clock-fail", "stock-stock"]
    assert run.trace.edges == (("__start__", "triage"), ("triage", "billing"), ("triage", "__end__"))
    steps = {step.tool: (step.node, step.output) for step in run.trace.tool_calls}
    assert steps["billing-billing"] == ("triage", "Paid.")
    assert steps["Orders-look_up_order"][0] == "billing"


def test_another_agent_can_be_asked_in_its_place() -> None:
    handoffs = {"triage": {"billing-billing": "stock"}}
    run = Ran(changed(adapter("team"), orchestration={"max_steps": 5, "handoffs": handoffs}))
    assert ("triage", "stock") in run.trace.edges
    assert [step.output for step in run.trace.tool_calls] == ["None left."]
    assert "stock-stock" not in run.offered


# What is refused.


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("assistant", "no way to change a OpenAIAssistantAgent; .* agent.route: wire"),
        ("chat", "no way to change a AgentGroupChat; .* agent.route: wire"),
        ("with_assistant", "no way to change a SequentialOrchestration; .* agent.route: wire"),
        ("asks_assistant", "asks a OpenAIAssistantAgent, 'assistant', .* agent.route: wire"),
        ("kernel", r"returned a semantic_kernel\.kernel\.Kernel; expected a semantic_kernel.*route: wire"),
        ("in_pieces", r"a async_generator, as a function does that streams; .* agent\.route: wire"),
        ("twins", "two agents are called 'desk'"),
        ("without_service", "agent 'desk' has no chat completion service"),
        ("raising", "raised RuntimeError: no key for the shop"),
        ("no_such_factory", "no_such_factory"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_way_out(factory: str, said: str) -> None:
    with pytest.raises(AgentmutError, match=said):
        adapter(factory)


def test_the_agent_that_is_changed_must_be_there() -> None:
    with pytest.raises(AdapterError, match=r"no agent 'bill'.*billing"):
        adapter("team", agent="bill")
    with pytest.raises(UsageError, match=r"agent\.options: unknown key 'member'"):
        adapter("team", member="billing")


# Its page.


def test_the_agent_of_the_page_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    found = re.search(r"file: desk.py -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    written: dict[str, Any] = {}
    exec(found[1], written)
    kind: Any = load(Group.ADAPTERS, "semantic_kernel")
    config = kind.read(written["build"](), AgentSpec(adapter="semantic_kernel"))
    assert config.tool_names == ("Orders-status",)
    assert config.model.name == "gpt-5.2"
