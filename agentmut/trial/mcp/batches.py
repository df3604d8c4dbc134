"""Several messages in one, as protocol version 2025-03-26 allows them: each goes its way, and replies come as one."""

from collections.abc import Iterator
from typing import Any

from agentmut.trial.mcp.messages import Message, is_request, written


class Batch:
    """The requests of a batch that have no reply yet, and the replies that there are."""

    def __init__(self, waiting: set[Any]) -> None:
        self.waiting = waiting
        self.replies: list[Message] = []

    @classmethod
    def of(cls, messages: list[Any]) -> "list[Batch]":
        """One that waits, or none where nothing of it is a request."""
        numbers = {message["id"] for message in messages if is_request(message)}
        return [cls(numbers)] if numbers else []

    def complete_with(self, number: Any, reply: Message | None) -> bool:
        """Whether no reply is missing any more; None where there will be none."""
        self.waiting.discard(number)
        self.replies += [] if reply is None else [reply]
        return not self.waiting


def each_of(message: Any, raw: bytes) -> Iterator[tuple[Any, bytes]]:
    """The messages of one, and how each is sent.

    >>> list(each_of([{"id": 1}, {"id": 2}], b""))
    [({'id': 1}, b'{"id":1}'), ({'id': 2}, b'{"id":2}')]
    """
    if isinstance(message, list) and message:
        yield from ((one, written(one)) for one in message)
    else:
        yield message, raw
