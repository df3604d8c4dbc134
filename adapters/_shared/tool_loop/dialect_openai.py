"""The tool loop's side of OpenAI's two APIs, Chat Completions and Responses."""

from collections.abc import Sequence
from typing import Any, ClassVar

from agentmut.adapters._shared.tool_loop.dialect import (
    Answer,
    Body,
    Items,
    ModelDialect,
    StreamCutError,
    body_of,
    plain,
)
from agentmut.nouns import Codec, Message, ModelReply, ModelRequest, Role
from agentmut.wire import ENDS, ChatCompletions, Responses, assembled
from agentmut.wire.dialects import sse


class ChatDialect(ModelDialect):
    """`chat.completions.create`, plain or streamed. The config uses this API's settings, so it refuses none."""

    package: ClassVar[str] = "openai"
    api: ClassVar[str] = "Chat Completions"
    codec: ClassVar[Codec] = ChatCompletions()

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """Return the reply; a streamed reply is assembled from its chunks."""
        body = body_of(self.codec, request)
        options = {**body, "messages": [*body["messages"], *conversation]}
        create = client.chat.completions.create
        if not self._stream:
            return plain(await create(**options))
        async with await create(**options, stream=True, stream_options={"include_usage": True}) as chunks:
            came = [plain(chunk) async for chunk in chunks]
        if not any(choice.get("finish_reason") for chunk in came for choice in chunk.get("choices") or ()):
            raise StreamCutError()
        return assembled(sse.write_events(came))

    def reply_items(self, came: Body, reply: ModelReply) -> Items:
        """Return a message to send back, without the fields that only the service writes."""
        message = Message(role=Role.ASSISTANT, text=reply.text, tool_calls=reply.tool_calls)
        said: Items = body_of(self.codec, ModelRequest(model="any", messages=(message,)))["messages"]
        return said

    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return a message for each call."""
        return [{"role": "tool", "tool_call_id": a.call.id, "content": a.text} for a in answers]


_ENDED = frozenset({"stop", "tool_calls"})


class ResponseFailedError(RuntimeError):
    """The service accepted the request and then failed."""


class ResponsesDialect(ModelDialect):
    """`responses.create`, plain or streamed; each request has the whole conversation, and the service keeps none.

    It has no seed and no stop sequences.
    """

    package: ClassVar[str] = "openai"
    api: ClassVar[str] = "Responses"
    codec: ClassVar[Codec] = Responses()

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """Return the reply, which a stream has at its end. Raise `ResponseFailedError`."""
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

    def reply_items(self, came: Body, reply: ModelReply) -> Items:
        """Return the items of the reply, thoughts included."""
        return list(came["output"])

    def cut(self, came: Body, reply: ModelReply) -> str:
        """Return why the reply was cut, in the service's own word if it is an unusual one."""
        return super().cut(came, reply) or ("" if reply.finish_reason in _ENDED else reply.finish_reason)

    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return an item for each call."""
        return [{"type": "function_call_output", "call_id": a.call.id, "output": a.text} for a in answers]


def _done(response: Body) -> Body:
    if response.get("status") == "failed":
        error = response.get("error")
        raise ResponseFailedError(
            f"{error.get('code')}: {error.get('message')}" if error else "the response failed"
        )
    return response
