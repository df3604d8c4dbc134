"""Deployed agent engines: a real ADK agent behind a loopback server that speaks their REST API."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from agentmut.config import AgentConfig, Document, History, ModelConfig
from agentmut.conformance.adapter import endpoint
from agentmut.errors import AdapterError, UnavailableError, UsageError
from agentmut.plugins import Group, load
from agentmut.protocols import AgentSpec
from agentmut.tools import ToolSpec
from agentmut.trace import AgentTrace
from agentmut.trial import Trial, running
from tests.frameworks.kit import Case, check

pytest.importorskip("google.adk", reason="google-adk is not installed")

from tests.frameworks import vertex_stub
from tests.frameworks.vertex_stub import ENGINE, TOKEN, Stub

CREDENTIALS = "tests.frameworks.vertex_stub:credentials"
OPTIONS = {"engine": ENGINE, "credentials": CREDENTIALS}
CONFIG = AgentConfig(
    prompt="You help customers. Never promise a date.",
    tools=(ToolSpec(name="look_up_order", description="Look up an order by its number."),),
    model=ModelConfig(name="gemini-x", temperature=0.3),
    context=(Document(name="policy", text="Refunds take five days. Gifts are final."),),
)
TURNS = ("Where is my order A-1042?", "And where is my order A-1043?")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with vertex_stub.running() as (found, url):
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", url)
        yield found


def adapter(config: AgentConfig = CONFIG, **options: Any) -> Any:
    kind: Any = load(Group.ADAPTERS, "vertex_agent_engine")
    return kind.create(AgentSpec(adapter="vertex_agent_engine", options={**OPTIONS, **options}), config)


def run(agent: Any, *turns: str) -> AgentTrace:
    async def once() -> AgentTrace:
        async with endpoint():
            with running(Trial("one")) as trial:
                found: AgentTrace = await agent.run(turns, trial)
                return found

    return asyncio.run(once())


def test_its_agents_are_run_as_the_kit_demands(stub: Stub) -> None:
    why = "tools are called on the server"
    case = Case(
        "vertex_agent_engine",
        "deployed",
        "",
        TURNS,
        ["look_up_order"],
        options=OPTIONS,
        config=CONFIG,
        except_for={"doubles": why},
    )
    check(case)
    assert stub.tokens == {f"Bearer {TOKEN}"}


def test_a_run_has_the_calls_tokens_and_agents_of_the_engine_s_events(stub: Stub) -> None:
    trace = run(adapter(), *TURNS)
    [first, *_] = trace.tool_calls
    assert (first.tool, first.arguments, first.node) == ("look_up_order", {"order_id": "A-1042"}, "desk")
    assert first.output == {"result": "A-1042 was delivered on Monday."} and first.call_id
    assert trace.usage.total > 0 and len(trace.outputs) == 2 and ("desk", "__end__") in trace.edges


def test_documents_are_given_ahead_of_the_first_turn_of_a_session(stub: Stub) -> None:
    run(adapter(), *TURNS)
    assert stub.messages == [f"{CONFIG.context[0].wrapped}\n\n{TURNS[0]}", TURNS[1]]


def test_an_engine_without_its_history_has_a_new_session_each_turn(stub: Stub) -> None:
    run(adapter(CONFIG.model_copy(update={"history": History.DROPPED})), *TURNS)
    assert [CONFIG.context[0].wrapped in message for message in stub.messages] == [True, True]


def test_an_engine_without_sessions_is_asked_by_query(stub: Stub) -> None:
    trace = run(adapter(AgentConfig(), method="query"), "Hello")
    assert trace.outputs == ({"answer": "Hello"},)


@pytest.mark.parametrize(
    ("fails", "error", "says"),
    [
        (lambda: web.Response(status=403, text="no"), AdapterError, "answered 403: no"),
        (lambda: web.Response(status=503), UnavailableError, "answered 503"),
        (lambda: web.json_response({"output": None}), AdapterError, "made no session"),
        (lambda: '{"error": {"code": 500, "message": "boom"}}\n', RuntimeError, "boom"),
        (lambda: '{"error_code": "SAFETY", "error_message": "blocked"}\n', RuntimeError, "SAFETY: blocked"),
        (lambda: "<html>\n", RuntimeError, "no JSON"),
        (lambda: "[1]\n", RuntimeError, "an object was expected"),
    ],
)
def test_what_the_engine_refuses_is_told(stub: Stub, fails: Any, error: Any, says: str) -> None:
    stub.fails = fails()
    with pytest.raises(error, match=says):
        run(adapter(), "Hello")


def test_an_engine_that_cannot_be_reached_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        run(adapter(), "Hello")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"options": {}}, "needs either agent.options.engine"),
        ({"options": {"engine": "my-engine"}}, "projects/PROJECT/locations"),
        ({"options": {**OPTIONS, "engin": 1}}, "Did you mean 'engine'"),
        ({"options": {**OPTIONS, "method": "stream"}}, "unknown 'stream'"),
        ({"options": OPTIONS, "route": "wire"}, "run the agent itself with adapter google_adk"),
    ],
)
def test_a_project_that_cannot_be_is_refused(spec: dict[str, Any], says: str) -> None:
    kind: Any = load(Group.ADAPTERS, "vertex_agent_engine")
    with pytest.raises(UsageError, match=says):
        kind.create(AgentSpec(adapter="vertex_agent_engine", **spec), CONFIG)


def test_a_function_that_returns_no_engine_is_told() -> None:
    kind: Any = load(Group.ADAPTERS, "vertex_agent_engine")
    agent = kind.create(AgentSpec(adapter="vertex_agent_engine", factory=CREDENTIALS), CONFIG)
    with pytest.raises(AdapterError, match=r"returned a Credentials; expected what vertexai.Client"):
        run(agent, "Hello")
