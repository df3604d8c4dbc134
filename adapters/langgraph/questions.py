"""Graphs that ask with `interrupt()`: the question is the answer to a turn, and the next turn is the reply to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from agentmut._base import AdapterError, jsonable


def questions(state: Any) -> Sequence[Any]:
    """What a run has stopped to ask; empty where it has come to its end."""
    return state.get("__interrupt__") or () if isinstance(state, Mapping) else ()


def as_output(asked: Sequence[Any]) -> JsonValue:
    """The question, as the graph put it; a list where it asked several at once."""
    found = [jsonable(question.value) for question in asked]
    return found[0] if len(found) == 1 else found


def reply(asked: Sequence[Any], turn: JsonValue, *, checkpointed: bool) -> Any:
    """What a graph that has asked is given: of a list that is as long as the questions, each its own reply.

    Raises `AdapterError` where nothing keeps the state in which the graph waits.
    """
    from langgraph.types import Command

    if not checkpointed:
        raise AdapterError(
            "the graph asks with interrupt(), but has no checkpointer, so that no further turn can reply to it; "
            "compile it with one, such as langgraph.checkpoint.memory.InMemorySaver()"
        )
    each = isinstance(turn, list) and len(asked) > 1 and len(turn) == len(asked)
    replies = turn if isinstance(turn, list) and each else [turn] * len(asked)
    return Command(resume={question.id: said for question, said in zip(asked, replies, strict=True)})
