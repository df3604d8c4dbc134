"""Deployed agent engines: a real ADK agent behind a loopback server that speaks their REST API."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import agentmut
from agentmut._base.errors import AdapterError, UnavailableError, UsageError
from agentmut.adapters.vertex_agent_engine import VertexAgentEngineAdapter
from agentmut.adapters.vertex_agent_engine import adapter as vertex_agent_engine_adapter
from agentmut.adapters.vertex_agent_engine.credentials import Credentials
from agentmut.adapters.vertex_agent_engine.errors import EngineError
from agentmut.adapters.vertex_agent_engine.events import TurnEvents
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.selection import Selection
from agentmut.conformance.adapters.adapter_checks import endpoint
from agentmut.doctor.examination import before_running, examine
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.mutant import Status
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.project.loading import load_project
from agentmut.recording.current import running
from agentmut.recording.redaction import Redactor
from agentmut.recording.trial import Trial
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.simulator.service.addresses import Addresses
from agentmut.store.documents.diagnosis import Arrival
from agentmut.usecases.starting import write_starter
from tests.frameworks.kit import Case, check

pytest.importorskip("google.adk", reason="google-adk is not installed")

from tests.frameworks import vertex_stub
from tests.frameworks.vertex_stub import ENGINE, TOKEN, Stub

pytestmark = pytest.mark.framework

CREDENTIALS = "tests.frameworks.vertex_stub:credentials"
OPTIONS = {"engine": ENGINE, "credentials": CREDENTIALS}
BILLED = {"authorization": f"Bearer {TOKEN}", "x-goog-user-project": "billed"}
_FAILED = "Reasoning Engine Execution failed. Error Details: Agent Engine Error: "
RAISED = f"{_FAILED}An error occurred during invocation. Exception: division by zero"
OTHER_KIND = f"{_FAILED}Default method `async_create_session` not found. Available methods are: ['query']."


def calls(*orders: int) -> list[Any]:
    return [{"functionCall": {"name": "look_up", "args": {"order": order}}} for order in orders]


def results(*told: Any) -> list[Any]:
    return [{"functionResponse": {"name": "look_up", "response": one}} for one in told]


def event(parts: list[Any], **others: Any) -> str:
    return json.dumps({"author": "desk", "content": {"parts": parts}, **others}) + "\n"


EVENTS = (
    event(calls(1, 2)),
    "data: " + event(results({"result": "x" * 2_000_000}, {"error": "none such"})),
    event([{"text": "Sen"}], partial=True),
    event(calls(3)),
    event([{"text": "Sent."}], model_version="m"),
)
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
        # no test may be red because a machine is busy
        monkeypatch.setattr(vertex_agent_engine_adapter, "FAREWELL", 600.0)
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
    for text in ("Hello", "long " * 200_000):
        assert run(adapter(AgentConfig(), method="query"), text).outputs == ({"answer": text},)


@pytest.mark.parametrize(
    ("fails", "error", "says"),
    [
        (lambda: web.Response(status=403, text="no"), AdapterError, "answered 403: no"),
        (lambda: web.Response(status=404, text="none"), AdapterError, "Correct agent.options.engine"),
        (lambda: web.Response(status=429), UnavailableError, "answered 429"),
        (lambda: web.Response(status=500), UnavailableError, "answered 500"),
        (lambda: web.Response(status=400, text=OTHER_KIND), AdapterError, "agent.options.method"),
        (lambda: web.Response(status=400, text=RAISED), UnavailableError, "no session could be made"),
        (lambda: web.json_response({"output": None}), AdapterError, "method: query"),
        (lambda: '{"error": {"code": 500, "message": "boom"}}\n', UnavailableError, "boom"),
        (lambda: '{"error": {"code": 400, "message": "boom"}}\n', EngineError, "boom"),
        (lambda: '{"code": 498, "message": "division by zero"}\n', EngineError, "division by zero"),
        (lambda: '{"code": 498, "message": "429 RESOURCE_EXHAUSTED."}\n', UnavailableError, "EXHAUSTED"),
        (lambda: '{"error_code": "SAFETY", "error_message": "blocked"}\n', EngineError, "SAFETY: blocked"),
        (lambda: "<html>\n", UnavailableError, "no JSON"),
        (lambda: "[1]\n", UnavailableError, "an object was expected"),
        (lambda: "\n", UnavailableError, "no events"),
    ],
)
def test_what_the_engine_refuses_is_told(stub: Stub, fails: Any, error: Any, says: str) -> None:
    stub.fails = fails()
    with pytest.raises(error, match=says):
        run(adapter(), "Hello")
    assert not stub.open


def test_what_an_agent_without_sessions_raised_is_its_own_failure(stub: Stub) -> None:
    stub.fails = web.Response(status=400, text=RAISED)
    with pytest.raises(EngineError, match="division by zero"):
        run(adapter(AgentConfig(), method="query"), "Hello")


def test_a_stream_that_breaks_off_is_no_evidence_and_its_call_is_in_the_trace(stub: Stub) -> None:
    stub.fails, stub.breaks_off = EVENTS[0] + '{"author": "de', True
    with running(Trial("one")) as trial, pytest.raises(UnavailableError, match="broke off"):
        asyncio.run(adapter().run(("Hello",), trial))
    assert [step.tool for step in trial.recorder.steps] == [None, "look_up", "look_up"]
    assert str(trial.recorder.steps[-1].error).startswith("no result was told: UnavailableError: ")


def test_results_are_those_of_the_agent_that_called_though_two_give_one_id() -> None:
    trial = Trial("one")
    hearing = TurnEvents(trial.recorder, 0, 0.0)
    for kind, agents in (("functionCall", "ab"), ("functionResponse", "ba")):
        for name in agents:
            told = {"id": "call_0", "name": f"tool_{name}", "args": {"by": name}, "response": {"to": name}}
            hearing.hear({"author": name, "content": {"parts": [{kind: told}]}})
    steps = {step.tool: step for step in trial.recorder.steps if step.action is Action.CALL_TOOL}
    assert {name: (step.node, step.arguments, step.output) for name, step in steps.items()} == {
        f"tool_{name}": (name, {"by": name}, {"to": name}) for name in "ab"
    }


def test_events_are_read_whatever_is_missing_in_them_or_however_long_they_are(stub: Stub) -> None:
    """No usage, calls without ids, lines of 2 MB, a call that gets no result."""
    stub.fails = "".join((": alive\n", *EVENTS))
    trace = run(adapter(), "Grüße \ud83d\ude00" + "x" * 200_000)
    assert [(step.arguments, step.error) for step in trace.tool_calls] == [
        ({"order": 1}, None),
        ({"order": 2}, "none such"),
        ({"order": 3}, None),
    ]
    assert len(str(trace.tool_calls[0].output)) > 2_000_000 and trace.outputs == ("Sent.",)
    assert [step.model for step in trace.steps if step.action is Action.REASON] == [None, None, "m"]


def test_sessions_are_deleted_also_those_of_runs_that_are_cut_off(stub: Stub) -> None:
    async def cut_off() -> None:
        with running(Trial("one")) as trial:
            run = asyncio.ensure_future(adapter().run(TURNS, trial))
            while not stub.messages:
                await asyncio.sleep(0.005)
            run.cancel()
            await asyncio.wait({run}, timeout=600)
            assert run.cancelled()

    asyncio.run(cut_off())
    assert not stub.open


def test_a_stand_in_on_this_machine_is_told_the_trial_and_no_credentials(stub: Stub) -> None:
    run(adapter(AgentConfig(), credentials=None, method="query"), "Hello")
    assert (stub.tokens, stub.trials) == ({None}, {"one"})


def test_credentials_are_made_once_and_what_is_none_is_told() -> None:
    answers: list[Any] = ["token", vertex_stub.credentials().with_quota_project("billed")]
    for says in ("", "returned a str; expected google.auth credentials"):
        given: Any = Credentials(CREDENTIALS, ".")
        given._build = answers.pop  # once: there is no second answer
        for _ in range(2):
            if says:
                with pytest.raises(AdapterError, match=says):
                    given.headers()
            else:
                assert given.headers() == BILLED


class OtherKind:
    """An engine of LangChain's, as its SDK gives it."""

    def query(self, input: str) -> Any:
        if input == "busy":
            raise APIError(429, "RESOURCE_EXHAUSTED")
        return {"input": input, "output": input.upper()}


