"""Whether a codec reads what it writes: requests, replies plain and streamed, errors."""

from collections.abc import Iterator

from agentmut.conformance.codecs.codec_probe import Fault, Probe, alike, differences
from agentmut.conformance.codecs.codec_samples import REPLIES
from agentmut.nouns import HttpCall, ModelReply, ModelRequest


def request_faults(probe: Probe, name: str, request: ModelRequest) -> Iterator[Fault]:
    """Yield a request that is not the same when it is written and read."""
    call = probe("encode_request", request)
    if not (isinstance(call, HttpCall) and isinstance(call.path, str) and isinstance(call.body, bytes)):
        yield Fault("encode_request", f"it must give an HttpCall of text and bytes, but gave {call!r:.80}")
        return
    if not probe("matches", call.path):
        yield Fault("matches", f"it does not know {call.path}, the path that encode_request gives")
    for path in (f"/prefix{call.path}", call.path + ("&" if "?" in call.path else "?") + "more=1"):
        if not probe("matches", path):
            yield Fault("matches", f"it does not know {path}: prefixes and queries belong to carriers")
    found = alike(probe("decode_request", call))
    if difference := differences(found, alike(request)):
        yield Fault(name, f"decode_request(encode_request(...)) is another request: {difference}")


def path_faults(probe: Probe) -> Iterator[Fault]:
    """Yield paths of others that a codec takes for its own."""
    for path in ("/", "/v1/models", "/health", "/v1/embeddings"):
        if probe("matches", path):
            yield Fault("matches", f"it takes {path} for a request to a model")


def reply_faults(probe: Probe, name: str, reply: ModelReply) -> Iterator[Fault]:
    """Yield a reply that is not the same when it is written and read, plain and streamed."""
    for stream in (False, True):
        how = "streamed" if stream else "plain"
        body = probe("encode_reply", reply, reply_id="r-1", stream=stream)
        found = alike(probe("decode_reply", body))
        if found.model != reply.model:
            yield Fault("model of a reply", f"{how}, it is {found.model!r:.80}, expected {reply.model!r}")
        if difference := differences(found, alike(reply.model_copy(update={"model": found.model}))):
            yield Fault(name, f"{how}, decode_reply(encode_reply(...)) is another reply: {difference}")
        kind = probe("content_type", stream=stream)
        if not (isinstance(kind, str) and "/" in kind):
            yield Fault("content_type", f"it must give a media type, but gave {kind!r:.80}")


def error_faults(probe: Probe) -> Iterator[Fault]:
    """Yield errors and replies that were cut off, when they are taken for replies."""
    try:
        found = probe.raw("decode_reply", probe("encode_error", 500, "went wrong", "server_error"))
        yield Fault("decode_reply", f"it takes an error for a reply: {found!r:.120}")
    except ValueError:
        pass
    except Exception as error:
        yield Fault("decode_reply", f"it raises {error!r:.120} for an error; expected ValueError")
    reply = REPLIES["a reply that calls"]
    body = probe("encode_reply", reply, reply_id="r-1", stream=True)
    whole = probe("decode_reply", body)
    for place in range(0, len(body), max(1, len(body) // 60)):
        if fault := _cut_fault(probe, body[:place], whole):
            yield Fault("decode_reply", f"of {place} of {len(body)} bytes of a stream {fault}")
            return


def _cut_fault(probe: Probe, body: bytes, whole: ModelReply) -> str:
    try:
        found = probe.raw("decode_reply", body)
    except ValueError:
        return ""
    except Exception as error:
        return f"it raises {error!r:.120}; expected ValueError"
    return "" if alike(found) == alike(whole) else f"it makes a whole reply, which is another: {found!r:.200}"
