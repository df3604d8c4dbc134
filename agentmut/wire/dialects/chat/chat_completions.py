"""The OpenAI Chat Completions dialect: requests and replies, plain and streamed.

Only the parts that `agentmut.nouns.messages` names are read; a request's other fields pass unseen.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import Body, ModelReply, OfferedTool, Role
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.chat import chat_replies, chat_requests, chat_rewriting, chat_stream
from agentmut.wire.dialects.openai_codec import OpenAICodec, Replies, Requests, Rewriting


class ChatCompletions(OpenAICodec):
    """Codec of `POST .../chat/completions`, OpenAI's and everybody's who speaks it.

    >>> ChatCompletions().matches("/t/42/v1/chat/completions?api-version=1")
    True
    >>> ChatCompletions().matches("/v1/completions")
    False
    """

    name: ClassVar[str] = "chat_completions"
    endpoint: ClassVar[str] = "/chat/completions"
    _requests: ClassVar[Requests] = chat_requests
    _replies: ClassVar[Replies] = chat_replies
    _rewriting: ClassVar[Rewriting] = chat_rewriting

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """List the tools on offer, also those in the older list `functions`."""
        return [tool for _, tool in chat_requests.offers(body)]

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return who speaks in each message."""
        found = [(f"messages[{i}]", message) for i, message in enumerate(chat_requests.conversation(body))]
        roles = [chat_requests.role_of(bodies.mapping(message, where), where) for where, message in found]
        return "messages", roles

    def _assembled(self, stream: bytes) -> Mapping[str, Any]:
        return chat_stream.assembled(stream)

    def _streamed(self, reply: ModelReply, reply_id: str) -> bytes:
        return sse.write_events(chat_stream.chunks(reply, reply_id))
