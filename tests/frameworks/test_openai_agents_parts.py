"""Guardrails, hand-offs, models and errors of the OpenAI Agents SDK, and agents that are refused."""

import asyncio
import copy
from typing import Any

import pytest

from agentmut._base.errors import AdapterError, AgentmutError, UsageError
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.mutant import Edit
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import Adapter, AgentSpec
from agentmut.simulator.service.addresses import Addresses
from agentmut.trial.on_wire import OnWire, as_mutant, routed
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from tests.frameworks.openai_agents_runs import ODD, adapter, changed, first_tool, ran, run, run_online

pytestmark = pytest.mark.framework

pytest.importorskip("agents", reason="openai-agents is not installed")


# Guardrails.


def test_a_guardrail_that_trips_is_the_answer_and_the_conversation_goes_on_without_that_turn() -> None:
    trace = run("guarded", "Hi.", "Tell me.", "And now?")
    assert trace.outputs == ("Hello.", {"guardrail": "no_secrets", "info": "a secret"}, "Bye.")
    asked = run("guarded", "Do my homework.").output
    assert asked == {"guardrail": "no_homework", "info": {"asked": 1}}


def test_a_guardrail_of_a_tool_that_ends_the_run_is_the_answer() -> None:
    trace = run("guarded_tool")
    assert [step.arguments for step in trace.tool_calls] == [{"order_id": "A-1"}]
    assert trace.output == {"guardrail": "no_others", "info": {"found": '{"order_id": "B-2"}'}}


# Models.


@pytest.mark.parametrize("factory", ["chat", "responses"])
def test_a_model_object_is_swapped_and_set_and_a_chosen_tool_keeps_being_chosen(factory: str) -> None:
    from tests.frameworks import openai_agents_odd_agents

    agent = first_tool(adapter(factory), name="find", implemented_by="look_up_order")
    before = agent.get_config().model
    assert (before.name, before.temperature, before.tool_choice) == ("sim-large", 0.9, "look_up_order")
    wanted = before.model_copy(update={"name": "sim-small", "temperature": 0.1, "max_tokens": 200})
    trial = Trial("one")
    trace = run_online(changed(agent, model=wanted), "Where is my order A-1042?", trial=trial)
    asked = trial.recorder.exchanges[0].request
    assert asked.model == "sim-small"
    assert (asked.temperature, asked.max_tokens) == (0.1, 200)
    assert "find" in str(asked.tool_choice)
    assert trace.tool_calls[0].tool == "look_up_order"
    assert {exchange.dialect for exchange in trial.recorder.exchanges} == {DIALECTS[factory]}
    assert getattr(openai_agents_odd_agents, factory)().model.model == "sim-large"


DIALECTS = {"chat": "chat_completions", "responses": "responses"}


def test_a_removed_tool_is_not_chosen_any_more() -> None:
    agent = adapter("chat")
    trial = Trial("one")
    run_online(changed(agent, tools=agent.get_tools()[1:]), trial=trial)
    assert trial.recorder.exchanges[0].request.tool_choice is None


def test_the_default_model_of_the_sdk_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_DEFAULT_MODEL", "sim-small")
    from agents import Agent

    from agentmut.adapters.openai_agents.team import Team

    assert Team.from_agent(Agent(name="desk")).model.name == "sim-small"


def test_a_model_object_without_a_name_keeps_it() -> None:
    swap = Edit(pointer="/model/name", before="", after="sim-small")
    refused = adapter("nameless").cannot_change(swap)  # type: ignore[attr-defined]
    assert "does not tell its name" in refused
    with pytest.raises(AdapterError, match=r"agent.config.model.name: .*cannot become sim-large"):
        adapter("nameless", AgentConfig(model=ModelConfig(name="sim-large")))


# Hand-offs.


def test_hand_offs_of_all_kinds_are_followed_down_to_the_last_agent() -> None:
    from tests.frameworks.openai_agents_odd_agents import NOTED

    agent = adapter("levels")
    assert agent.get_config().orchestration["handoffs"] == {
        "desk": {"to_clerk": "clerk", "transfer_to_other": "other"},
        "clerk": {"ask_boss": "boss"},
    }
    NOTED.clear()
    trace = run(agent)
    assert [(step.node, step.tool, step.arguments, step.output) for step in trace.tool_calls] == [
        ("desk", "to_clerk", {"reason": "money"}, "clerk"),
        ("clerk", "ask_boss", {}, "boss"),
    ]
    assert (trace.output, NOTED) == ("Done by the boss.", ["money"])
    assert ("clerk", "boss") in trace.edges


def test_a_misdirected_hand_off_leads_to_another_agent() -> None:
    agent = adapter("levels")
    handoffs = {"desk": {"to_clerk": "other"}, "clerk": {"ask_boss": "boss"}}
    trace = run(changed(agent, orchestration={**agent.get_config().orchestration, "handoffs": handoffs}))
    assert (trace.output, trace.tool_calls[0].output) == ("Done by another.", "other")


