"""The tool loop's side of Bedrock Converse."""

import base64
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, ClassVar

from agentmut.adapters._shared.boto3 import Boto3, hung_up
from agentmut.adapters._shared.tool_loop.dialect import (
    Answer,
    Body,
    Items,
    ModelDialect,
    Reply,
    StreamCutError,
    body_of,
)
from agentmut.nouns import AgentConfig, Codec, ModelReply, ModelRequest
from agentmut.recording import KeptThreads
from agentmut.wire import Converse
from agentmut.wire.dialects import aws_event_stream
from agentmut.wire.dialects.converse import converse_stream

_CUT = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "the context window is full",
    "guardrail_intervened": "a guardrail intervened",
    "content_filtered": "content filter",
    "malformed_model_output": "the service could not read what the model wrote",
    "malformed_tool_use": "the service could not read the call that the model wrote",
}


class ConverseDialect(ModelDialect):
    """`converse`, or `converse_stream`; boto3 blocks, so each call runs in a thread.

    It has no seed, and no way to say that no tool may be called.
    """

    package: ClassVar[str] = "boto3"
    api: ClassVar[str] = "Bedrock Converse"
    codec: ClassVar[Codec] = Converse()

    def __init__(self, *, stream: bool = False, region: str | None = None) -> None:
        super().__init__(stream=stream)
        self._boto3 = Boto3("bedrock-runtime", region)
        self._threads = KeptThreads()

    def client(self) -> AbstractAsyncContextManager[Any]:
        """Return the client; boto3 finds address, region and credentials. Raise `AdapterError`."""
        return nullcontext(self._boto3.client())

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """Make one model call. The service does not report which model answered."""
        reply = await super().ask(client, config, conversation)
        return reply._replace(model=reply.model or config.model.name)

    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """Return the reply; a streamed reply is assembled from its events."""
        body = {
            **body_of(self.codec, request),
            "modelId": request.model,
            "messages": list(map(_sent, conversation)),
        }
        call = _streamed if self._stream else _reply_body
        came: Body = await self._threads.run(call, client, body)
        return came

    def reply_items(self, came: Body, reply: ModelReply) -> Items:
        """Return the message of the reply, with its reasoning and signatures."""
        message = came["output"]["message"]
        content = [block for block in message["content"] if not _is_blank(block)]
        return [{**message, "content": content}] if content else []

    def cut(self, came: Body, reply: ModelReply) -> str:
        """Return why the reply was cut, in the service's more exact words."""
        return _CUT.get(came.get("stopReason") or "", "")

    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return one user message with all results."""
        return [{"role": "user", "content": [_result(answer) for answer in answers]}] if answers else []


def _reply_body(client: Any, body: Body) -> Body:
    came = dict(client.converse(**body))
    came.pop("ResponseMetadata", None)
    return dict(_written(came))


def _streamed(client: Any, body: Body) -> Body:
    events = client.converse_stream(**body)["stream"]
    with hung_up(events):
        stream = b"".join(_frames(events))
    try:
        return converse_stream.read(stream)
    except ValueError as error:
        raise StreamCutError() from error


def _frames(events: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    for event in events:
        yield from (aws_event_stream.event(kind, _written(payload)) for kind, payload in event.items())


def _written(value: Any) -> Any:
    """Return a value read by botocore as JSON: bytes become base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {key: _written(inner) for key, inner in value.items()}
    return [_written(inner) for inner in value] if isinstance(value, list) else value


def _sent(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message in the form for boto3: text becomes a block, and base64 becomes bytes."""
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": [{"text": content}]}
    return {**message, "content": list(map(_with_bytes, content))}


def _is_blank(block: dict[str, Any]) -> bool:
    """Return whether a block's text is blank: models send such blocks, but the service refuses them in requests."""
    return isinstance(block.get("text"), str) and not block["text"].strip()


def _with_bytes(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block of a model's answer; the input of a call that was cut off is no object."""
    if isinstance(use := block.get("toolUse"), dict):
        return block if isinstance(use.get("input"), dict) else {"toolUse": {**use, "input": {}}}
    return {key: _read(value) for key, value in block.items()}


def _read(value: Any) -> Any:
    """Return the opposite of `_written`, by the names of what botocore gives as bytes."""
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(inner) if key in _BYTES and isinstance(inner, str) else _read(inner)
        for key, inner in value.items()
    }


_BYTES = frozenset({"bytes", "redactedContent"})


def _result(answer: Answer) -> dict[str, Any]:
    status = {"status": "error"} if answer.failed else {}
    content = [{"text": answer.text}] if answer.text else []
    return {"toolResult": {"toolUseId": answer.call.id, "content": content, **status}}
