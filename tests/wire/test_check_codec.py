"""The conformance kit for codecs: sound ones pass, and each planted fault is found."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agentmut.conformance.codecs.codec_checks import codec_faults
from agentmut.nouns.codec import Codec, HttpCall
from agentmut.testing import check_codec
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from tests.wire.faulty_codecs import (
    AnyPath,
    ByLines,
    ChangesFirstTextOnly,
    CrashesOnOddRoles,
    CutsFieldsOff,
    DropsCalls,
    ForgetsResults,
    ForgetsTheModel,
    ForgetsWhoseResult,
    GoesOnWithoutResults,
    GoesOnWithPlainRepliesOnly,
    KeepsChoice,
    KeepsEmptied,
    KeepsNamesOfChoice,
    Loses,
    MapsFirstCallOnly,
    MapsPlainRepliesOnly,
    NeedsMessages,
    NeverTakesOut,
    NoFraming,
    NoPrefix,
    NoSeed,
    OneSpeaker,
    OtherParameters,
    OtherPlaces,
    RenamesOffers,
    SameForPython,
    SetsMore,
    SetsNothing,
    Sorts,
    TakesCutStreams,
    TakesErrors,
    Unnamed,
    Waits,
    WritesAlways,
    WritesIntoTheBody,
    WritesIntoTheReply,
    WritesNever,
    WritesToolsAnew,
    framed,
)

NO_SEED = {"seed": "it has no seed"}
NAMELESS = {"response_format with a schema": "it has no name of a schema, or always holds to it"}
NOT_ANY_JSON = {"response_format": "it has no JSON without a schema"}
CANNOT_SAY: Mapping[str, Mapping[str, str]] = {
    "responses": {**NO_SEED, "stop": "it has no stop sequences"},
    "anthropic_messages": {**NO_SEED, **NAMELESS, **NOT_ANY_JSON},
    "gemini": NAMELESS,
    "converse": {
        **NO_SEED,
        **NAMELESS,
        **NOT_ANY_JSON,
        "tool_choice none": "it has auto, any and one tool",
        "model of a reply": "its replies name no model",
    },
    "ollama_chat": {
        **NAMELESS,
        **dict.fromkeys(
            ("tool_choice", "tool_choice auto", "tool_choice none", "tool_choice of one tool"),
            "it has no choice of tools",
        ),
    },
}
REQUEST = HttpCall(
    "/v1/chat/completions",
    json.dumps(
        {
            "user": "u-1",
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "Be kind.", "cache_control": {}}]},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            ],
            "model": "m",
        }
    ).encode(),
)


@pytest.mark.parametrize("codec", all_codecs(), ids=lambda codec: codec.name)
def test_every_codec_of_agentmut_is_sound(codec: Codec) -> None:
    check_codec(codec, except_for=CANNOT_SAY.get(codec.name, {}))


def test_requests_and_replies_of_a_service_are_tried_too() -> None:
    plain = b'{"model": "m", "choices": [{"message": {"content": "Hi.", "own": 1}, "finish_reason": "stop"}]}'
    stream = (
        b'data: {"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    )
    check_codec(ChatCompletions(), REQUEST, plain, stream)
    with pytest.raises(AssertionError, match="decode_reply: decode_reply\\(\\) raised ValueError"):
        check_codec(ChatCompletions(), b"no reply")


def test_what_a_dialect_cannot_say_is_named_with_a_reason() -> None:
    with pytest.raises(AssertionError, match="seed: decode_request"):
        check_codec(NoSeed())
    check_codec(NoSeed(), except_for={"seed": "there is none"})
    with pytest.raises(AssertionError, match="seed: except_for must say why"):
        check_codec(NoSeed(), except_for={"seed": " "})
    with pytest.raises(AssertionError, match="stop: it was to fail \\(why\\), but holds"):
        check_codec(ChatCompletions(), except_for={"stop": "why"})


@pytest.mark.parametrize(
    ("codec", "check", "problem"),
    [
        (Unnamed, "signature", "method decode_request() is missing"),
        (NoFraming, "signature", "framing"),
        (OtherParameters, "signature", "with_texts() has no parameter 'texts'"),
        (AnyPath, "matches", "it takes / for a request to a model"),
        (NoPrefix, "matches", "prefixes and queries"),
        (NoSeed, "seed", "seed is None, expected 3"),
        (DropsCalls, "a reply with parallel calls", "is another reply: tool_calls is"),
        (TakesErrors, "decode_reply", "it takes an error for a reply"),
        (TakesCutStreams, "decode_reply", "of a stream it makes a whole reply"),
        (Sorts, "with_texts", "with nothing to change it gives another body"),
        (WritesIntoTheBody, "arguments", "with_tools() changed what it was given"),
        (WritesIntoTheReply, "arguments", "reply_with_tool_names() changed what it was given"),
        (ForgetsResults, "texts", "there is no text 'rain' of the tool"),
        (ForgetsWhoseResult, "texts", "does not say that it is this tool's"),
        (OtherPlaces, "texts", "is not what stands at"),
        (ChangesFirstTextOnly, "with_texts", "does not change that text alone"),
        (KeepsEmptied, "with_texts", "cannot be emptied"),
        (WritesToolsAnew, "unknown fields", "with_tools() drops them"),
        (SameForPython, "with_tools", "with true for 1"),
        (KeepsChoice, "with_tools", "with no tool left"),
        (KeepsNamesOfChoice, "with_tool_names", "tool_choice is"),
        (RenamesOffers, "with_tool_names", "it changes the tools on offer"),
        (SetsNothing, "with_setting of top_p", "with 0.25: top_p is None"),
        (SetsMore, "with_setting of top_p", "seed is 1, expected None"),
        (NeverTakesOut, "with_setting of temperature", "taken out: temperature is 0.5"),
        (OneSpeaker, "roles", "but decode_request finds"),
        (GoesOnWithPlainRepliesOnly, "continued", "streamed: messages is"),
        (GoesOnWithoutResults, "continued", "plain: messages is"),
        (MapsPlainRepliesOnly, "reply_with_tool_names", "streamed, it gives another reply"),
        (MapsFirstCallOnly, "reply_with_tool_names", "plain, it gives another reply"),
        (CutsFieldsOff, "unknown fields", "with_tool_names() drops them"),
        (CrashesOnOddRoles, "broken bodies", "roles() raises TypeError"),
        (NeedsMessages, "broken bodies", "with_setting() raises KeyError"),
        (ForgetsTheModel, "model of a reply", "streamed, it is ''"),
        (framed(ByLines), "framing", "no frame of a stream has a value"),
        (framed(Loses), "framing", "the frames joined are not the stream"),
        (framed(Waits), "framing", "held back until the stream ends"),
        (framed(WritesAlways), "framing", "with its own value is not the frame"),
        (framed(WritesNever), "framing", "no frame with that value"),
    ],
    ids=lambda part: part.__name__ if isinstance(part, type) else None,
)
def test_a_planted_fault_is_found(codec: Any, check: str, problem: str) -> None:
    found = (fault.problem for fault in codec_faults(codec(), ()) if fault.check == check)
    assert any(problem in fault for fault in found)


class Padded(ChatCompletions):
    def with_texts(self, body: Any, texts: Any) -> Any:
        return {**super().with_texts(body, texts), "padding": 1}


def test_a_fault_that_every_request_shows_is_told_once() -> None:
    with pytest.raises(AssertionError) as found:
        check_codec(Padded(), REQUEST)
    lines = [line for line in str(found.value).split("\n- ") if "gives another body" in line]
    assert len(lines) == 1
    assert "no instructions" in lines[0] and "sample 1" in lines[0] and "more like it" in lines[0]
