"""The dialects that are known, and which one a request speaks."""

from agentmut.wire.codec import Codec
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.dialects.converse.converse import Converse
from agentmut.wire.dialects.gemini.gemini import Gemini
from agentmut.wire.dialects.responses.responses import Responses

CODECS: tuple[Codec, ...] = (ChatCompletions(), Responses(), AnthropicMessages(), Gemini(), Converse())


def codec_for(path: str) -> Codec | None:
    """The codec of a request to this URL path; None where it is no request to a model."""
    return next((codec for codec in CODECS if codec.matches(path)), None)
