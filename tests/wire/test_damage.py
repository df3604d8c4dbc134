"""What was damaged on its way is told from what merely cannot be read."""

import pytest

from agentmut.nouns.codec import Codec
from agentmut.nouns.messages import ModelReply
from agentmut.nouns.trace import Usage
from agentmut.wire.carriers.http_attempt import damage
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

CHAT = ChatCompletions()
REPLY = ModelReply(model="m", text="Hello to you. And you.", usage=Usage(input_tokens=2, output_tokens=5))
HTML = b"<!DOCTYPE html>\n<html>\n\n<body>Away</body></html>"


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_a_page_an_empty_body_and_broken_json_are_damage_in_every_dialect(codec: Codec) -> None:
    assert damage(codec, HTML) is not None
    assert damage(codec, b" \n") == "the reply is empty"
    assert damage(codec, b'{"id": "x", "choices": [{"ind') is not None


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_what_a_codec_writes_is_not_damaged(codec: Codec, stream: bool) -> None:
    body = codec.encode_reply(REPLY, reply_id="r", stream=stream)
    assert damage(codec, body) is None
    for end in range(0, len(body), 7) if stream else ():
        assert damage(codec, body[:end], complete=False) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"some": "reply of another kind"}',
        b"[]",
        b'{"choices": [{"message": {"content": NaN}}]}',  # Python reads it
        b"[" * 100_000 + b"]" * 100_000,
        b'data: {"some": "event"}\n\n',
        b": a comment\n\nevent: ping\n\ndata: [DONE]\n\n",
        b'data: {"choices": []}\n\n',  # no finish_reason, no end mark: some servers do so
    ],
)
def test_a_reply_of_another_kind_is_no_damage(body: bytes) -> None:
    with pytest.raises(ValueError):
        CHAT.decode_reply(body)
    assert damage(CHAT, body) is None


def test_a_stream_that_its_service_ends_within_an_event_is_damage_and_a_missing_last_blank_line_is_none() -> (
    None
):
    body = CHAT.encode_reply(REPLY, reply_id="r", stream=True)
    within = body.index(b"Hello")
    assert damage(CHAT, body[:within]) == "the reply breaks off in an event"
    assert damage(CHAT, body[:within], complete=False) is None
    assert damage(CHAT, b'data: {"choices": []}') is None


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_a_stream_that_lacks_its_last_events_is_cut_off(codec: Codec) -> None:
    """Every whole event is there up to the one that says why the model stopped: no client can tell that from an end."""
    raws = [f.raw for f in codec.framing().feed(codec.encode_reply(REPLY, reply_id="r", stream=True))]
    kept = next(n for n in range(len(raws), 0, -1) if not readable(codec, b"".join(raws[:n])))
    assert kept > 1
    body = b"".join(raws[:kept])
    assert "cut off" in str(damage(codec, body))
    assert damage(codec, body, complete=False) is None
    assert damage(codec, b"".join(raws[: kept + 1])) is None


def readable(codec: Codec, body: bytes) -> bool:
    try:
        codec.decode_reply(body)
    except ValueError:
        return False
    return True


def test_a_stream_that_says_it_is_done_is_whole_without_a_reason() -> None:
    said = b'data: {"choices": [{"index": 0, "delta": {"content": "Hello."}}]}\n\n'
    assert damage(CHAT, said) == "the stream ends before its finish_reason: it was cut off"
    assert damage(CHAT, said + b"data: [DONE]\n\n") is None


def test_an_event_that_is_no_json_is_damage_even_if_the_stream_was_left_there() -> None:
    body = b'data: {"choices": []}\n\ndata: {"choices": [#\n\n'
    assert damage(CHAT, body) == damage(CHAT, body, complete=False) == "an event of the reply is not JSON"
    assert damage(AnthropicMessages(), b"event: message_start\ndata: {#\n\n") is not None
    assert damage(CHAT, body[:-2], complete=False) is None  # the event may go on
    assert damage(CHAT, b"", complete=False) is None
