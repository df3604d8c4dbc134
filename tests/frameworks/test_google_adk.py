"""Google's Agent Development Kit, with the simulator behind it."""

import asyncio
import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentmut._base.errors import AdapterError, UsageError
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.trace import Action
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.frameworks.google_adk_runs import AGENTS, adapter, changed, run
from tests.frameworks.kit import Case, check

pytestmark = pytest.mark.framework

pytest.importorskip("google.adk", reason="google-adk is not installed")
EXAMPLE = Path(__file__).parents[2] / "examples" / "google_adk"
POLICY = AgentConfig(context=(Document(name="policy", text="Refunds take {five} days. Gifts are final."),))
MUTANT: dict[str, Any] = {
    "id": "m",
    "operator": "mine.edit",
    "version": 1,
    "operator_class": OperatorClass.ORCHESTRATION,
    "intent": Intent.DEGRADE,
    "reach": Reach.RAN,
    "description": "an edit",
}
CASES = (
    Case(
        "google_adk",
        "two tools",
        f"{AGENTS}:desk",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=POLICY,
        limit=3,
    ),
    Case(
        "google_adk",
        "hand-off",
        f"{AGENTS}:team",
        ["Please give me a refund for my order A-1042."],
        ["look_up_order"],
    ),
    Case("google_adk", "pipeline", f"{AGENTS}:pipeline", ["Where is my order A-1042?"], ["look_up_order"]),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


def test_async_requests_of_google_s_sdk_are_seen_though_it_would_send_them_by_aiohttp() -> None:
    import aiohttp
    from google import genai

    assert aiohttp  # which is why the SDK would not take httpx

    async def ask() -> tuple[int, bool]:
        async with endpoint():
            client: Any = genai.Client()
            with Tap(all_codecs()).installed(), running(Trial("one")) as trial:
                await client.aio.models.generate_content(model="sim-large", contents="Hello")
            return len(trial.recorder.exchanges), client._api_client._use_aiohttp()

    assert asyncio.run(ask()) == (1, True)


def test_a_client_that_cannot_be_made_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """google-genai closes it all the same, in a task that nobody awaits."""
    from google import genai

    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    adapter("desk")

    async def without_a_key() -> None:
        with pytest.raises(ValueError, match="No API key"):
            genai.Client()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(without_a_key())
    gc.collect()
    assert not caplog.records


def test_a_run_has_the_calls_agents_and_hand_offs_of_all() -> None:
    seen = run(adapter("team", module=AGENTS), "Please give me a refund for my order A-1042.")
    assert [step.tool for step in seen.trace.tool_calls] == ["transfer_to_agent", "look_up_order"]
    assert [step.node for step in seen.trace.tool_calls] == ["triage", "billing"]
    assert set(seen.trace.edges) == {("__start__", "triage"), ("triage", "billing"), ("billing", "__end__")}
    reasons = [step.node for step in seen.trace.steps if step.action is Action.REASON]
    assert reasons[0] == "triage" and set(reasons[1:]) == {"billing"}


def test_placeholders_of_an_instruction_are_filled_and_braces_of_documents_are_not() -> None:
    said = AgentConfig(context=(Document(name="policy", text='{"days": 5} for {customer}'),))
    seen = run(adapter("with_state", said, state={"customer": "Ada"}), "Hello")
    assert "You help Ada." in seen.system[0] and '{"days": 5} for {customer}' in seen.system[0]


def test_a_function_for_an_instruction_gives_way_to_the_project_s_prompt() -> None:
    agent = adapter("with_provider")
    assert agent.get_config().prompt == ""
    seen = run(adapter("with_provider", AgentConfig(prompt="You refuse everything.")), "Hello")
    assert "You refuse everything." in seen.system[0]


def test_a_factory_that_takes_the_config_builds_what_it_says() -> None:
    seen = run(changed(adapter("from_config"), prompt="You look up orders."), "Where is my order A-1042?")
    assert seen.trace.tools_called == ("look_up_order",)
    assert all(
        system.count("You look up orders.") == 1 and "You help." not in system for system in seen.system
    )


def test_a_model_of_a_name_is_made_once_and_can_be_another() -> None:
    agent = adapter("named")
    assert agent.get_config().model == ModelConfig(provider="google", name="gemini-2.5-flash")
    other = changed(
        agent, model=ModelConfig(provider="google", name="sim-small", temperature=1.5, stop=("END",))
    )
    assert other.models is agent.models
    request = run(other, "Where is my order A-1042?").trial.recorder.exchanges[0].request
    assert (request.model, request.temperature, request.stop) == ("sim-small", 1.5, ("END",))


def test_a_tool_that_an_agent_has_later_is_no_mutants_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.frameworks import google_adk_agents, google_adk_others

    without = changed(adapter("growing"), tools=())
    monkeypatch.setattr(google_adk_others, "LATER", [google_adk_agents.issue_refund])
    request = run(without, "Where is my order A-1042?").trial.recorder.exchanges[0].request
    assert [tool.name for tool in request.tools] == ["issue_refund"]


def test_an_agent_that_is_there_already_stays_as_it_is() -> None:
    from tests.frameworks import google_adk_others

    before = google_adk_others.OBJECT.model_dump(include={"instruction", "name", "generate_content_config"})
    agent = adapter("OBJECT")
    run(changed(agent, prompt="You refuse everything.", tools=()), "Where is my order A-1042?")
    assert google_adk_others.OBJECT.model_dump(include=set(before)) == before
    assert len(google_adk_others.OBJECT.tools) == 2


def test_tools_of_an_agent_that_is_called_as_a_tool_are_traced() -> None:
    agent = adapter("asking")
    assert agent.get_config().tool_names == ("order_desk", "look_up_order")
    seen = run(agent, "Where is my order A-1042?", doubles={"look_up_order": lambda **_: "It burnt."})
    inner = [step for step in seen.trace.tool_calls if step.tool == "look_up_order"]
    assert inner[0].output == "It burnt." and inner[0].node == "order_desk"


def test_calls_are_told_apart_though_a_service_gives_their_ids_again() -> None:
    asked = "Please give me a refund for my order A-1042."
    seen = run(changed(adapter("team", module=AGENTS), history=History.DROPPED), asked, asked)
    handed = [step for step in seen.trace.tool_calls if step.tool == "transfer_to_agent"]
    assert [step.turn for step in handed] == [0, 1] and len({step.call_id for step in handed}) == 1


def test_a_call_that_a_callback_answers_is_a_step() -> None:
    seen = run(adapter("answered_by_callback"), "Where is my order A-1042?")
    assert [step.output for step in seen.trace.tool_calls] == [{"result": "by callback"}]


def test_an_app_keeps_its_plugins() -> None:
    from tests.frameworks.google_adk_others import COUNTING

    seen = run(adapter("app"), "Where is my order A-1042?")
    assert COUNTING.calls == len(seen.trial.recorder.exchanges) == 2


def test_workflow_agents_are_a_flow_and_run_in_another_order() -> None:
    agent = adapter("branches")
    flow = agent.get_config().orchestration
    assert flow["nodes"] == ["one", "two", "last"]
    edges = [
        ["__start__", "one"],
        ["__start__", "two"],
        ["one", "two", "last"],
        ["last", "last"],
        ["last", "__end__"],
    ]
    assert flow["edges"] == edges
    assert len(run(agent, "Hello").trial.recorder.exchanges) == 4
    one_by_one = [
        ["__start__", "one"],
        ["one", "two"],
        ["two", "last"],
        ["last", "last"],
        ["last", "__end__"],
    ]
    seen = run(changed(agent, orchestration={**flow, "edges": one_by_one}), "Hello")
    assert {("one", "two"), ("two", "last")} < set(seen.trace.edges)
    seen = run(changed(agent, orchestration={**flow, "nodes": ["two", "last"]}), "Hello")
    assert "one" not in seen.trial.recorder.nodes
    once = [edge for edge in edges if edge != ["last", "last"]]
    seen = run(changed(agent, orchestration={**flow, "edges": once}), "Hello")
    assert len(seen.trial.recorder.exchanges) == 3


def test_two_agents_of_a_pipeline_trade_places() -> None:
    agent = adapter("pipeline", module=AGENTS)
    flow = agent.get_config().orchestration
    swapped = [["__start__", "writer"], ["writer", "finder"], ["finder", "__end__"]]
    other = changed(agent, orchestration={**flow, "edges": swapped, "state": {}})
    assert ("writer", "finder") in run(other, "Where is my order A-1042?").trace.edges


def test_an_order_that_no_workflow_agent_has_is_refused() -> None:
    agent = adapter("branches")
    edit = Edit(pointer="/orchestration/edges/2", before=["one", "two", "last"], after=["one", "last"])
    mutant = Mutant(**{**MUTANT, "edits": (edit,)})
    assert "no arrangement" in agent.cannot_express(mutant)


def test_graphs_are_run_with_other_edges_and_without_nodes() -> None:
    agent = adapter("graph")
    flow = agent.get_config().orchestration
    assert flow["nodes"] == ["one", "both", "two", "last", "polite"]
    assert ["one", "two", "both"] in flow["edges"] and ["polite", "__end__"] in flow["edges"]
    seen = run(agent, "Hello")
    assert set(seen.trace.edges) > {("__start__", "two"), ("one", "last"), ("two", "last")}
    assert str(seen.trace.output).startswith("Kindly: ")
    one_by_one = [["__start__", "one"], ["one", "two"], ["two", "last"], ["last", "__end__"]]
    seen = run(changed(agent, orchestration={**flow, "edges": one_by_one}), "Hello")
    assert {("one", "two"), ("two", "last")} < set(seen.trace.edges)
    assert not str(seen.trace.output).startswith("Kindly: ")
    seen = run(changed(agent, orchestration={**flow, "nodes": ["two", "both", "last"]}), "Hello")
    assert seen.trial.recorder.nodes == {"two", "last"}
    assert run(adapter("routed"), "Hello").trial.recorder.nodes == {"billing"}
    edit = Edit(pointer="/orchestration/edges/4", before=["last", "polite"], after=["last", "one"])
    looped = agent.cannot_express(Mutant(**{**MUTANT, "edits": (edit,)}))
    assert "ADK makes no graph of these edges" in looped


def test_agents_of_a_graph_in_a_graph_follow_those_around_it() -> None:
    agent = adapter("nested")
    assert agent.get_config().orchestration["nodes"] == ["polite", "inner", "last"]
    seen = run(changed(agent, prompt="You are kind."), "Hello")
    assert seen.trace.edges == (("__start__", "one"), ("one", "last"), ("last", "__end__"))
    assert seen.system[0].startswith("You are kind.") and seen.system[1].startswith("You are last.")


def test_calls_of_two_agents_with_one_id_are_both_steps() -> None:
    """Callbacks answer them; some services give ids that they have given before."""
    from google.adk.tools.function_tool import FunctionTool

    from agentmut.adapters.google_adk.run import Watch

    trial = Trial("one")
    watch = Watch(trial, {}, {})
    calls: list[dict[str, Any]] = [
        {"tool": FunctionTool(ascii), "tool_args": {}, "tool_context": SimpleNamespace(
            agent_name=name, function_call_id="call_0", actions=SimpleNamespace(transfer_to_agent=None)
        )}
        for name in ("one", "two")
    ]  # fmt: skip

    async def both() -> None:
        for call in calls:
            await watch.before_tool_callback(**call)
        for call in calls:
            await watch.after_tool_callback(**call, result={})

    asyncio.run(both())
    assert [step.node for step in trial.recorder.steps] == ["one", "two"]


def test_a_hand_off_leads_elsewhere() -> None:
    agent = adapter("of_three")
    flow = agent.get_config().orchestration
    assert flow["handoffs"] == {"triage": {"billing": "billing", "delivery": "delivery"}}
    elsewhere = {"triage": {"billing": "delivery", "delivery": "delivery"}}
    seen = run(changed(agent, orchestration={**flow, "handoffs": elsewhere}), "Please give me a refund.")
    assert ("triage", "delivery") in seen.trace.edges and "billing" not in seen.trial.recorder.nodes


def test_a_limit_of_model_calls_ends_a_run() -> None:
    agent = adapter("desk", module=AGENTS)
    with pytest.raises(Exception, match="Max number of llm calls limit of `1` exceeded"):
        run(changed(agent, orchestration={"max_steps": 1}), "Where is my order A-1042?")


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("functions", AdapterError, "Workflow without an LlmAgent.*adapter python with agent.run"),
        ("text", AdapterError, "returned a str; expected an agent of google.adk.agents"),
        ("raising", AdapterError, "raised ValueError: no key"),
        ("twins", AdapterError, "two agents are called 'desk'"),
        ("unknown_model", AdapterError, "the model of agent 'desk': Model no-such-model not found"),
        ("COUNTING", UsageError, "expected an agent of google.adk.agents, or an App, or a function"),
    ],
)
def test_what_is_no_agent_that_could_be_changed_is_refused(name: str, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        adapter(name)


def test_an_option_that_names_no_agent_is_refused() -> None:
    with pytest.raises(AdapterError, match=r"no LlmAgent 'biling'. Did you mean 'billing'"):
        adapter("team", module=AGENTS, agent="biling")
    assert adapter("team", module=AGENTS, agent="billing").get_config().prompt.startswith("You handle money.")


def test_settings_of_other_models_than_gemini_s_are_for_the_wire() -> None:
    agent = adapter("other_model")
    edit = Edit(pointer="/model/temperature", before=None, after=1.5)
    assert "agent.route: wire" in agent.cannot_express(Mutant(**{**MUTANT, "edits": (edit,)}))


def test_a_google_genai_that_decides_elsewhere_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentmut.wire.carriers.genai_hook.METHOD", "_chooses")
    with pytest.raises(AdapterError, match=r"google-genai .* chooses between httpx and aiohttp"):
        adapter("desk", module=AGENTS)
