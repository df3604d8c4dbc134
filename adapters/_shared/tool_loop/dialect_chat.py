"""The tool loop's side of OpenAI Chat Completions."""

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
from agentmut.nouns import Codec, Message, ModelReply, ModelRequest, Role
from agentmut.wire import ChatCompletions, assembled
from agentmut.wire.dialects import sse


class ChatDialect(Dialect):
    """`chat.completions.create`, plain or streamed. The config's settings are in its terms: it refuses none."""

    package: ClassVar[str] = "openai"
    api: ClassVar[str] = "Chat Completions"
    codec: ClassVar[Codec] = ChatCompletions()

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """The reply, put together from its chunks where it is streamed."""
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

    def said(self, came: Body, reply: ModelReply) -> Items:
        """Return a message to send back, without the fields that only the service writes."""
        message = Message(role=Role.ASSISTANT, text=reply.text, tool_calls=reply.tool_calls)
        said: Items = body_of(self.codec, ModelRequest(model="any", messages=(message,)))["messages"]
        return said

    def answered(self, answers: Sequence[Answer]) -> Items:
        """A message for each call."""
        return [{"role": "tool", "tool_call_id": a.call.id, "content": a.text} for a in answers]
