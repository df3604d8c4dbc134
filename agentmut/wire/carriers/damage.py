"""What tells a reply that was damaged on its way from one that merely cannot be read here.

A service may answer in ways that a codec does not know: that is nobody's fault, and the agent's client may well
read it. What is no JSON, or an event stream with an event that is none, no client can read.
"""

import json

from agentmut.nouns import Codec
from agentmut.wire.dialects.sse import DONE, MEDIA_TYPE, events, is_event_stream


def damage(codec: Codec, body: bytes, *, complete: bool = True) -> str | None:
    """What is wrong with an accepted reply that `codec` cannot read; None where nothing shows.

    Not `complete`: the agent closed a stream before its end, so that only the events that came can tell.
    """
    if not body.strip():
        return "the reply is empty" if complete else None
    if not _is_broken(body):
        return None
    framing = codec.framing()
    frames = framing.feed(body)
    if is_event_stream(body):
        came = b"".join(frame.raw for frame in frames)
        return "an event of the reply is not JSON" if _has_broken_event(came) else None
    if codec.content_type(stream=True) != MEDIA_TYPE:  # frames of bytes, with checksums
        if any(frame.value is None for frame in frames):
            return "the reply is damaged"
        return "the reply breaks off" if complete and framing.rest() else None
    return "the reply is not JSON" if complete else None


def _has_broken_event(stream: bytes) -> bool:
    try:
        return any(map(_is_broken, events(stream)))
    except UnicodeDecodeError:
        return True


def _is_broken(data: str | bytes) -> bool:
    """Whether no client reads this as JSON; the end mark of a stream is none and is read."""
    if isinstance(data, str) and data.strip() in ("", DONE):
        return False
    try:
        json.loads(data)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False
