"""AutoGen's AgentChat, with the simulator behind it, or a script where it must not vary."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig, History
from agentmut.nouns.messages import Role
from agentmut.nouns.mutant import Edit
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.recording.current import running
from agentmut.recording.threads import TrialThreads
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.conftest import Service
from tests.frameworks.kit import Case, check, two_tools

pytestmark = pytest.mark.framework

pytest.importorskip("autogen_agentchat", reason="autogen-agentchat is not installed")
AGENTS = "tests.frameworks.autogen_agents"
ODD = "tests.frameworks.autogen_odd_agents"
EXAMPLE = Path(__file__).parents[2] / "examples" / "autogen"
CASES = (
    two_tools("autogen", f"{AGENTS}:desk"),
    Case(
        "autogen",
        "hand-off",
        f"{AGENTS}:team",
        ["I want a refund for my order A-1042."],
        ["look_up_order"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def adapter(factory: str, **options: JsonValue) -> Adapter:
    kind: type[Adapter] = load(Group.ADAPTERS, "autogen")
    return kind.create(
        AgentSpec(adapter="autogen", factory=f"{ODD}:{factory}", options=options), AgentConfig()
    )


async def ran(agent: Adapter, *turns: JsonValue, trial: Trial | None = None) -> AgentTrace:
    asyncio.get_running_loop().set_default_executor(TrialThreads())
    with running(trial or Trial("one")) as one:
        return await agent.run(turns or ("Hello.",), one)


def run(factory: str, *turns: JsonValue) -> AgentTrace:
    return asyncio.run(ran(adapter(factory), *turns))


def run_online(factory: str, *turns: JsonValue, trial: Trial | None = None, **parts: Any) -> AgentTrace:
    async def online() -> AgentTrace:
        async with endpoint():
            with Tap(all_codecs()).installed():
                return await ran(changed(adapter(factory), **parts), *turns, trial=trial)

    return asyncio.run(online())


def changed(agent: Adapter, **parts: Any) -> Adapter:
    return agent.with_config(agent.get_config().model_copy(update=parts))


# Answers, and what is none.


def test_results_of_tools_are_the_answer_of_an_agent_that_does_not_go_on() -> None:
    trace = run("summarising")
    assert trace.output == "A-1 was delivered on Monday."
    [step] = trace.tool_calls
    assert (step.tool, step.node, step.output) == ("look_up_order", "desk", trace.output)


def test_an_agent_that_its_limit_stops_after_calls_of_tools_has_not_answered() -> None:
    with pytest.raises(RuntimeError, match="desk was stopped after calls of tools"):
        run("never_done")


def test_a_team_that_its_limit_stops_at_a_hand_off_has_not_answered() -> None:
    with pytest.raises(
        RuntimeError, match="handed over to billing, who was not asked: Maximum number of turns 1"
    ):
        run("stopped_swarm")


def test_a_team_that_stops_before_anybody_speaks_has_not_answered() -> None:
    with pytest.raises(RuntimeError, match="nobody answered: Maximum number of messages 1"):
        run("silent_team")


def test_a_swarm_hands_over_to_the_user_and_is_handed_back() -> None:
    trace = run("swarm_with_user", "I need help.", "With tea.")
    assert trace.outputs[1] == "Thank you."
    assert [step.tool for step in trace.tool_calls] == ["transfer_to_user"]


def test_calls_that_come_to_no_tool_are_steps_with_an_error() -> None:
    calls = run("confused").tool_calls
    assert [step.tool for step in calls] == ["no_such_tool", "look_up_order", "look_up_order"]
    assert all(step.error for step in calls)


def test_a_tool_that_a_workbench_has_later_is_no_mutants_affair() -> None:
    agent = adapter("growing")
    assert [tool.name for tool in agent.get_tools()] == ["look_up_order"]
    steps = asyncio.run(ran(changed(agent, tools=()))).tool_calls
    assert [(step.tool, bool(step.error)) for step in steps] == [
        ("look_up_order", True),
        ("issue_refund", False),
    ]


def test_calls_are_told_apart_though_a_service_gives_their_ids_again(
    service: Service, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    order, other = ("look_up_order", '{"order_id": "A-1"}'), ("no_such_tool", '{"order_id": "A-1"}')
    service.replies(calls(order), calls(other), calls(("look_up_order", "{")), calls(order), "Sorry.")
    kind: type[Adapter] = load(Group.ADAPTERS, "autogen")
    spec = AgentSpec(adapter="autogen", factory=f"{AGENTS}:desk")
    steps = asyncio.run(ran(kind.create(spec, AgentConfig()))).tool_calls
    assert [(step.tool, step.arguments, bool(step.error)) for step in steps] == [
        ("look_up_order", {"order_id": "A-1"}, False),
        ("no_such_tool", {"order_id": "A-1"}, True),
        ("look_up_order", {}, True),
        ("look_up_order", {"order_id": "A-1"}, False),
    ]
    assert {step.call_id for step in steps} == {"call_0"}


def test_calls_of_agents_at_once_are_told_apart_though_their_ids_are_the_same() -> None:
    steps = run("side_by_side").tool_calls
    assert {(step.node, str(step.arguments)) for step in steps} == {
        ("left", "{'side': 'left'}"),
        ("right", "{'side': 'right'}"),
    }


def test_an_error_within_a_team_is_the_error_itself() -> None:
    with pytest.raises(Exception, match="no-such-model") as raised:
        run_online("lost")
    assert type(raised.value).__name__ == "NotFoundError"


# Who did what.


def test_members_of_teams_within_teams_are_nodes() -> None:
    trial = Trial("rounds")
    trace = asyncio.run(ran(adapter("rounds"), trial=trial))
    assert trial.recorder.nodes == {"writer", "critic", "press", "printer"}
    assert trace.edges == (
        ("__start__", "writer"),
        ("writer", "critic"),
        ("critic", "printer"),
        ("printer", "__end__"),
    )


def test_a_member_can_be_taken_out_of_a_team() -> None:
    agent = adapter("rounds")
    assert agent.get_config().orchestration == {"max_steps": 3, "nodes": ["writer", "critic", "press"]}
    without = changed(agent, orchestration={"max_steps": 2, "nodes": ["writer", "press"]})
    assert [edge[1] for edge in asyncio.run(ran(without)).edges] == ["writer", "printer", "__end__"]


def test_a_hand_off_can_lead_elsewhere() -> None:
    agent = adapter("three")
    assert asyncio.run(ran(agent)).output == "Paid."
    elsewhere = changed(agent, orchestration={"handoffs": {"desk": {"transfer_to_billing": "sales"}}})
    trace = asyncio.run(ran(elsewhere))
    assert (trace.output, trace.edges[1]) == ("Sold.", ("desk", "sales"))
    assert "Transferred to sales" in str(trace.tool_calls[0].output)


def test_a_model_may_select_who_speaks() -> None:
    assert run("selected").output == "Good."


def test_model_requests_belong_to_the_agents_that_make_them() -> None:
    trace = run_online("streaming", "Where is my order A-1042?")
    asked = [step for step in trace.steps if step.action is Action.REASON]
    assert len(asked) > 1
    assert {step.node for step in trace.steps if step.action is not Action.RESPOND} == {"desk"}


def test_a_model_that_a_blocking_tool_asks_is_part_of_the_trial() -> None:
    trace = run_online("asking_inside")
    assert [step.action for step in trace.steps].count(Action.REASON) == 1


def test_clients_are_closed_unless_they_are_for_all_trials() -> None:
    from tests.frameworks.autogen_odd_agents import CLOSED

    run("with_a_client_for_all")
    assert not CLOSED
    run("with_a_client_of_its_own")
    assert CLOSED == ["own"]


# Changes that AutoGen would lose silently.


def test_a_tool_that_is_a_closure_is_still_that_closure() -> None:
    agent = adapter("counting")
    asyncio.run(ran(changed(agent, prompt="Be brief.")))
    assert asyncio.run(ran(agent)).output == "1"


def test_overrides_of_a_workbench_that_streams_are_lost_as_they_are_without_agentmut() -> None:
    [step] = run("overridden").tool_calls
    assert (step.tool, step.error) == ("find", "ToolError: Tool find not found.")


def test_a_renamed_tool_is_found() -> None:
    [tool] = adapter("summarising").get_config().tools
    renamed = tool.model_copy(update={"name": "count", "implemented_by": "look_up_order"})
    agent = changed(adapter("renamed_call"), tools=(renamed,))
    [step] = asyncio.run(ran(agent, trial=Trial("renamed", tools={"count": renamed}))).tool_calls
    assert (step.tool, step.output) == ("look_up_order", "A-1 was delivered on Monday.")


def test_a_factory_that_takes_the_config_may_leave_tools_to_the_adapter() -> None:
    [tool] = adapter("summarising").get_config().tools
    other = tool.model_copy(update={"name": "fetch", "description": "Fetch.", "implemented_by": tool.name})
    trial = Trial("fetch", tools={"fetch": other})
    trace = run_online("from_config", "Where is my order A-1042?", trial=trial, tools=(other,))
    assert trace.tools_called == ("look_up_order",)
    assert [one.description for one in trial.recorder.exchanges[0].request.tools] == ["Fetch."]


def test_history_with_swapped_speakers_is_told_to_a_new_agent() -> None:
    trial = Trial("swapped")
    run_online("streaming", "Where is A-1?", "And A-2?", trial=trial, history=History.SWAPPED)
    told = next(e.request.messages for e in trial.recorder.exchanges if "A-2" in e.request.messages[-1].text)
    assert [(message.role, message.text) for message in told][1:2] == [(Role.ASSISTANT, "Where is A-1?")]
    assert [message.role for message in told[2:]] == [Role.USER, Role.USER]


def test_settings_of_other_clients_than_those_of_openai_are_left_to_the_wire() -> None:
    agent: Any = adapter("summarising")
    reason = agent.cannot_change(Edit(pointer="/model/name", before="a", after="b"))
    assert "ReplayChatCompletionClient" in reason
    assert "agent.route: wire" in reason
    built: Any = adapter("from_config")  # it says by itself how it asks
    assert built.cannot_change(Edit(pointer="/model/name", before="a", after="b")) == ""


# What is refused.


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("KEPT", "keeps what it was told from run to run; name a function"),
        ("the_same", "gives the same agent, model context or termination condition"),
        ("with_a_common_context", "gives the same agent, model context or termination condition"),
        ("with_a_common_end", "gives the same agent, model context or termination condition"),
        ("of_another_kind", "expected an AssistantAgent or a team .*route: wire"),
        ("without_model", "has no AssistantAgent .* route: wire"),
        ("unfamiliar", r"autogen-agentchat 0\.7\..* does not keep its workbench .* route: wire"),
        ("nameless", "model_info is required"),
        ("no_such_factory", "no_such_factory"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_way_out(factory: str, said: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(AgentmutError, match=said):
        adapter(factory)


def test_the_agent_that_is_changed_must_be_in_the_team() -> None:
    assert adapter("rounds", agent="critic").get_config().prompt.startswith("You are a helpful")
    with pytest.raises(AdapterError, match=r"no agent 'critics'.*critic"):
        adapter("rounds", agent="critics")
    with pytest.raises(UsageError, match=r"agent\.options: unknown key 'member'"):
        adapter("rounds", member="critic")


def test_a_model_that_chooses_speakers_names_who_fits_the_request(
    simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.conditions import MaxMessageTermination
    from autogen_agentchat.teams import SelectorGroupChat

    from tests.frameworks.autogen_agents import client

    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    described = {
        "planner": "Plans journeys.",
        "refunds": "Handles refunds of orders.",
        "press": "Talks to papers.",
    }
    members: Any = [AssistantAgent(name, client(), description=told) for name, told in described.items()]
    team = SelectorGroupChat(members, client(), termination_condition=MaxMessageTermination(4))
    result = asyncio.run(team.run(task="I want a refund for my order A-1042."))
    assert [message.source for message in result.messages][:2] == ["user", "refunds"]
    assert len({message.source for message in result.messages}) == 4


@pytest.mark.parametrize("structured", [True, False])
def test_an_orchestrator_with_a_ledger_asks_whom_it_concerns_and_tells_what_they_found(
    structured: bool, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.teams import MagenticOneGroupChat
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    from tests.frameworks.autogen_agents import UNKNOWN_TO_AUTOGEN, client, look_up_order

    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    desk = AssistantAgent(
        "desk", client(), description="Looks up orders.", tools=[look_up_order], max_tool_iterations=5,
        system_message="You help customers. Always look up the order before you answer.",
    )  # fmt: skip
    others = {"cook": "Cooks.", "rates": "Knows refunds."}
    members: Any = [desk, *(AssistantAgent(name, client(), description=of) for name, of in others.items())]
    told: Any = {**UNKNOWN_TO_AUTOGEN, "structured_output": structured}
    orchestrator = OpenAIChatCompletionClient(model="sim-large", model_info=told)
    result = asyncio.run(
        MagenticOneGroupChat(members, orchestrator, max_turns=8).run(
            task="Where is my order A-1042, and when do I get my refund?"
        )
    )
    speakers = [message.source for message in result.messages if type(message).__name__ == "TextMessage"]
    assert sorted(set(speakers)) == ["MagenticOneOrchestrator", "desk", "rates", "user"]
    assert "A-1042 was delivered on Monday" in str(result.messages[-1].to_text())
    assert result.stop_reason == "Everybody whom it concerns has answered."