class APIError(Exception):
    def __init__(self, code: int, said: str) -> None:
        super().__init__(said)
        self.code = code


def test_an_engine_of_another_kind_is_asked_by_query(stub: Stub) -> None:
    def asked(message: str, **options: Any) -> AgentTrace:
        spec = AgentSpec(adapter="vertex_agent_engine", factory=f"{__name__}:OtherKind", options=options)
        return run(VertexAgentEngineAdapter.create(spec, AgentConfig()), message)

    assert asked("Hello", method="query").outputs == ("HELLO",)
    with pytest.raises(UnavailableError, match="RESOURCE_EXHAUSTED"):
        asked("busy", method="query")
    with pytest.raises(AdapterError, match=r"no async_create_session.*method: query"):
        asked("Hello")


@pytest.mark.whole
def test_the_example_notices_that_its_documents_are_wrong(
    tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the simulator's engine, which is asked without credentials."""
    write_starter(tmp_path, framework="vertex_agent_engine")
    for variable, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(variable, value)
    settings = tmp_path / "agentmut.yaml"
    quick = settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5\n  baseline: 12\n  n_max: 20")
    settings.write_text(quick, "utf-8")
    result = agentmut.measure(tmp_path, selection=Selection(operators_named=("context.drop_document",)))
    assert [mutant.status for mutant in result.mutants] == [Status.KILLED]


def test_documents_are_seen_to_arrive_by_the_doctor(
    tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for no key of other services, and says why the wire is no way."""
    write_starter(tmp_path, framework="vertex_agent_engine")
    for variable, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(variable, value)
    session = open_session(load_project(tmp_path))
    found = examine(session, before_running(session, {}), Redactor(())).diagnosis
    arrivals = {part.name: (part.rebuild.arrival, part.wire.arrival) for part in found.parts}
    assert arrivals["document"] == (Arrival.ALL, Arrival.NONE)
    assert "leave Google's servers" in found.parts[0].wire.said
    assert all(check.ok for check in found.checks)


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
        ({"options": {"engine": f"{ENGINE}?x=1"}}, "projects/PROJECT/locations"),
        ({"options": {**OPTIONS, "credentials": 7}}, "expected module:function"),
        ({"options": {"credentials": CREDENTIALS}, "factory": CREDENTIALS}, "agent.factory brings its own"),
        ({"options": OPTIONS, "route": "wire"}, "run the agent itself with adapter google_adk"),
    ],
)
def test_a_project_that_cannot_be_is_refused(spec: dict[str, Any], says: str) -> None:
    kind: Any = load(Group.ADAPTERS, "vertex_agent_engine")
    with pytest.raises(UsageError, match=says):
        kind.create(AgentSpec(adapter="vertex_agent_engine", **spec), CONFIG)


class NoStream:
    """An engine of the user's own that gives all events at once."""

    async def async_create_session(self, user_id: str) -> Any:
        return {"id": "1"}

    async def async_stream_query(self, **asked: Any) -> list[Any]:
        return []


def test_an_engine_that_does_not_stream_is_told() -> None:
    spec = AgentSpec(adapter="vertex_agent_engine", factory=f"{__name__}:NoStream")
    with pytest.raises(AdapterError, match="gives a coroutine; expected an async generator"):
        run(VertexAgentEngineAdapter.create(spec, AgentConfig()), "Hello")


def test_a_function_that_returns_no_engine_is_told() -> None:
    kind: Any = load(Group.ADAPTERS, "vertex_agent_engine")
    agent = kind.create(AgentSpec(adapter="vertex_agent_engine", factory=CREDENTIALS), CONFIG)
    with pytest.raises(AdapterError, match=r"returned a Credentials; expected what vertexai.Client"):
        run(agent, "Hello")
