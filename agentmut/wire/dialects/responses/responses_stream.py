"""OpenAI Responses as a stream of events: the plain reply read from it, and the stream written."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from agentmut.nouns import Body, ModelReply
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.reading import ended_early
from agentmut.wire.dialects.responses.responses_replies import encode, text_part, written_items
from agentmut.wire.dialects.sse import halves, words

ENDS = ("response.completed", "response.incomplete", "response.failed")


def assembled(body: bytes) -> Mapping[str, Any]:
    """Return the plain reply that a complete stream ends with.

    Some servers leave its output out there: then it is what came before. Raises `ValueError` when the stream is
    cut off or reports an error.
    """
    came: list[Any] = []
    began = False
    for value in sse.json_events(body):
        event = bodies.mapping(value, "an event")
        kind = event.get("type")
        if kind == "error" or event.get("error") is not None:
            raise ValueError(f"the service ended its stream with an error: {dict(event)!r:.200}")
        began = began or str(kind).startswith("response.")
        if kind == "response.output_item.done":
            came.append(event.get("item"))
        if kind in ENDS:
            reply = bodies.mapping(event.get("response"), f"{kind}.response")
            return reply if reply.get("output") else {**reply, "output": came}
    raise ended_early("response.completed", began)


def events(reply: ModelReply, reply_id: str) -> Iterator[tuple[str, Any]]:
    """Yield the events of a reply by name: its beginning, each item in pieces, and the end with the whole reply."""
    numbers = count()
    for event in _events(reply, reply_id):
        yield event["type"], {"type": event["type"], "sequence_number": next(numbers), **event}


def _events(reply: ModelReply, reply_id: str) -> Iterator[Body]:
    begun = encode(reply, reply_id, status="in_progress")
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(written_items(reply, reply_id)):
        is_message = item["type"] == "message"
        opened: Body = {"content": []} if is_message else {"arguments": ""}
        opened = {**item, "status": "in_progress", **opened}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        place = {"item_id": item["id"], "output_index": index}
        yield from _text_events(reply.text, place) if is_message else _arguments(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    whole = encode(reply, reply_id)
    yield {"type": f"response.{whole['status']}", "response": whole}


def _text_events(text: str, item: Body) -> Iterator[Body]:
    place = {**item, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": text_part("")}
    for word in words(text):
        yield {"type": "response.output_text.delta", **place, "delta": word, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": text_part(text)}


def _arguments(item: Body, place: Body) -> Iterator[Body]:
    for piece in halves(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    kind = "response.function_call_arguments.done"
    yield {"type": kind, **place, "name": item["name"], "arguments": item["arguments"]}
