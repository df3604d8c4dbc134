"""Whether a codec cuts streams into frames without loss, and maps names in each of them."""

from collections.abc import Iterator
from typing import Any

from agentmut.conformance.codecs.codec_probe import Fault, Probe, alike, differences, written
from agentmut.conformance.codecs.codec_samples import REPLIES
from agentmut.nouns import Frame, ModelReply
from agentmut.wire.bodies import read_json, write_json

_FOREIGN: tuple[Any, ...] = (None, True, 0, "text", [], {}, [{}], {"error": {"message": "no"}}, {"type": 3})


def framing_faults(probe: Probe, stream: bytes, whole: bool = True) -> Iterator[Fault]:
    """Yield what goes wrong when a stream comes in pieces; `whole` says that it ends with its last frame."""
    frames, rest = _frames(probe, [stream])
    if whole and not any(frame.value is not None for frame in frames):
        yield Fault("framing", "no frame of a stream has a value, so names cannot be mapped back")
    if whole and rest:
        yield Fault("framing", f"of a complete stream {rest!r:.60} is left over")
    for size in (1, 2, 7, 64, len(stream) or 1):
        cut, left = _frames(probe, [stream[at : at + size] for at in range(0, len(stream), size)])
        if b"".join(frame.raw for frame in cut) + left != stream:
            yield Fault("framing", f"in pieces of {size} bytes, the frames joined are not the stream")
        elif written([f.value for f in cut]) != written([f.value for f in frames]):
            yield Fault(
                "framing", f"in pieces of {size} bytes, the frames have other values than in one piece"
            )
    if len(frames) > 1 and len(_frames(probe, [stream[:-1]])[0]) < len(frames) - 1:
        yield Fault("framing", "frames that are complete are held back until the stream ends")
    yield from _written_faults(probe, frames)


def _written_faults(probe: Probe, frames: list[Frame]) -> Iterator[Fault]:
    framing = probe("framing")
    for frame in frames:
        if frame.value is not None and framing.written(frame, frame.value) != frame.raw:
            yield Fault("framing", "written() of a frame with its own value is not the frame")
            return
    for frame in frames:
        if isinstance(frame.value, dict):
            value = {**frame.value, "x_unknown": [1, True]}
            again, rest = _frames(probe, [framing.written(frame, value)])
            if rest or len(again) != 1 or written(again[0].value) != written(value):
                yield Fault("framing", "written() of a frame with another value is no frame with that value")
                return


def _frames(probe: Probe, pieces: list[bytes]) -> tuple[list[Frame], bytes]:
    framing = probe("framing")
    return [frame for piece in pieces for frame in framing.feed(piece)], framing.rest()


def reply_name_faults(probe: Probe) -> Iterator[Fault]:
    """Yield faults of renamed tools: names that are not mapped back, plain or streamed, and other changes."""
    for reply in REPLIES.values():
        for stream in (False, True):
            body = probe("encode_reply", reply, reply_id="r-1", stream=stream)
            found = alike(probe("decode_reply", body))
            calls = [call.model_copy(update={"name": f"own_{call.name}"}) for call in found.tool_calls]
            expected = found.model_copy(update={"tool_calls": tuple(calls)})
            yield from _mapped_faults(probe, body, expected, stream=stream)
    for value in _FOREIGN:
        found = probe("reply_with_tool_names", value, str.upper)
        if written(found) != written(value):
            yield Fault(
                "reply_with_tool_names", f"it makes {found!r:.80} of {value!r:.80}, which names no tool"
            )


def _mapped_faults(probe: Probe, body: bytes, expected: ModelReply, *, stream: bool) -> Iterator[Fault]:
    how = "streamed" if stream else "plain"
    frames = _frames(probe, [body])[0] if stream else [Frame(body, read_json(body))]
    framing, mapped = probe("framing"), []
    for frame in frames:
        there = probe("reply_with_tool_names", frame.value, _own)
        back = probe("reply_with_tool_names", there, _back)
        same = probe("reply_with_tool_names", frame.value, str)
        if not written(back) == written(same) == written(frame.value):
            yield Fault("reply_with_tool_names", f"{how}, names mapped there and back are another reply")
        mapped.append(framing.written(frame, there) if stream else write_json(there))
    if difference := differences(alike(probe("decode_reply", b"".join(mapped))), expected):
        yield Fault(
            "reply_with_tool_names", f"{how}, it gives another reply than that with other names: {difference}"
        )
    if expected.tool_calls and b'"get_weather"' in b"".join(mapped):
        yield Fault("reply_with_tool_names", f"{how}, the old name of a tool is still in the reply")


def reply_sample_faults(probe: Probe, body: bytes) -> Iterator[Fault]:
    """Yield what goes wrong with a reply of the service itself."""
    probe("decode_reply", body)
    try:
        value = read_json(body)
    except ValueError:
        yield from framing_faults(probe, body, False)
        return
    back = probe("reply_with_tool_names", probe("reply_with_tool_names", value, _own), _back)
    if written(back) != written(value):
        yield Fault("reply_with_tool_names", "names mapped there and back are another reply")


def _own(name: str) -> str:
    return f"own_{name}"


def _back(name: str) -> str:
    return name.removeprefix("own_")
