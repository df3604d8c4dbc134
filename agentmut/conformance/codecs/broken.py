"""Whether a codec refuses what it cannot read, in the one way that carriers expect."""

from collections.abc import Iterator
from typing import Any

from agentmut._base import one_line
from agentmut.conformance.codecs.codec_probe import Fault, Probe, parsed, written
from agentmut.nouns import HttpCall
from agentmut.wire import all_places, with_values, without
from agentmut.wire.bodies import read_json, write_json

_DEEP: Any = {"a": [{"b": [{"c": [[[{}]]]}]}]}
JUNK: tuple[Any, ...] = (None, -1, "\ud800", [None], {}, {"type": []}, [[{"text": 1}]], _DEEP)
BYTES = (b"", b"\xff", b"null", b"[]", b"{}", b"{", b"[" * 100_000, b'"\xff"', b"data: \n\n", b"data: {}\n\n")


def broken_faults(probe: Probe, call: HttpCall, reply: bytes) -> Iterator[Fault]:
    """Yield errors other than `ValueError`, and silent changes, where one part of a body is junk."""
    for data in BYTES:
        yield from _refused(probe, "decode_request", HttpCall(call.path, data))
        yield from _refused(probe, "decode_reply", data)
        yield from _refused(probe, "continued", parsed(call), data, {})
    for body in _broken(parsed(call)):
        yield from _refused(probe, "decode_request", HttpCall(call.path, write_json(body)))
        for method in ("texts", "tools", "roles"):
            yield from _refused(probe, method, body)
        yield from _refused(probe, "with_setting", call, body, "temperature", 0.5)
        yield from _refused(probe, "with_tools", body, [])
        yield from _refused(probe, "continued", body, reply, {"call_1": "x"})
        yield from _refused(probe, "with_texts", body, {}, same=body)
        yield from _refused(probe, "with_tool_names", body, str, same=body)
    for body in _broken(read_json(reply)):
        yield from _refused(probe, "decode_reply", write_json(body))
        yield from _refused(probe, "continued", parsed(call), write_json(body), {"call_1": "x"})
        yield from _refused(probe, "reply_with_tool_names", body, str, same=body)


def broken_stream_faults(probe: Probe, stream: bytes) -> Iterator[Fault]:
    """Yield errors other than `ValueError` where a byte of a stream is another."""
    for place in range(0, len(stream), max(1, len(stream) // 25)):
        for byte in (b"\xff", b"\n", b"{", b""):
            broken = stream[:place] + byte + stream[place + 1 :]
            yield from _refused(probe, "decode_reply", broken)
            framing = probe("framing")
            try:
                raws = [frame.raw for frame in framing.feed(broken)]
            except Exception as error:
                yield Fault("framing", f"a broken stream raises {one_line(error):.200}: it must pass")
                return
            if b"".join(raws) + framing.rest() != broken:
                yield Fault("framing", "the frames of a broken stream joined are not the stream")


def _broken(body: Any) -> Iterator[Any]:
    """Yield the body with junk in one of its places, or without it."""
    for path in all_places(body):
        yield without(body, path)
        for junk in JUNK:
            yield with_values(body, {path: junk})


_ANYTHING = object()


def _refused(probe: Probe, method: str, *arguments: Any, same: Any = _ANYTHING) -> Iterator[Fault]:
    try:
        found = probe.raw(method, *arguments)
    except ValueError:
        return
    except Exception as error:
        yield Fault("broken bodies", f"{method}() raises {one_line(error):.120}; expected ValueError")
    else:
        if same is not _ANYTHING and written(found) != written(same):
            yield Fault("broken bodies", f"{method}() changes one although nothing was to be changed")
