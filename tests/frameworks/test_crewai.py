"""CrewAI, with the simulator behind it, or a script where it must not vary."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut._base.environment import environ
from agentmut._base.errors import AgentmutError
from agentmut.nouns.config import AgentConfig, Document, History
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.conftest import Service
from tests.frameworks.kit import Case, check, two_tools

with environ({"CREWAI_DISABLE_TELEMETRY": "true"}):  # some tests import agents before there is an adapter
    crewai = pytest.importorskip("crewai", reason="crewai is not installed")
AGENTS = "tests.frameworks.crewai_agents"
ODD = "tests.frameworks.crewai_odd_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "crewai"
CASES = (
    two_tools("crewai", f"{AGENTS}:desk"),
    Case("crewai", "two tasks", f"{AGENTS}:two_steps", ["Where is my order A-1042?"], ["look_up_order"]),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def adapter(factory: str, config: AgentConfig | None = None, **options: JsonValue) -> Adapter:
    kind: type[Adapter] = load(Group.ADAPTERS, "crewai")
    spec = AgentSpec(adapter="crewai", factory=f"{ODD}:{factory}", options=options)
    return kind.create(spec, config or AgentConfig())


def changed(agent: Adapter, **parts: Any) -> Adapter:
    return agent.with_config(agent.get_config().model_copy(update=parts))


def run(agent: Adapter, *turns: JsonValue) -> AgentTrace:
    async def ran() -> AgentTrace:
        with running(Trial("one")) as trial:
            return await agent.run(turns or ("Hello.",), trial)

    return asyncio.run(ran())


def rewired(agent: Adapter, **keys: JsonValue) -> Adapter:
    return changed(agent, orchestration={**agent.get_config().orchestration, **keys})


# What is changed without effect in CrewAI itself.


def test_tools_are_changed_at_the_tasks_too_where_an_agents_own_are_not_asked() -> None:
    from tests.frameworks.crewai_odd_agents import offering

    crew = offering().copy()
    crew.agents[0].tools = []
    assert [tool.name for tool in crew.tasks[0].tools] == ["Look up order"]  # and the model is told of them
    agent = adapter("offering")
    assert json.loads(str(run(agent).output))[0]["function"]["name"] == "look_up_order"
    assert run(changed(agent, tools=())).output == "null"


def test_tools_that_the_crew_has_later_are_no_mutants_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.frameworks.crewai_agents import IssueRefund

    agent = adapter("growing")
    assert [tool.name for tool in agent.get_tools()] == ["look_up_order"]
    monkeypatch.setattr(f"{ODD}.LATER", [IssueRefund()])
    told = json.loads(str(run(changed(agent, tools=())).output))
    assert [tool["function"]["name"] for tool in told] == [
        "issue_refund",
        "delegate_work_to_coworker",
        "ask_question_to_coworker",
    ]


def test_a_repeated_call_is_not_answered_from_a_cache() -> None:
    trace = run(adapter("counting"))
    assert [step.output for step in trace.tool_calls] == ["number 1", "number 2"]
    assert {step.node for step in trace.tool_calls} == {"Clerk"}


def test_a_failure_that_a_tool_reports_is_an_error() -> None:
    pytest.importorskip("crewai.tools.tool_failure", reason="this CrewAI has none such")
    first, _ = run(adapter("reporting_failure")).tool_calls
    assert (first.output, first.error) == (None, "ToolFailedError: out of numbers")


def test_a_limit_of_a_tools_uses_begins_anew_with_each_trial() -> None:
    agent = adapter("COUNTING")
    assert [len(run(agent).tool_calls) for _ in range(2)] == [2, 2]


def test_braces_in_documents_are_no_placeholders() -> None:
    agent = adapter("echoing", AgentConfig(context=(Document(name="policy", text="Write {order_id}."),)))
    assert "Write {order_id}." in str(run(agent).output)


def test_a_goal_and_the_texts_of_tasks_are_parts_of_the_prompt() -> None:
    agent = adapter("echoing")
    prompt = agent.get_config().prompt
    said = str(
        run(changed(agent, prompt=prompt.replace("Help.", "Dance.").replace("Answer:", "Sing:"))).output
    )
    assert "Your personal goal is: Dance." in said
    assert "Sing: Hello." in said
    less = str(run(changed(agent, prompt=prompt.partition("\n\n## Expected")[0])).output)
    assert "An answer." in str(run(agent).output)
    assert "An answer." not in less


def test_a_project_that_gives_only_a_backstory_leaves_the_rest_to_the_crew() -> None:
    said = str(run(adapter("echoing", AgentConfig(prompt="You are a pirate."))).output)
    assert "You are a pirate." in said
    assert "Your personal goal is: Help." in said
    assert "You work in a shop." not in said


def test_nothing_is_reported_and_the_environment_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from crewai.telemetry import Telemetry

    before = dict(os.environ)
    monkeypatch.setattr(Telemetry(), "ready", True)
    agent = adapter("echoing")
    assert not Telemetry().ready
    run(agent)
    assert dict(os.environ) == before


# Conversations, answers and delegation.


def test_earlier_turns_are_passed_on_as_crewais_own_chat_does() -> None:
    agent = adapter("echoing")
    trace = run(agent, "I am Ann.", "Who am I?")
    assert "User: I am Ann." in str(trace.outputs[1])
    dropped = run(changed(agent, history=History.DROPPED), "I am Ann.", "Who am I?")
    assert "I am Ann." not in str(dropped.outputs[1])


def test_an_input_of_another_name_and_further_inputs_reach_the_crew() -> None:
    agent = adapter("echoing", AgentConfig(prompt="You sell {goods}."), inputs={"goods": "tea"})
    assert "You sell tea." in str(run(agent).output)


def test_a_streaming_crew_answers_at_once() -> None:
    assert run(adapter("streaming")).output == "Hello from the clerk."


def test_an_answer_of_a_shape_is_data() -> None:
    assert run(adapter("reporting")).output == {"status": "delivered"}


@pytest.mark.parametrize(
    "factory, source",
    [("managed", "Manager"), ("managed_by_a_model", "Crew Manager"), ("delegating", "Lead")],
)
def test_work_is_delegated_and_traced(factory: str, source: str) -> None:
    agent = adapter(factory)
    assert agent.get_config().orchestration["handoffs"] == {source: {"Clerk": "Clerk", "Writer": "Writer"}}
    trace = run(agent)
    assert trace.output == "Told: Hello from the clerk."
    [step] = trace.tool_calls
    assert (step.tool, step.node, step.output) == (
        "delegate_work_to_coworker",
        source,
        "Hello from the clerk.",
    )
    assert (source, "Clerk") in trace.edges
    away = rewired(agent, handoffs={source: {"Clerk": "Writer", "Writer": "Writer"}})
    assert run(away).output == "Told: Hello from the writer."
    assert "coworker mentioned not found" in str(
        run(rewired(agent, handoffs={source: {"Writer": "Writer"}})).output
    )


def test_a_delegation_that_fails_is_a_step_with_an_error() -> None:
    trace = run(adapter("delegating_in_vain"))
    assert trace.output == "Sorry."
    errors = [str(step.error) for step in trace.tool_calls]
    assert [step.output for step in trace.tool_calls] == [None, None, None]
    assert "coworker mentioned not found" in errors[0]
    assert errors[1] == "Error executing task with agent 'broken'. Error: out of order"
    assert "Error executing tool: " in errors[2]


def test_a_version_that_tells_of_failures_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that raised would only be printed, and its step be missing."""
    from agentmut.adapters.crewai import tools

    monkeypatch.setattr(tools, "_REFUSALS", ("no_such_text",))
    tools.refusals.cache_clear()
    with pytest.raises(AgentmutError, match=r"how crewai 1\.\d.* tells of calls that fail .*route: wire"):
        adapter("growing")
    tools.refusals.cache_clear()


