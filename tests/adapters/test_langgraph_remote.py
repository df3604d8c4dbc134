"""Graphs on a LangGraph server, by the real `langgraph-sdk`: against a server on loopback that speaks its protocol.

The real server is asked in tests/frameworks/test_langgraph_server.py.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from agentmut._base.errors import AdapterError, UnavailableError, UsageError
from agentmut.adapters.langgraph_remote import LangGraphRemoteAdapter, RemoteGraphError
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.trace import Action, AgentTrace
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec

CONFIG = AgentConfig(prompt="Be kind.", model={"name": "sim-large"})
CALL = {"name": "look_up", "args": {"order": "A-1"}, "id": "c1"}
STATE: dict[str, Any] = {
    "messages": [
        {"type": "human", "content": "Hello"},
        {"type": "ai", "content": "", "tool_calls": [CALL]},
        {"type": "tool", "content": "delivered", "tool_call_id": "c1", "status": "success"},
        {"type": "ai", "content": [{"type": "text", "text": "It is there."}], "tool_calls": []},
    ],
    "report": {"text": "all well"},
}


def mutant(edit: Edit) -> Mutant:
    return Mutant(
        id="m",
        operator="o",
        version=1,
        operator_class=OperatorClass.CONTEXT,
        intent=Intent.DEGRADE,
        edits=(edit,),
        reach=Reach.SENT,
        description="",
    )


class Server:
    """Answers runs with states in turn, the last one again and again, or a status, and keeps what it was asked."""

    def __init__(self, *states: Any, status: int = 200, ahead: tuple[str, ...] = ()) -> None:
        self.states, self.status, self.ahead = list(states or (STATE,)), status, ahead
        self.threads: list[str] = []
        self.runs: list[tuple[str, Any, Any]] = []

    async def create(self, request: web.Request) -> web.Response:
        self.threads.append(f"t{len(self.threads)}")
        return web.json_response({"thread_id": self.threads[-1]})

    async def wait(self, request: web.Request) -> web.Response:
        self.runs.append(
            (
                request.match_info["thread"],
                await request.json(),
                {name.lower(): value for name, value in request.headers.items()},
            )
        )
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return web.json_response(
            state if self.status < 400 else {"detail": "no sk-live-0123456789abcdef here"},
            status=self.status,
        )

    async def stopped(self, request: web.Request) -> web.Response:
        return web.json_response({"next": self.ahead})

    async def delete(self, request: web.Request) -> web.Response:
        self.threads.remove(request.match_info["thread"])
        return web.json_response({})

    @asynccontextmanager
    async def at(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/threads", self.create)
        app.router.add_post("/threads/{thread}/runs/wait", self.wait)
        app.router.add_get("/threads/{thread}/state", self.stopped)
        app.router.add_delete("/threads/{thread}", self.delete)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert runner.addresses
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        await runner.cleanup()


def adapter(url: str, **keys: Any) -> LangGraphRemoteAdapter:
    options = {"graph": "desk", **keys.pop("options", {})}
    spec = AgentSpec(adapter="langgraph_remote", url=url, options=options, **keys)
    return LangGraphRemoteAdapter.create(spec, CONFIG)


def ran(server: Server, *turns: Any, trial: Trial | None = None, **keys: Any) -> AgentTrace:
    async def one() -> AgentTrace:
        async with server.at() as url:
            return await adapter(url, **keys).run(turns or ("Hello",), trial or Trial("one"))

    return asyncio.run(one())


def test_each_turn_is_a_run_of_one_thread_which_is_deleted_in_the_end() -> None:
    server = Server()
    told = {"configurable": {"prompt": "{prompt}", "id": "{trial}"}}
    trace = ran(server, "Hello", "And?", options={"config": told}, headers={"X-API-Key": "k"})
    assert trace.outputs == ("It is there.", "It is there.")
    assert [(thread, asked["input"]["messages"][0]["content"]) for thread, asked, _ in server.runs] == [
        ("t0", "Hello"),
        ("t0", "And?"),
    ]
    _, asked, headers = server.runs[0]
    assert (asked["assistant_id"], asked["on_disconnect"]) == ("desk", "cancel")
    assert asked["config"] == {"configurable": {"prompt": "Be kind.", "id": "one"}}
    assert (headers["x-agentmut-trial"], headers["x-api-key"]) == ("one", "k")
    assert server.threads == []


def test_calls_that_the_state_tells_of_are_steps_where_no_request_was_seen() -> None:
    trace = ran(Server())
    assert [(step.tool, step.arguments, step.output) for step in trace.tool_calls] == [
        ("look_up", {"order": "A-1"}, "delivered")
    ]
    assert trace.steps[-1].action is Action.RESPOND


def test_the_answer_may_stand_elsewhere_and_the_input_may_have_another_form() -> None:
    server = Server()
    trace = ran(server, answer="/report/text", body={"question": "{input}"})
    assert trace.output == "all well"
    assert server.runs[0][1]["input"] == {"question": "Hello"}


ASKS = {"__interrupt__": [{"value": {"what": "size"}, "id": "q1"}]}
ASKS_TWO = {"__interrupt__": [{"value": "Colour?", "id": "q1"}, {"value": "Size?", "id": "q2"}]}
WITHOUT_ID = {"__interrupt__": [{"value": "Sure?", "resumable": True}]}


@pytest.mark.parametrize(
    ("asks", "said", "question", "resumed"),
    [
        (ASKS, "Two.", {"what": "size"}, {"q1": "Two."}),
        (ASKS, ["a", "b"], {"what": "size"}, {"q1": ["a", "b"]}),
        (ASKS_TWO, ["red", 2], ["Colour?", "Size?"], {"q1": "red", "q2": 2}),
        (ASKS_TWO, "both", ["Colour?", "Size?"], {"q1": "both", "q2": "both"}),
        (WITHOUT_ID, "Yes", "Sure?", "Yes"),
    ],
)
def test_a_question_is_the_answer_to_its_turn_and_the_next_turn_the_reply(
    asks: Any, said: Any, question: Any, resumed: Any
) -> None:
    server = Server(asks, STATE)
    assert ran(server, "Hello", said, "And?").outputs == (question, "It is there.", "It is there.")
    first, second, third = (asked for _, asked, _ in server.runs)
    assert second["command"] == {"resume": resumed}
    assert not second.get("input")
    assert all(asked["input"]["messages"] and not asked.get("command") for asked in (first, third))


def test_calls_of_a_turn_that_ends_with_a_question_are_kept() -> None:
    trace = ran(Server(STATE, ASKS), "Hello", "Pay")
    assert [step.tool for step in trace.tool_calls] == ["look_up"]
    assert trace.outputs == ("It is there.", {"what": "size"})


def test_a_run_that_ends_with_the_users_own_words_has_said_nothing() -> None:
    assert ran(Server({"messages": STATE["messages"][:1]})).outputs == ("",)


@pytest.mark.parametrize(
    ("server", "kind", "said"),
    [
        (Server({"__error__": {"error": "KeyError", "message": "no order"}}), RemoteGraphError, "KeyError: no order"),
        (Server({"messages": STATE["messages"][:1]}, ahead=("pay",)), RemoteGraphError, "at a breakpoint before pay"),
        (Server({"messages": STATE["messages"][:2]}, ahead=("pay",)), RemoteGraphError, "at a breakpoint before pay"),
        (Server({"other": 1}), RemoteGraphError, "has no messages; say where the answer is"),
        (Server(status=404), AdapterError, r"answered 404: .* Correct agent\.url"),
        (Server(status=503), UnavailableError, "answered 503"),
        (Server(status=500), RemoteGraphError, "answered 500"),
    ],
)  # fmt: skip
def test_what_fails_says_whose_failure_it_is_without_secrets(server: Server, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said) as raised:
        ran(server, headers={"x-api-key": "sk-live-0123456789abcdef"})
    assert "sk-live-0123456789abcdef" not in str(raised.value)
    assert server.threads == []


def test_a_server_that_is_not_there_is_no_evidence() -> None:
    with pytest.raises(UnavailableError, match=r"nothing answers at http://127\.0\.0\.1:9; start the server"):
        asyncio.run(adapter("http://127.0.0.1:9").run(("Hello",), Trial("one")))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"options": {"graph": 3}}, "name the graph"),
        ({"options": {"grahp": "x"}}, "unknown key 'grahp'"),
        ({"options": {"config": {"prompt": "{propmt}"}}}, "agent.options.config"),
        ({"body": {"question": "{no_such}"}}, "agent.body"),
    ],
)
def test_a_wrong_project_is_refused_before_anything_runs(keys: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        adapter("http://127.0.0.1:9", **keys)
    with pytest.raises(UsageError, match="needs the address"):
        adapter("ftp://x")


def test_what_cannot_be_mutated_is_said() -> None:
    agent = adapter("http://127.0.0.1:9", options={"config": {"recursion_limit": "{model.name}"}})
    assert agent.carries == {"model.name"}
    history = mutant(Edit(pointer="/history/0/text", before="a", after="b"))
    assert "the server keeps the conversation" in agent.cannot_express(history)
    steps = mutant(Edit(pointer="/orchestration/max_steps", before=4, after=2))
    assert "is not told orchestration.max_steps" in agent.cannot_express(steps)
