"""smolagents, with the simulator behind it, or a script where it must not vary."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.nouns.config import AgentConfig, Document, History
from agentmut.nouns.footprints import footprint
from agentmut.nouns.mutant import Edit
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.conftest import Service, said
from tests.frameworks.kit import POLICY, Case, check, two_tools

pytestmark = pytest.mark.framework

pytest.importorskip("smolagents", reason="smolagents is not installed")
AGENTS = "tests.frameworks.smolagents_agents"
ODD = "tests.frameworks.smolagents_odd_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "smolagents"
TURNS = ["Where is my order A-1042?", "And where is my order A-1043?"]
CASES = (
    two_tools("smolagents", f"{AGENTS}:desk"),
    Case("smolagents", "CodeAgent", f"{AGENTS}:coder", TURNS, ["look_up_order"], config=POLICY, limit=3),
    Case(
        "smolagents",
        "managed agent",
        f"{AGENTS}:team",
        ["I want a refund of 20 euros for my order A-1042."],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def adapter(factory: str, config: AgentConfig | None = None, **options: JsonValue) -> Any:
    kind: type[Adapter] = load(Group.ADAPTERS, "smolagents")
    module = AGENTS if factory in ("desk", "coder", "team") else ODD
    spec = AgentSpec(adapter="smolagents", factory=f"{module}:{factory}", options=options)
    return kind.create(spec, config or AgentConfig())


def changed(agent: Any, **parts: Any) -> Any:
    return agent.with_config(agent.get_config().model_copy(update=parts))


def run(agent: Any, *turns: JsonValue, trial: Trial | None = None) -> AgentTrace:
    async def online() -> AgentTrace:
        with Tap(all_codecs()).installed(), running(trial or Trial("one")) as one:
            found: AgentTrace = await agent.run(turns or ("Hello.",), one)
            return found

    return asyncio.run(online())


@pytest.fixture
def scripted(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    return service


@pytest.fixture
def simulated(simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")


def answer(calls: Any, text: str) -> Any:
    return calls(("final_answer", json.dumps({"answer": text})), prefix=f"final-{text}")


def code(text: str) -> Any:
    return said(f"Thought: so.\n<code>\n{text}\n</code>")


def order(number: str) -> tuple[str, str]:
    return "look_up_order", json.dumps({"order_id": number})


# What a run tells.


def test_parallel_calls_keep_their_ids_and_their_agent(scripted: Service, calls: Any) -> None:
    scripted.replies(calls(order("A-1"), order("A-2")), answer(calls, "Both."))
    trace = run(adapter("desk"))
    steps = sorted(trace.tool_calls, key=lambda step: str(step.call_id))
    assert [(step.call_id, step.arguments, step.node) for step in steps] == [
        ("call_0", {"order_id": "A-1"}, "ToolCallingAgent"),
        ("call_1", {"order_id": "A-2"}, "ToolCallingAgent"),
    ]
    assert (trace.output, trace.usage.input_tokens) == ("Both.", 14)


def test_calls_that_come_to_no_tool_are_steps_with_an_error(scripted: Service, calls: Any) -> None:
    wrong = calls(("look_up_order", '{"order_id": 7}'), prefix="wrong")
    scripted.replies(calls(("no_such_tool", "{}")), wrong, answer(calls, "Sorry."))
    steps = run(adapter("desk")).tool_calls
    assert [(step.tool, step.call_id) for step in steps] == [
        ("no_such_tool", "call_0"),
        ("look_up_order", "wrong_0"),
    ]
    assert "Unknown tool" in str(steps[0].error)
    assert "has type 'integer'" in str(steps[1].error)


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(scripted: Service, calls: Any) -> None:
    unknown = calls(("no_such_tool", "{}"))
    scripted.replies(calls(order("A-1")), calls(order("A-1")), unknown, answer(calls, "Sorry."))
    steps = run(adapter("desk")).tool_calls
    assert [step.tool for step in steps] == ["look_up_order", "look_up_order", "no_such_tool"]
    assert {step.call_id for step in steps} == {"call_0"}


def test_a_tool_that_the_agent_has_later_is_no_mutants_affair(
    scripted: Service, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.frameworks.smolagents_agents import issue_refund

    agent = adapter("growing")
    monkeypatch.setattr(f"{ODD}.LATER", [issue_refund])
    refund = ("issue_refund", '{"order_id": "A-1", "amount": 2}')
    scripted.replies(calls(refund), answer(calls, "Paid."))
    [step] = run(changed(agent, tools=())).tool_calls
    assert (step.tool, step.call_id, step.error) == ("issue_refund", "call_0", None)
    assert [tool.name for tool in scripted.requests[0].tools] == ["issue_refund", "final_answer"]


def test_a_call_that_is_told_as_text_is_one_step_though_it_fails(scripted: Service, calls: Any) -> None:
    asked = 'Action:\n{"name": "look_up_order", "arguments": {"order_id": "A-1"}}'
    scripted.replies(said(asked), said(asked.replace('"A-1"', "7")), answer(calls, "Sorry."))

    def lost(order_id: str) -> str:
        raise ValueError("lost")

    steps = run(adapter("desk"), trial=Trial("one", doubles={"look_up_order": lost})).tool_calls
    assert [step.arguments for step in steps] == [{"order_id": "A-1"}, {"order_id": 7}]
    assert steps[0].error == "ValueError: lost"


def test_an_answer_that_smolagents_asks_for_when_it_is_out_of_steps_is_none(
    scripted: Service, calls: Any
) -> None:
    scripted.answer = lambda request: calls(order("A-1")) if request.tools else said("Perhaps on Monday.")
    with pytest.raises(Exception, match=r"reached max_steps .*\(6\): Perhaps on Monday") as raised:
        run(adapter("desk"))
    assert type(raised.value).__name__ == "AgentMaxStepsError"


def test_a_member_that_is_out_of_steps_has_that_in_its_step(simulated: None) -> None:
    trace = run(adapter("hurried"), "I want a refund of 20 euros for my order A-1042.")
    [step] = [step for step in trace.tool_calls if step.tool == "billing"]
    assert "reached max_steps" in str(step.error)
    assert trace.edges[:3] == (
        ("__start__", "ToolCallingAgent"),
        ("ToolCallingAgent", "billing"),
        ("billing", "ToolCallingAgent"),
    )


def test_calls_in_code_are_traced_by_the_names_of_their_arguments(scripted: Service) -> None:
    both = "found = look_up_order('A-1')\nprint(found, issue_refund('A-1', amount=5.0))"
    scripted.replies(code(both), code("final_answer(found)"))
    trace = run(adapter("coder"))
    assert [step.arguments for step in trace.tool_calls] == [
        {"order_id": "A-1"},
        {"order_id": "A-1", "amount": 5.0},
    ]
    assert {step.node for step in trace.tool_calls} == {"CodeAgent"}
    assert trace.output == "A-1 was delivered on Monday."


def test_variables_of_code_last_for_a_conversation_and_no_longer(scripted: Service) -> None:
    agent = adapter("coder")
    scripted.replies(code("mine = 7\nfinal_answer(mine)"), code("final_answer(mine + 1)"))
    assert run(agent, "Keep it.", "Which?").outputs == (7, 8)
    scripted.replies(code("final_answer(mine)"), code("final_answer('gone')"))
    assert run(agent, "Which?").output == "gone"


def test_an_agent_that_is_there_already_stays_as_it_was_and_is_silent(
    scripted: Service, calls: Any, monkeypatch: Any, capsys: Any
) -> None:
    from tests.frameworks import smolagents_odd_agents as odd

    kept = odd.noted()
    monkeypatch.setattr(odd, "KEPT", kept, raising=False)
    monkeypatch.setattr(odd, "SEEN", [])
    scripted.replies(answer(calls, "Done."))
    assert run(changed(adapter("KEPT"), prompt="Be brief.")).output == "Done."
    assert (kept.instructions, kept.memory.steps, kept.monitor.step_durations) == ("Be kind.", [], [])
    assert [one is kept for one in odd.SEEN] == [False]  # the user's callback is called with the copy
    assert capsys.readouterr().out == ""


def test_streams_are_read_and_printed_nowhere(simulated: None, capsys: Any) -> None:
    trace = run(adapter("streaming"), "Where is my order A-1042?")
    assert trace.tools_called == ("look_up_order",)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("factory", ["in_markdown", "in_json"])
def test_other_forms_of_code_are_answered_by_the_simulator(factory: str, simulated: None) -> None:
    trace = run(adapter(factory), "Where is my order A-1042?")
    assert trace.tools_called == ("look_up_order",)
    assert "Monday" in str(trace.output)


# Changes.


def test_a_renamed_tool_has_its_new_name_in_code_and_no_other(scripted: Service) -> None:
    agent = adapter("coder")
    [tool, other] = agent.get_tools()
    renamed = tool.model_copy(update={"name": "find", "implemented_by": tool.name})
    scripted.replies(code("look_up_order('A-1')"), code("final_answer(find('A-2'))"))
    trial = Trial("renamed", tools={"find": renamed})
    trace = run(changed(agent, tools=(renamed, other)), trial=trial)
    assert [(step.tool, step.arguments) for step in trace.tool_calls] == [
        ("look_up_order", {"order_id": "A-2"})
    ]
    assert "look_up_order" in scripted.requests[1].messages[-1].text  # it is told that there is none
    [shape, *_] = footprint(trial.recorder.exchanges).requests
    assert [tool.name for tool in shape.tools] == ["find", "issue_refund", "final_answer"]


def test_documents_and_a_new_whole_prompt_are_put_into_the_template(scripted: Service, calls: Any) -> None:
    agent = adapter(
        "desk", AgentConfig(context=(Document(name="d", text="{{ braces }} {% stay %}"),)), prompt="system"
    )
    prompt = agent.get_config().prompt
    scripted.replies(answer(calls, "Done."))
    run(changed(agent, prompt=prompt.replace("an expert assistant", "a tired assistant")))
    system = scripted.requests[0].system_text
    assert "You are a tired assistant" in system
    assert "{{ braces }} {% stay %}" in system
    assert "look_up_order: Look up an order" in system


def test_edits_of_placeholders_of_the_whole_prompt_are_refused() -> None:
    agent = adapter("desk", prompt="system")
    prompt = agent.get_config().prompt
    start = prompt.index("{{ tool.to_tool")
    words = prompt.index("expert")
    placeholder = Edit(pointer="/prompt", before="{{", after="", span=(start, start + 2))
    inside = Edit(pointer="/prompt", before="tool", after="one", span=(start + 3, start + 7))
    plain = Edit(pointer="/prompt", before="expert", after="new", span=(words, words + 6))
    assert "placeholders" in agent.cannot_change(placeholder)
    assert "placeholders" in agent.cannot_change(inside)
    assert agent.cannot_change(plain) == ""


def test_settings_are_changed_where_the_agent_has_them(scripted: Service) -> None:
    agent = adapter("limited")
    model = agent.get_config().model
    assert (model.name, model.max_tokens, model.temperature) == ("sim-large", 500, 1)
    scripted.replies(code("final_answer(1)"))
    run(
        changed(
            agent, model=model.model_copy(update={"max_tokens": 50, "temperature": None, "name": "other"})
        )
    )
    [request] = scripted.requests
    assert (request.model, request.max_tokens, request.temperature) == ("other", 50, None)


@pytest.mark.parametrize(
    ("factory", "edit", "reason"),
    [
        ("desk", Edit(pointer="/model/stop", before=None, after=["x"]), "agent.route: wire"),
        (
            "local",
            Edit(pointer="/model/temperature", before=1, after=0),
            "not known how a _Local sends.* agent.route: wire",
        ),
        ("coder", Edit(pointer="/model/tool_choice", before=None, after="none"), "no tools to choose from"),
        (
            "coder",
            Edit(pointer="/tools/0/parameters/required", before=None, after=["order_id"]),
            "which inputs",
        ),
        ("coder", Edit(pointer="/tools/0/name", before="look_up_order", after="look-up"), "identifiers"),
        (
            "desk",
            Edit(pointer="/tools/0/parameters/additionalProperties", before=None, after=False),
            "inputs",
        ),
    ],
)
def test_what_smolagents_has_no_place_for_is_said(factory: str, edit: Edit, reason: str) -> None:
    agent = adapter(factory)
    assert re.search(reason, agent._cannot_change(edit))


def test_tasks_can_be_led_to_another_agent(scripted: Service, calls: Any) -> None:
    agent = adapter("three")
    flow = {"handoffs": {"ToolCallingAgent": {"sales": "billing", "billing": "billing"}}}
    scripted.replies(calls(("sales", '{"task": "Sell."}')), answer(calls, "Paid."), answer(calls, "All."))
    trace = run(changed(agent, orchestration={"max_steps": 5, **flow}))
    assert ("ToolCallingAgent", "billing") in trace.edges
    assert [(step.tool, step.call_id) for step in trace.tool_calls] == [("sales", "call_0")]
    assert "named 'billing'" in scripted.requests[1].messages[-1].text


def test_history_with_swapped_speakers_is_told_to_a_new_agent(scripted: Service, calls: Any) -> None:
    scripted.replies(answer(calls, "One."), answer(calls, "Two."))
    run(changed(adapter("desk"), history=History.SWAPPED), "First?", "Second?")
    told = [(message.role, message.text) for message in scripted.requests[1].messages[1:]]
    assert told == [("assistant", "First?"), ("user", "New task:\nOne.\nNew task:\nSecond?")]


def test_a_factory_may_take_the_config(scripted: Service, calls: Any) -> None:
    agent = adapter("from_config", AgentConfig(prompt="Be kind."))
    scripted.replies(answer(calls, "Done."))
    run(changed(agent, prompt="Be brief."))
    assert "Be brief." in scripted.requests[0].system_text
    assert "Be kind." not in scripted.requests[0].system_text


def test_the_framework_alone_gives_the_same_answer(scripted: Service, calls: Any) -> None:
    from tests.frameworks.smolagents_agents import desk, direct

    scripted.replies(answer(calls, "Done."))
    assert asyncio.run(direct(desk(), "Hello.")) == "Done."


# What is refused.


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("of_another_kind", r"returned a str; expected a smolagents\.ToolCallingAgent or CodeAgent"),
        ("failing", "raised RuntimeError: no database"),
        ("SEEN", "is a list; expected a smolagents"),
        ("elsewhere", "runs its code in a _Elsewhere.* model requests"),
        ("twins", "two agents are called 'a'"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_way_out(factory: str, said: str) -> None:
    with pytest.raises(AgentmutError, match=said):
        adapter(factory)


def test_options_must_be_known() -> None:
    assert adapter("team", agent="billing").get_config().prompt.startswith("You handle money.")
    with pytest.raises(AdapterError, match=r"no agent 'bills'.*billing"):
        adapter("team", agent="bills")
    with pytest.raises(UsageError, match=r"agent\.options\.prompt: 'all' is none of instructions, system"):
        adapter("desk", prompt="all")
