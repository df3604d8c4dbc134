"""The OpenAI Responses dialect: requests and replies, plain and streamed.

What the service keeps for itself (earlier turns behind `previous_response_id`, stored prompts) is not in a
request, so it is neither read nor rewritten.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import Body, ModelReply, OfferedTool, Role
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.openai_codec import OpenAICodec, Replies, Requests, Rewriting
from agentmut.wire.dialects.responses import (
    responses_replies,
    responses_requests,
    responses_rewriting,
    responses_stream,
)


class Responses(OpenAICodec):
    """Codec of `POST .../responses`. The dialect has no words for a seed and stop sequences.

    >>> Responses().matches("/t/42/v1/responses?x=1"), Responses().matches("/v1/responses/resp_1")
    (True, False)
    """

    name: ClassVar[str] = "responses"
    endpoint: ClassVar[str] = "/responses"
    _requests: ClassVar[Requests] = responses_requests
    _replies: ClassVar[Replies] = responses_replies
    _rewriting: ClassVar[Rewriting] = responses_rewriting

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """List the tools on offer."""
        return responses_requests.offers(body)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return who speaks in each item of the input; nobody where it is one text."""
        found = enumerate(responses_requests.items(body))
        roles = [responses_requests.role_of(item, f"input[{index}]") for index, item in found]
        return ("input", roles) if isinstance(body.get("input"), list) else ("", ())

    def _assembled(self, stream: bytes) -> Mapping[str, Any]:
        return responses_stream.assembled(stream)

    def _streamed(self, reply: ModelReply, reply_id: str) -> bytes:
        return sse.write_named_events(responses_stream.events(reply, reply_id))
