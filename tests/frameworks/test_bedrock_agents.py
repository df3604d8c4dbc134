"""Agents of Bedrock, inline and deployed: boto3 reads their event streams."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import AdapterError
from agentmut.adapters.bedrock_agents import BedrockAgentsAdapter
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Status
from agentmut.nouns.tools import read_tool
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.usecases.campaigns import measure
from agentmut.wire.dialects import aws_event_stream
from tests.frameworks import bedrock_service as service
from tests.frameworks.bedrock_runs import (
    AGENTS,
    CASES,
    CONFIG,
    DEPLOYED,
    DESK,
    POLICY,
    call_of,
    deployed,
    ran,
)
from tests.frameworks.kit import Case, check
from tests.frameworks.order_tools import FUNCTIONS, PROMPT

pytestmark = pytest.mark.framework

pytest.importorskip("boto3", reason="boto3 is not installed")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case, loop_thread: Any) -> None:
    if case.name != "deployed":
        check(case)
        return
    keeper = service.Keeper(PROMPT, [read_tool(function) for function in FUNCTIONS])
    with service.served(loop_thread, keeper.answer):
        check(case)
    texts = {
        str(body["sessionState"].get("promptSessionAttributes"))
        for body in keeper.bodies
        if "sessionState" in body
    }
    assert len(texts) > 3  # documents, as they are and as mutants have them


@pytest.fixture
def at(loop_thread: Any) -> Any:
    """A service that follows a script, for a block."""
    return lambda script: service.served(loop_thread, script.answer)


def test_what_the_service_does_itself_is_in_the_trace(at: Callable[..., Any]) -> None:
    action = {
        "actionGroupName": "stock",
        "function": "count",
        "executionType": "LAMBDA",
        "parameters": [{"name": "limit", "type": "integer", "value": "3"}],
    }
    lookup = {"knowledgeBaseId": "KB1", "text": "gifts"}
    found = {"retrievedReferences": [{"content": {"text": "Gifts are final."}}]}
    partner = {"agentCollaboratorName": "billing", "input": {"text": "refund?", "type": "TEXT"}}
    stream = b"".join(
        (
            service.thought(5),
            service.told(invocationInput={"actionGroupInvocationInput": action}),
            service.told(observation={"actionGroupInvocationOutput": {"text": "three"}}),
            service.told(invocationInput={"agentCollaboratorInvocationInput": partner}),
            service.thought(7, of="billing"),
            service.told(invocationInput={"knowledgeBaseLookupInput": lookup}, of="billing"),
            service.told(observation={"knowledgeBaseLookupOutput": found}, of="billing"),
            service.thought(11),
            service.answer("All is w"),
            service.answer("ell."),
        )
    )
    trial = Trial("t1")
    with at(service.Script(stream)):
        trace = ran(deployed(), "Hello", trial=trial)
    assert trace.output == "All is well."
    assert [(s.action, s.node, s.tool) for s in trace.steps] == [
        ("reason", "model", None),
        ("call_tool", "model", "count"),
        ("reason", "billing", None),
        ("call_tool", "billing", "knowledge_base"),
        ("reason", "model", None),
        ("respond", None, None),
    ]
    assert [(s.arguments, s.output) for s in trace.tool_calls] == [
        ({"limit": 3}, "three"),
        (lookup, ["Gifts are final."]),
    ]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (23, 3)
    assert trace.edges == (("model", "billing"),)
    assert all(step.seconds > 0 for step in trace.steps if step.action == "reason")
    [exchange] = trial.recorder.exchanges
    assert exchange.reply and (exchange.reply.usage.total, exchange.reply.model) == (26, "claude")


PARTNER = {"agentCollaboratorInvocationInput": {"agentCollaboratorName": "billing"}}
COUNT = {"actionGroupInvocationInput": {"function": "count", "executionType": "LAMBDA"}}


@pytest.mark.parametrize(
    ("events", "outcomes"),
    [
        (
            service.told(
                observation={"repromptResponse": {"source": "ACTION_GROUP", "text": "no such shelf"}}
            )
            + service.answer("Sorry."),
            [("count", "no such shelf")],
        ),
        (service.answer("Sorry."), [("count", None)]),
        (service.broken("It is out."), [("count", "no outcome was told: .*It is out")]),
        (
            service.told(invocationInput={"codeInterpreterInvocationInput": {"code": "while 1: pass"}})
            + service.told(observation={"codeInterpreterInvocationOutput": {"executionTimeout": True}})
            + service.answer("Sorry."),
            [("code_interpreter", "the time was up"), ("count", None)],
        ),
    ],
    ids=["asked again", "not told", "stream broke", "time was up"],
)
def test_what_fails_at_the_service_is_a_step_too(
    at: Callable[..., Any], events: bytes, outcomes: Any
) -> None:
    trial = Trial("t1")
    begun = service.thought(5) + service.told(invocationInput=COUNT)
    with at(service.Script(begun + events)), suppress(Exception):
        ran(deployed(), "Hello", trial=trial)
    found = [(step.tool, step.error) for step in trial.recorder.steps if step.tool]
    assert [tool for tool, _ in found] == [tool for tool, _ in outcomes]
    for (_, error), (_, said) in zip(found, outcomes, strict=True):
        assert error is said is None or re.match(said, str(error))
    assert sum(step.usage.input_tokens for step in trial.recorder.steps) == 5  # paid for in any case


def test_of_agents_that_work_at_once_each_step_tells_its_own(at: Callable[..., Any]) -> None:
    """Events of collaborators, and of several lookups of one, come as they happen."""
    both = [
        {"modelInvocationInput": {"foundationModel": f"m-{one}", "traceId": one}, "of": one} for one in "ab"
    ]
    asked = [{"invocationInput": {"traceId": t, "knowledgeBaseLookupInput": {"text": t}}} for t in "pq"]
    row = {"content": {"row": [{"columnName": "left", "columnValue": "3"}]}}
    found = [
        {
            "traceId": t,
            "knowledgeBaseLookupOutput": {"retrievedReferences": r, "metadata": {"totalTimeMs": 1}},
        }
        for t, r in (("q", [row]), ("p", [{"content": {"text": "none"}}]))
    ]
    events: list[dict[str, Any]] = [
        *both,
        *({"modelInvocationOutput": {"traceId": one}, "of": one} for one in "ab"),
        *asked,
        *({"observation": one} for one in found),
    ]
    stream = b"".join(service.told(**event) for event in events) + service.answer("Yes.")
    with at(service.Script(stream)):
        trace = ran(deployed(), "Hello")
    assert [(s.node, s.model) for s in trace.steps if s.action == "reason"] == [("a", "m-a"), ("b", "m-b")]
    assert {s.arguments["text"]: s.output for s in trace.tool_calls if s.arguments} == {
        "p": ["none"],
        "q": [{"left": "3"}],
    }
    assert all(s.seconds >= 0.001 for s in trace.tool_calls)


def test_a_call_of_a_collaborator_is_answered_to_it(at: Callable[..., Any]) -> None:
    asked = call_of("look_up_order", collaboratorName="billing", agentId="BILLING01")
    script = service.Script(service.hand_back(asked), service.guarded() + service.answer("No."))
    with at(script):
        trace = ran(deployed(), "Where?")
    assert [step.node for step in trace.tool_calls] == ["billing"]
    [result] = script.bodies[1]["sessionState"]["returnControlInvocationResults"]
    assert result["functionResult"]["agentId"] == "BILLING01"
    assert trace.steps[-1].error == "the answer was cut off: a guardrail intervened"


def test_calls_that_the_user_is_to_confirm_are_confirmed_where_that_is_wished(at: Callable[..., Any]) -> None:
    """Without AND_RESULT the service carries them out itself."""
    theirs = call_of("pay", actionInvocationType="USER_CONFIRMATION")
    ours = call_of("look_up_order", actionInvocationType="USER_CONFIRMATION_AND_RESULT")
    script = service.Script(
        service.hand_back(theirs), service.hand_back(theirs, ours), service.answer("Paid.")
    )
    with at(script):
        trace = ran(deployed(confirm=True), "Pay.")
    assert (trace.output, trace.tools_called) == ("Paid.", ("look_up_order",))
    results = [body["sessionState"]["returnControlInvocationResults"] for body in script.bodies[1:]]
    consent = {"functionResult": {"actionGroup": "desk", "function": "pay", "confirmationState": "CONFIRM"}}
    assert results[0] == [consent] and results[1][0] == consent
    held = results[1][1]["functionResult"]
    assert held["confirmationState"] == "CONFIRM" and "Monday" in held["responseBody"]["TEXT"]["body"]


def test_a_run_that_is_cut_off_has_told_what_was_done(loop_thread: Any) -> None:
    """Headers come at once; only events tell that the service is at work."""
    waiting: list[int] = []

    async def silent(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": aws_event_stream.MEDIA_TYPE})
        await response.prepare(http)
        await asyncio.sleep(0.05)
        waiting.append(len(trial.recorder.waiting))
        await response.write(service.thought(5) + service.thought(7) + service.told(invocationInput=COUNT))
        await response.write(service.told(invocationInput=PARTNER))
        await asyncio.sleep(0.2)
        return response

    async def run() -> None:
        with running(trial):
            task = asyncio.create_task(deployed().run(("Hello",), trial))
            while "billing" not in trial.recorder.nodes:
                await asyncio.sleep(0.01)
            task.cancel()
            await task

    trial = Trial("t1")
    with service.served(loop_thread, silent), pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert waiting == [1] and trial.recorder.waiting == []
    assert [step.usage.input_tokens for step in trial.recorder.timeline()] == [5, 7, 0]
    assert [step.tool for step in trial.recorder.timeline()][-1] == "count"


def test_calls_by_an_openapi_schema_are_answered_in_its_terms(at: Callable[..., Any]) -> None:
    asked = {
        "apiInvocationInput": {
            "actionGroup": "orders",
            "httpMethod": "GET",
            "apiPath": "/orders/{order_id}",
            "parameters": [{"name": "order_id", "type": "string", "value": "A-1"}],
        }
    }
    script = service.Script(service.hand_back(asked), service.answer("It is on its way."))
    spec = AgentSpec(adapter="bedrock_agents", options=DEPLOYED, functions=f"{AGENTS}:BY_PATH")
    with at(script):
        trace = ran(BedrockAgentsAdapter.create(spec, AgentConfig()), "Where is A-1?")
    [step] = trace.tool_calls
    assert (step.tool, step.arguments) == ("GET /orders/{order_id}", {"order_id": "A-1"})
    [result] = script.bodies[1]["sessionState"]["returnControlInvocationResults"]
    assert result["apiResult"] == {
        "actionGroup": "orders",
        "apiPath": "/orders/{order_id}",
        "httpMethod": "GET",
        "httpStatusCode": 200,
        "responseBody": {"application/json": {"body": "A-1 was delivered on Monday."}},
    }


def test_a_session_lasts_for_one_run(at: Callable[..., Any]) -> None:
    script = service.Script(*[service.answer("Yes.")] * 4)
    with at(script):
        agent = deployed(session_state={"sessionAttributes": {"shop": "Bern"}})
        ran(agent, "One", "Two")
        ran(agent, "One", "Two", trial=Trial("t2"))
    one, two, three, four = script.sessions
    assert one == two != three == four
    assert script.trials == ["t1", "t1", "t2", "t2"]
    first, second, third, fourth = (body["sessionState"] for body in script.bodies)
    assert (first, second) == (third, fourth)
    assert first == {**second, "sessionAttributes": {"shop": "Bern"}}  # what has become of it stays
    assert first["promptSessionAttributes"]["documents"] == POLICY[0].wrapped


def test_a_deployed_agent_is_not_run_as_one_that_it_is_not(at: Callable[..., Any]) -> None:
    """The control without prompt and tools would pass as the agent itself."""
    other = deployed().with_config(AgentConfig())
    with at(service.Script()), pytest.raises(AdapterError, match="has its tools at the service"):
        ran(other, "Hello")


def test_short_instructions_are_filled_up(at: Callable[..., Any]) -> None:
    """boto3 refuses instructions of fewer than 40 characters, and with them every agent that has lost its prompt."""
    agent = BedrockAgentsAdapter.create(
        AgentSpec(adapter="bedrock_agents", options={"inline": True, "call": MORE}, **DESK), CONFIG
    )
    script = service.Script(service.answer("Yes."))
    with at(script):
        ran(agent.with_config(agent.get_config().model_copy(update={"prompt": ""})), "Hello")
    [body] = script.bodies
    assert body["instruction"] == " " * 40
    assert body["knowledgeBases"] == MORE["knowledgeBases"]
    assert [group["actionGroupName"] for group in body["actionGroups"]] == ["tools", "code"]


MORE: dict[str, Any] = {
    "knowledgeBases": [{"knowledgeBaseId": "ABCDEFGHIJ", "description": "What is in stock."}],
    "actionGroups": [{"actionGroupName": "code", "parentActionGroupSignature": "AMAZON.CodeInterpreter"}],
}


@pytest.mark.whole
def test_a_deployed_agent_is_measured_by_what_reaches_it(loop_thread: Any, tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text("from tests.frameworks.bedrock_agents import FUNCTIONS\n")
    (tmp_path / "first.yaml").write_text(SCENARIO)
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    keeper = service.Keeper(PROMPT, [read_tool(function) for function in FUNCTIONS])
    with service.served(loop_thread, keeper.answer):
        result = measure(tmp_path, selection=Selection(operators_named=("tool.result_empty",)))
    assert {mutant.status for mutant in result.mutants} == {Status.KILLED, Status.NO_COVERAGE}
    assert "at the service" in result.controls.destroyed.reason  # it was not run


SCENARIO = """
- name: where
  input: Where is my order A-1042?
  evaluators: [{contains: Monday}]
"""
PROJECT = f"""
version: 1
agent:
  adapter: bedrock_agents
  functions: desk:FUNCTIONS
  options: {{agent_id: {service.AGENT}, alias_id: {service.ALIAS}}}
  config: {{prompt: You help customers.}}
suite: {{scenarios: first.yaml}}
statistics: {{baseline: 12, n_max: 20, delta: 0.5}}
"""