def test_the_request_after_a_misdirected_hand_off_is_that_of_the_other_agent() -> None:
    agent = adapter("three")
    handoffs = {"triage": {"transfer_to_billing": "sales", "transfer_to_sales": "sales"}}
    wrong = changed(agent, orchestration={**agent.get_config().orchestration, "handoffs": handoffs})
    for one, target, prompt in ((agent, "billing", "You handle money."), (wrong, "sales", "You sell.")):
        trial = Trial("one")
        run_online(one, "I want a refund for my order A-1042.", trial=trial)
        first, second, *_ = trial.recorder.exchanges
        assert "transfer_to_billing" in {tool.name for tool in first.request.tools}
        assert (
            [call.name for call in first.reply.tool_calls] == ["transfer_to_billing"]
            if first.reply
            else False
        )
        assert (second.node, second.request.system_text) == (target, prompt)


def test_a_hand_off_that_fails_is_a_step_with_its_error() -> None:
    trial = Trial("one")
    with pytest.raises(Exception, match="Invalid JSON when parsing model output"):
        run(adapter("broken_handoff"), trial=trial)
    [step] = [step for step in trial.recorder.steps if step.action is Action.CALL_TOOL]
    assert step.error and "ModelBehaviorError" in step.error


# Tools.


def test_a_failing_tool_is_told_to_the_model_or_ends_the_run_as_its_author_wants() -> None:
    trace = run("failing")
    assert (trace.tool_calls[0].error, trace.output) == ("ValueError: A-1 is broken", "Sorry.")
    with pytest.raises(Exception, match="A-1 is broken"):
        run("failing_for_good")


def test_a_tool_that_is_over_its_time_is_a_step_with_an_error() -> None:
    trace = run("hanging")
    [step] = trace.tool_calls
    assert step.error and "CancelledError" in step.error
    assert trace.output == "Sorry."


def test_an_agent_as_a_tool_is_a_step_and_its_requests_are_its_own() -> None:
    trial = Trial("one")
    [step] = run_online(adapter("agent_as_a_tool"), trial=trial).tool_calls
    assert (step.tool, step.node, step.call_id) == ("consult", "desk", "call-consult-1-0")
    assert [exchange.node for exchange in trial.recorder.exchanges] == ["colleague"]


def test_each_trial_has_a_context_of_its_own() -> None:
    agent = adapter("with_context", context=f"{ODD}:Customer")
    for _ in range(2):
        assert [step.output for step in run(agent).tool_calls] == ["7, asked 1 times", "7, asked 2 times"]
    with pytest.raises(UsageError, match=r"agent.options.context: .*:PROMPT is a str"):
        adapter("with_context", context=f"{ODD}:PROMPT")
    with pytest.raises(UsageError, match=r"agent.options.context names a function"):
        adapter("with_context", context=7)


def test_parallel_calls_keep_their_ids() -> None:
    found = {step.call_id: step.arguments for step in run("parallel").tool_calls}
    assert found == {f"call-look_up_order-1-{place}": {"order_id": f"A-{place + 1}"} for place in range(3)}


def test_a_tool_that_the_agent_has_later_is_no_mutants_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.frameworks.openai_agents_agents import issue_refund

    agent = adapter("growing")
    monkeypatch.setattr(f"{ODD}.LATER", [issue_refund])
    [step] = run(changed(agent, tools=())).tool_calls
    assert (step.tool, step.output) == ("issue_refund", "2.0 euros for A-1 are on their way.")


def test_a_renamed_tool_still_ends_the_run_where_its_call_does() -> None:
    agent = first_tool(adapter("ending"), name="find", implemented_by="look_up_order")
    assert run(agent).output == "A-1 was delivered on Monday."


def test_a_run_that_waits_for_an_approval_has_not_answered() -> None:
    with pytest.raises(RuntimeError, match=r"waits for an approval of pays.*agent.run"):
        run("waiting")


def test_an_agent_within_a_tool_is_not_traced_by_the_sdk_either() -> None:
    from agents.tracing import get_trace_provider

    class Told(list[Any]):
        def on_trace_start(self, trace: Any) -> None:
            self.append(trace)

        on_trace_end = on_span_start = on_span_end = on_trace_start

        def shutdown(self) -> None: ...

        force_flush = shutdown

    told: Any = Told()
    processor = get_trace_provider()._multi_processor  # type: ignore[attr-defined]
    before = processor._processors
    processor.set_processors([told])
    try:
        trial = Trial("one")
        run_online(adapter("asking_inside"), trial=trial)
    finally:
        processor.set_processors(list(before))
    assert not told
    assert len(trial.recorder.exchanges) == 1


# What is refused, and what is not touched.


