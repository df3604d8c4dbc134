"""The tool loop's side of Anthropic Messages."""

from collections.abc import Sequence
from typing import Any, ClassVar

from agentmut.adapters._shared.tool_loop.dialect import (
    Answer,
    Body,
    Items,
    ModelDialect,
    StreamCutError,
    arguments_of,
    body_of,
    plain,
)
from agentmut.nouns import Codec, ModelConfig, ModelReply, ModelRequest
from agentmut.wire import AnthropicMessages

MAX_TOKENS = 1024
"""The most tokens of an answer where the config says nothing: the service must be told some number."""
HOTTEST = 1.0
_CUT = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "the context window is full",
    "refusal": "the model refused",
}


class MessagesDialect(ModelDialect):
    """`messages.create`, plain or streamed.

    It has no seed, no JSON without a schema, no efforts below low, and no temperatures above 1.
    """

    package: ClassVar[str] = "anthropic"
    api: ClassVar[str] = "Anthropic Messages"
    codec: ClassVar[Codec] = AnthropicMessages()

    def refuses(self, model: ModelConfig) -> str:
        """Return a temperature that is too high as well."""
        if model.temperature is not None and model.temperature > HOTTEST:
            return f"the {self.api} API takes temperatures up to {HOTTEST:g}, not {model.temperature:g}"
        return super().refuses(model.model_copy(update={"max_tokens": model.max_tokens or MAX_TOKENS}))

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """Return the reply; the SDK assembles a streamed reply."""
        complete = request.model_copy(update={"max_tokens": request.max_tokens or MAX_TOKENS})
        body = {**body_of(self.codec, complete), "messages": conversation}
        options = arguments_of(client.messages.create, body)
        if not self._stream:
            return plain(await client.messages.create(**options))
        async with client.messages.stream(**options) as stream:
            message = await stream.get_final_message()
        if message.stop_reason is None:
            raise StreamCutError()
        return plain(message)

    def reply_items(self, came: Body, reply: ModelReply) -> Items:
        """Return the blocks of the reply, thoughts included."""
        return [{"role": "assistant", "content": came["content"]}] if came["content"] else []

    def cut(self, came: Body, reply: ModelReply) -> str:
        """Return why the reply was cut, in the service's more exact words."""
        return _CUT.get(came.get("stop_reason") or "", "")

    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return one user message with all results."""
        return [{"role": "user", "content": [_result(answer) for answer in answers]}] if answers else []


def _result(answer: Answer) -> dict[str, Any]:
    failed = {"is_error": True} if answer.failed else {}
    return {"type": "tool_result", "tool_use_id": answer.call.id, "content": answer.text, **failed}
