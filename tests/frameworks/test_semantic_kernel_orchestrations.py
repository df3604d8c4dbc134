"""Orchestrations of Semantic Kernel, with a script in the place of the model."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentmut._base.errors import AdapterError
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.messages import Role
from agentmut.nouns.mutant import Edit
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.recording.current import running
from agentmut.recording.trial import Trial, altered_tools
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs

pytest.importorskip("semantic_kernel", reason="semantic-kernel is not installed")
AGENTS = "tests.frameworks.semantic_kernel_agents"
ODD = "tests.frameworks.semantic_kernel_odd_agents"
ORDER = '{"order_id": "A-1"}'


def adapter(factory: str) -> Any:
    kind: Any = load(Group.ADAPTERS, "semantic_kernel")
    return kind.create(AgentSpec(adapter="semantic_kernel", factory=factory), AgentConfig())


@pytest.fixture
def orchestrated(service: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AgentTrace]:
    """Runs an orchestration, with some changes, against the scripted service."""
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def ran(factory: str, *turns: str, **parts: Any) -> AgentTrace:
        agent = adapter(factory)
        changed = agent.with_config(agent.get_config().model_copy(update=parts))

        async def once() -> AgentTrace:
            trial = Trial("one", tools=altered_tools(changed.get_config()))
            with running(trial), Tap(all_codecs()).installed():
                found: AgentTrace = await changed.run(turns or ("Where is A-1?",), trial)
                return found

        return asyncio.run(once())

    return ran


def test_a_hand_off_may_lead_elsewhere(orchestrated: Any, service: Any, calls: Any) -> None:
    transfer, looked = ("Handoff-transfer_to_billing", "{}"), ("Orders-look_up_order", ORDER)
    handoffs = {"triage": {"Handoff-transfer_to_billing": "stock"}}
    service.replies(calls(transfer), calls(looked), "It has arrived.")
    trace = orchestrated(f"{AGENTS}:swarm", orchestration={"max_steps": 5, "handoffs": handoffs})
    assert [(step.tool, step.node) for step in trace.tool_calls] == [
        ("Handoff-transfer_to_billing", "triage"),
        ("Orders-look_up_order", "stock"),
    ]
    assert trace.output == "It has arrived."
    assert trace.edges == (("__start__", "triage"), ("triage", "stock"), ("stock", "__end__"))
    told = [one.name for one in service.requests[0].tools]
    assert told == ["Handoff-transfer_to_billing", "Handoff-complete_task"]


def test_hand_offs_that_trade_places_do_so_whenever_the_agent_is_asked(
    orchestrated: Any, service: Any, calls: Any
) -> None:
    to = "Handoff-transfer_to_"
    flow = adapter(f"{ODD}:back_and_forth").get_config().orchestration
    traded = {"clerk-clerk": "clerk", f"{to}billing": "stock", f"{to}stock": "billing"}
    asked, back = calls((f"{to}billing", "{}")), calls((f"{to}triage", "{}"))
    service.replies(asked, back, asked, "None left.")
    handoffs = {**flow["handoffs"], "triage": traded}
    trace = orchestrated(f"{ODD}:back_and_forth", orchestration={**flow, "handoffs": handoffs})
    assert [step.node for step in trace.steps if step.action is Action.REASON] == ["triage", "stock"] * 2


def test_hand_offs_lead_to_no_agent_that_is_only_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    agent, place = (
        adapter(f"{ODD}:back_and_forth"),
        "/orchestration/handoffs/triage/Handoff-transfer_to_stock",
    )
    edits = [Edit(pointer=place, before="stock", after=after) for after in ("clerk", "billing", None)]
    assert [agent.cannot_change(edit) for edit in edits] == [
        "Handoff-transfer_to_stock hands over to members of the orchestration, and 'clerk' is none of them",
        "",
        "",
    ]


def test_a_renamed_tool_is_called_in_an_orchestration(orchestrated: Any, service: Any, calls: Any) -> None:
    """Semantic Kernel gives its copies of functions the names of their plugins, also where they have none."""
    found = adapter(f"{AGENTS}:swarm").get_config()
    tools = tuple(
        tool.model_copy(update={"name": "find", "implemented_by": tool.name})
        for tool in found.tools
        if tool.name == "Orders-look_up_order"
    )
    service.replies(
        calls(("Handoff-transfer_to_stock", "{}")), calls(("find", ORDER), ("gone", "{}")), "Ok.", "Ok."
    )
    trace = orchestrated(f"{AGENTS}:swarm", tools=tools)
    steps = {step.tool: (step.output, bool(step.error)) for step in trace.tool_calls}
    assert steps["Orders-look_up_order"] == ("A-1 was delivered on Monday.", False)
    assert steps["gone"] == (None, True)


def test_refused_calls_are_told_apart_though_a_service_gives_their_ids_again(
    orchestrated: Any, service: Any, calls: Any
) -> None:
    looked, gone = ("Orders-look_up_order", ORDER), ("gone", "{}")
    service.replies(*map(calls, (looked, gone, looked, gone)), "Found.", "Dear customer.")
    steps = orchestrated(f"{AGENTS}:line").tool_calls
    assert [(step.tool, bool(step.error)) for step in steps] == [(looked[0], False), ("gone", True)] * 2


def test_what_a_task_is_completed_with_is_the_answer(orchestrated: Any, service: Any, calls: Any) -> None:
    service.replies(calls(("Handoff-complete_task", '{"task_summary": "All is well."}')))
    assert orchestrated(f"{AGENTS}:swarm").output == "Task is completed with summary: All is well."


def test_an_agent_of_a_sequence_can_be_left_out(orchestrated: Any, service: Any) -> None:
    service.replies("Found.", "Dear customer.", "Found again.")
    factory = f"{AGENTS}:line"
    whole = orchestrated(factory)
    assert (whole.output, len(service.requests)) == ("Dear customer.", 2)
    assert whole.edges == (("__start__", "finder"), ("finder", "writer"), ("writer", "__end__"))
    assert {step.node for step in whole.steps if step.action is Action.REASON} == {"finder", "writer"}
    assert orchestrated(factory, orchestration={"nodes": ["finder"]}).output == "Found again."
    assert len(service.requests) == 3


def test_an_orchestration_is_told_the_turns_before_and_nothing_of_other_runs(
    orchestrated: Any, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.frameworks import semantic_kernel_odd_agents as odd

    monkeypatch.setattr(odd, "GROUP", odd.group(), raising=False)
    for _ in range(2):  # its manager counts rounds
        trace = orchestrated(f"{ODD}:GROUP", "Hi.", "And?", prompt="You say a.")
        assert len([step for step in trace.steps if step.action is Action.REASON]) == 4
    told = [(message.role, message.text) for message in service.requests[-2].messages]
    assert told == [
        (Role.SYSTEM, "You say a."),
        (Role.USER, "Hi."),
        (Role.ASSISTANT, "Hello."),
        (Role.USER, "And?"),
    ]
    trace = orchestrated(f"{ODD}:both")
    assert trace.output == "Hello.\n\nHello."
    assert set(trace.edges) == {(a, b) for name in "ab" for a, b in (("__start__", name), (name, "__end__"))}


def test_an_orchestration_that_keeps_its_parts_elsewhere_is_refused_by_its_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agentmut.adapters.semantic_kernel.orchestration import members_of
    from tests.frameworks.semantic_kernel_odd_agents import both

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    whole = both()
    del whole._members
    with pytest.raises(AdapterError, match=r"semantic-kernel 1\.\d.* does not keep _members .*route: wire"):
        members_of(whole)


def test_errors_of_orchestrations_are_told(orchestrated: Any, service: Any) -> None:
    with pytest.raises(RuntimeError, match="ended without a result"):
        orchestrated(f"{ODD}:untransformed")
    service.replies(404)
    with pytest.raises(Exception, match="failed to complete the prompt"):
        orchestrated(f"{AGENTS}:line")


def test_an_orchestration_that_cannot_begin_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    agent = adapter(f"{ODD}:vague")

    async def once() -> str:
        with pytest.raises(TypeError, match="type parameters"), running(Trial("one")) as trial:
            await agent.run(("Hi.",), trial)
        return str(asyncio.all_tasks())

    assert "in_process_runtime" not in asyncio.run(once())