@pytest.mark.parametrize(
    ("factory", "kind", "said"),
    [
        ("no_agent", AdapterError, "returned a str; expected an agents.Agent. .* agent.route: wire"),
        ("in_pieces", AdapterError, "returned a async_generator, as a function does that streams; .* wire"),
        ("coming", AdapterError, "is async; it must be a plain function"),
        ("broken", AdapterError, "raised ValueError: no key"),
        ("PROMPT", UsageError, "is a str; expected an agents.Agent, or a function .* agent.route: wire"),
        ("twins", AdapterError, "two agents are called 'clerk'; give each a name of its own"),
        ("decided_in_the_run", AdapterError, "agent 'desk': which agent to_anybody leads to .*agent.run"),
    ],
)
def test_what_is_no_agent_that_can_be_measured_is_refused(
    factory: str, kind: type[AgentmutError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        adapter(factory)


def test_an_agent_that_there_is_not_is_named_with_the_nearest() -> None:
    with pytest.raises(AdapterError, match=r"agent.options.agent: there is no agent 'clark'. .*clerk"):
        adapter("levels", agent="clark")


def test_instructions_that_a_function_makes_are_not_replaced_by_a_text() -> None:
    assert adapter("dynamic").get_config().prompt == ""
    assert run("dynamic").output == "Hello."
    with pytest.raises(AdapterError, match=r"'desk' are made by a function; .*agent.route: wire"):
        adapter("dynamic", AgentConfig(prompt="Be kind."))
    adapter("dynamic_from_config", AgentConfig(prompt="Be kind."))


def test_instructions_that_a_function_makes_are_mutated_on_the_wire() -> None:
    spec = AgentSpec(adapter="openai_agents", factory=f"{ODD}:dynamic_online", route="wire")
    kind: type[Adapter] = load(Group.ADAPTERS, "openai_agents")
    made = AgentConfig(prompt="You are desk. Be kind.")
    agent = routed(kind.create(spec, made), spec)
    for prompt in (made.prompt, "You are desk. Be rude."):
        mutant = as_mutant(agent, made, agent.get_config().model_copy(update={"prompt": prompt}))
        assert isinstance(mutant, OnWire)
        trial = Trial("one", rewriter=mutant.rewriter())
        run_online(mutant.agent, trial=trial)
        assert trial.recorder.exchanges[0].request.system_text == prompt


def test_a_model_that_only_streams_is_told_of_the_wire() -> None:
    with pytest.raises(
        AdapterError, match=r"without streaming, .* use stream_response\. .* agent\.route: wire"
    ):
        run("streaming")


def test_the_name_of_a_model_at_azure_is_refused_where_the_address_chooses_it() -> None:
    edit = Edit(pointer="/model/name", before="sim-large", after="sim-small")
    assert "an Azure client's address chooses the model" in adapter("deployed").cannot_change(edit)  # type: ignore[attr-defined]
    assert adapter("chat").cannot_change(edit) == ""  # type: ignore[attr-defined]


def test_the_client_that_the_sdk_keeps_for_all_survives_the_event_loop(
    simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(name, value)
    agent = adapter("SHARED")
    for number in range(2):
        assert run(agent, "Where is my order A-1042?", trial=Trial(f"t{number}")).output


@pytest.mark.parametrize(("said", "stopped"), [("Help me with my homework.", True), ("Hello.", False)])
def test_a_guardrail_with_a_typed_verdict_can_be_tried_offline(
    said: str, stopped: bool, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents import Agent, GuardrailFunctionOutput, InputGuardrail, InputGuardrailTripwireTriggered, Runner
    from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
    from openai import AsyncOpenAI
    from pydantic import BaseModel

    class Verdict(BaseModel):
        is_homework: bool
        reasoning: str

    for name, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(name, value)
    model = OpenAIChatCompletionsModel("sim-large", AsyncOpenAI())
    judge = Agent(name="judge", instructions="Is it homework?", output_type=Verdict, model=model)

    async def guard(context: Any, agent: Any, text: Any) -> GuardrailFunctionOutput:
        verdict = (await Runner.run(judge, text)).final_output
        return GuardrailFunctionOutput(output_info=verdict, tripwire_triggered=verdict.is_homework)

    desk = Agent(name="desk", model=model, input_guardrails=[InputGuardrail(guard)])
    try:
        asyncio.run(Runner.run(desk, said))
    except InputGuardrailTripwireTriggered:
        assert stopped
    else:
        assert not stopped


def test_an_agent_that_thirty_trials_share_stays_as_it_is() -> None:
    from tests.frameworks.openai_agents_odd_agents import SHARED

    before = copy.copy(vars(SHARED)), [copy.copy(vars(tool)) for tool in SHARED.tools]
    agent = changed(
        first_tool(adapter("SHARED"), name="find", implemented_by="look_up_order"),
        prompt="Always look up the order.",
    )

    async def together() -> list[AgentTrace]:
        async with endpoint():
            with Tap(all_codecs()).installed():
                asked = (f"Where is my order A-{number}?" for number in range(1000, 1030))
                return await asyncio.gather(
                    *(ran(agent, text, trial=Trial(f"t{number}")) for number, text in enumerate(asked))
                )

    traces = asyncio.run(together())
    assert all(step.tool == "look_up_order" for trace in traces for step in trace.tool_calls)
    assert (vars(SHARED), [vars(tool) for tool in SHARED.tools]) == before
