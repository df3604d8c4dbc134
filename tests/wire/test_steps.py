"""Steps of a trace from what passed on the wire."""

import json

from agentmut.nouns.messages import Exchange, Message, ModelReply, ModelRequest, Role, ToolCall
from agentmut.wire.dialects.gemini.gemini import Gemini
from agentmut.wire.steps import steps_from_exchanges

HELLO = Message(role=Role.USER, text="Hello.")


def calls(*made: tuple[str, str]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(id=call_id, name=name, arguments="{}") for call_id, name in made)


def asked(*made: tuple[str, str]) -> Message:
    return Message(role=Role.ASSISTANT, tool_calls=calls(*made))


def result(text: str, call_id: str | None) -> Message:
    return Message(role=Role.TOOL, text=text, tool_call_id=call_id)


def exchange(messages: tuple[Message, ...], *made: tuple[str, str]) -> Exchange:
    request = ModelRequest(model="m", messages=messages)
    return Exchange(request, ModelReply(model="m", tool_calls=calls(*made)), 200, None, 0.0, 0.1)


def told(*exchanges: Exchange) -> list[tuple[str | None, object]]:
    steps = steps_from_exchanges(exchanges, with_tools=True)
    return [(step.tool, step.output) for step in steps if step.tool]


def test_calls_without_ids_are_steps_of_their_own_with_their_own_results() -> None:
    first = (HELLO,)
    second = (*first, asked(("", "find"), ("", "pay")), result("found", None), result("paid", None))
    third = (*second, asked(("", "find")), result("gone", None))
    found = told(exchange(first, ("", "find"), ("", "pay")), exchange(second, ("", "find")), exchange(third))
    assert found == [("find", "found"), ("pay", "paid"), ("find", "gone")]


def test_ids_that_begin_anew_in_each_reply_are_other_calls() -> None:
    first = (HELLO,)
    second = (*first, asked(("c1", "find")), result("one", "c1"))
    third = (*second, asked(("c1", "find")), result("two", "c1"))
    made = ("c1", "find")
    assert told(exchange(first, made), exchange(second, made), exchange(third)) == [
        ("find", "one"),
        ("find", "two"),
    ]
    window = (result("two", "c1"),)  # the service has the rest
    assert told(exchange(first, made), exchange(second, made), exchange(window))[1] == ("find", "two")


def test_a_request_that_was_sent_twice_is_one_call() -> None:
    made = exchange((HELLO,), ("c1", "find"))
    assert told(made, made, exchange((HELLO, asked(("c1", "find")), result("one", "c1")))) == [
        ("find", "one")
    ]


def test_a_tool_of_gemini_that_is_polled_has_a_step_and_a_result_each_time() -> None:
    codec, call = Gemini(), {"functionCall": {"name": "poll", "args": {}}}
    body = {"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}]}
    made = tuple((c.id, c.name) for c in codec.decode_reply(json.dumps(body).encode()).tool_calls)
    ids = [made[0][0], made[0][0].removesuffix("1") + "2"]
    first = (HELLO,)
    second = (*first, asked((ids[0], "poll")), result("wait", ids[0]))
    third = (*second, asked((ids[1], "poll")), result("done", ids[1]))
    found = told(exchange(first, *made), exchange(second, *made), exchange(third))
    assert found == [("poll", "wait"), ("poll", "done")]
