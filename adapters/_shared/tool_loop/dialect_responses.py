"""The tool loop's side of OpenAI Responses."""

from collections.abc import Sequence
from typing import Any, ClassVar

from agentmut.adapters._shared.tool_loop.dialect import (
    Answer,
    Body,
    Dialect,
    Items,
    StreamCutError,
    body_of,
    plain,
)
from agentmut.nouns import Codec, ModelReply, ModelRequest
from agentmut.wire import ENDS, Responses

_ENDED = frozenset({"stop", "tool_calls"})


class ResponseFailedError(RuntimeError):
    """The service accepted the request and gave up on it."""


class ResponsesDialect(Dialect):
    """`responses.create`, plain or streamed; the conversation is sent whole, and none is kept by the service.

    It has no seed and no stop sequences.
    """

    package: ClassVar[str] = "openai"
    api: ClassVar[str] = "Responses"
    codec: ClassVar[Codec] = Responses()

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """The reply, the one at the end of a stream. Raises `ResponseFailedError`."""
        options = {**body_of(self.codec, request), "input": conversation}
        if not self._stream:
            return _done(plain(await client.responses.create(**options)))
        final = None
        async with await client.responses.create(**options, stream=True) as events:
            async for event in events:
                if event.type == "error":
                    raise ResponseFailedError(event.message)
                final = event.response if event.type in ENDS else final
        if final is None:
            raise StreamCutError()
        return _done(plain(final))

    def said(self, came: Body, reply: ModelReply) -> Items:
        """The items of the reply, thoughts included."""
        return list(came["output"])

    def cut(self, came: Body, reply: ModelReply) -> str:
        """The service's own word where it is not one of the usual reasons."""
        return super().cut(came, reply) or ("" if reply.finish_reason in _ENDED else reply.finish_reason)

    def answered(self, answers: Sequence[Answer]) -> Items:
        """An item for each call."""
        return [{"type": "function_call_output", "call_id": a.call.id, "output": a.text} for a in answers]


def _done(response: Body) -> Body:
    if response.get("status") == "failed":
        error = response.get("error")
        raise ResponseFailedError(
            f"{error.get('code')}: {error.get('message')}" if error else "the response failed"
        )
    return response