ORDER = '{"order_id": "A-1"}'


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(
    service: Service, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that come to no tool: one that there is not, arguments that are no JSON, one call too many."""
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    script = [("look_up_order", ORDER), ("no_such_tool", "{}"), ("look_up_order", "{")]
    script += [("look_up_order", ORDER), ("look_up_order", ORDER)]
    service.replies(*(calls(one) for one in script), "Done.")
    with Tap(all_codecs()).installed():
        trace = run(adapter("online"))
    found = [(step.tool, step.call_id, step.node, step.error) for step in trace.tool_calls]
    assert [(tool, said and said[:27]) for tool, _, _, said in found] == [
        ("look_up_order", None),
        ("no_such_tool", "Tool not found"),
        ("look_up_order", "the arguments are no JSON: "),
        ("look_up_order", None),
        ("look_up_order", "Tool 'look_up_order' has re"),
    ]
    assert {(call_id, node) for _, call_id, node, _ in found} == {("call_0", "Clerk")}


@pytest.mark.parametrize(
    "keys, way",
    [
        ({}, ["first", "second", "third"]),
        ({"nodes": ["first", "third"]}, ["first", "third"]),
        (
            {"edges": [["__start__", "second"], ["second", "first"], ["first", "third"]]},
            ["second", "first", "third"],
        ),
        ({"edges": [["__start__", "first"], ["second", "third"]]}, ["first"]),
    ],
)
def test_tasks_are_left_out_and_trade_places(keys: Mapping[str, JsonValue], way: list[str]) -> None:
    assert [target for _, target in run(rewired(adapter("line"), **keys)).edges[:-1]] == way


def test_a_task_is_not_passed_what_an_earlier_one_said() -> None:
    agent = adapter("line")
    assert agent.get_config().orchestration["state"] == {"second": ["first"], "third": ["first", "second"]}
    assert "second of Hello." not in str(
        run(rewired(agent, state={"second": ["first"], "third": ["first"]})).output
    )
    assert "second of Hello." in str(run(agent).output)


def test_tasks_that_run_at_once_are_passed_what_they_say_themselves() -> None:
    assert adapter("at_once").get_config().orchestration["state"] == {"third": ["first"]}


def test_copies_lose_nothing_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentmut.adapters._shared.change import Change
    from agentmut.adapters.crewai.crew import Team
    from tests.frameworks.crewai_odd_agents import elaborate

    monkeypatch.chdir(tmp_path)
    crew, found = elaborate(), adapter("elaborate").get_config()
    team = Team.from_crew(crew).changed(Change(found, found), found.prompt)
    assert team.crew.planning_llm is crew.planning_llm
    assert team.changed_agent.function_calling_llm is crew.agents[0].function_calling_llm
    assert team.crew.tasks[2].context == team.crew.tasks[:1]
    run(adapter("elaborate"))
    assert not list(tmp_path.iterdir())


def test_what_mutants_add_for_a_manager_is_offered_to_a_coworker() -> None:
    agent = adapter("managed", agent="Manager")
    decoy = ToolSpec(name="find", description="Find.", fault=ToolFault(kind=FaultKind.DECOY))
    assert run(changed(agent, tools=(decoy,))).output == "Told: Hello from the clerk."


def test_what_crewai_makes_of_tools_is_said_of_mutants_that_would_not_show() -> None:
    agent = adapter("offering")
    [tool] = agent.get_tools()
    assert tool.parameters["required"] == ["order_id", "fast"]
    optional = Edit(pointer="/tools/0/parameters/required", before=["order_id", "fast"], after=["order_id"])
    assert "every parameter is required" in agent.cannot_express(_mutant(optional))
    renamed = Edit(pointer="/tools/0/name", before="look_up_order", after="lookUpOrder")
    assert "as look_up_order" in agent.cannot_express(_mutant(renamed))


def _mutant(edit: Edit) -> Mutant:
    return Mutant(
        id="x",
        operator="tool.test",
        version=1,
        operator_class=OperatorClass.TOOL,
        intent=Intent.DEGRADE,
        reach=Reach.SENT,
        description="a change",
        edits=(edit,),
    )


def test_a_limit_of_tokens_keeps_its_name() -> None:
    from agentmut.adapters._shared.change import Change
    from agentmut.adapters.crewai.crew import Team
    from tests.frameworks.crewai_odd_agents import limited

    found = adapter("limited").get_config()
    assert (found.model.name, found.model.max_tokens) == ("gpt-5.2", 800)
    wanted = found.model_copy(
        update={"model": found.model.model_copy(update={"max_tokens": 64, "name": "o1"})}
    )
    crew = limited()
    llm = Team.from_crew(crew).changed(Change(found, wanted), found.prompt).changed_agent.llm
    assert (llm.model, llm.max_completion_tokens, llm.max_tokens, llm.is_o1_model) == ("o1", 64, None, True)
    assert (crew.agents[0].llm.model, crew.agents[0].llm.max_completion_tokens) == ("gpt-5.2", 800)


# What cannot be run.


@pytest.mark.parametrize(
    "factory, options, said",
    [
        ("no_crew", {}, "returned a crewai.agent.core.Agent; expected a crewai.Crew"),
        ("broken", {}, "raised RuntimeError: no database"),
        ("without_placeholder", {}, r"no task of the crew has the placeholder \{input\}"),
        ("echoing", {"input": "question"}, r"the placeholder \{question\}"),
        ("without_shop", {}, r"placeholders that have no value: \{shop\}\. .*agent\.options\.inputs"),
        ("echoing", {"inputs": ["tea"]}, r"agent\.options\.inputs: expected values by the name"),
        ("asking_a_person", {}, "the 'reply' task has human_input=True"),
        ("stranger", {}, "'Clerk' of the 'reply' task is not among the agents of the crew"),
        ("twins", {}, "two agents have the role 'Clerk'"),
        ("uncopyable", {}, "TypeError: there is only one.*route: wire"),
        ("echoing", {"agent": "Klerk"}, "no agent with the role 'Klerk'.*Clerk"),
        ("echoing", {"role": "Clerk"}, "agent.options: unknown key 'role'"),
    ],
)
def test_what_cannot_be_run_is_told(factory: str, options: dict[str, JsonValue], said: str) -> None:
    with pytest.raises(AgentmutError, match=said):
        adapter(factory, None, **options)
