"""Everything that is wrong with a codec, check by check."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from agentmut.conformance.codecs import rewriting
from agentmut.conformance.codecs.broken import broken_faults, broken_stream_faults
from agentmut.conformance.codecs.codec_probe import Fault, Probe, alike, parsed
from agentmut.conformance.codecs.codec_samples import REPLIES, REQUESTS, SETTINGS, WITH_TOOLS
from agentmut.conformance.codecs.round_trips import error_faults, path_faults, reply_faults, request_faults
from agentmut.conformance.codecs.streams import framing_faults, reply_name_faults, reply_sample_faults
from agentmut.nouns import Codec, HttpCall, ModelRequest
from agentmut.seams import protocol_faults

_VALUES = re.compile(r"[\[({'\"0-9]")
"""Where the value that a fault was seen with begins."""
_OF_EACH = (rewriting.unchanged_faults, rewriting.unknown_faults)
_OF_TALKS = (
    rewriting.text_faults,
    rewriting.tool_faults,
    rewriting.name_faults,
    rewriting.role_faults,
)
_TALKS = (
    "no instructions",
    "several instructions",
    "a call and its result",
    "parallel calls",
    "tool_choice of one tool",
)


def codec_faults(codec: Codec, samples: Sequence[HttpCall | bytes]) -> Iterator[Fault]:
    """Yield the faults of a codec; a codec without the signature of its seam is not tried."""
    shape = protocol_faults(type(codec), Codec, getattr(codec, "name", ""))
    if shape:
        yield from (Fault("signature", problem) for problem in shape)
        return
    probe = Probe(codec)
    parts = (_round_trips(probe), _rewriting(probe, samples), _streams(probe, samples), _broken(probe))
    for fault in chain.from_iterable(parts):
        yield fault
        yield from probe.changed_arguments()
    yield from probe.changed_arguments()


def without_repetitions(faults: Iterable[Fault]) -> Iterator[str]:
    """Join faults that differ only in values: the first one, with the requests that show it."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.check, _VALUES.split(fault.problem)[0]), []).append(fault)
    for (check, _), group in groups.items():
        of = ", ".join(dict.fromkeys(fault.of for fault in group if fault.of))
        more = len({fault.problem for fault in group}) - 1
        notes = [f"of {of}" if of else "", f"{more} more like it" if more else ""]
        note = "; ".join(filter(None, notes))
        yield f"{check}: {group[0].problem}{f' ({note})' if note else ''}"


def _round_trips(probe: Probe) -> Iterator[Fault]:
    for name, request in REQUESTS.items():
        yield from probe.collected(request_faults, name, request)
    for name, reply in REPLIES.items():
        yield from probe.collected(reply_faults, name, reply)
    yield from probe.collected(path_faults)
    yield from probe.collected(error_faults)


def _rewriting(probe: Probe, samples: Iterable[HttpCall | bytes]) -> Iterator[Fault]:
    own = dict(_calls(probe, REQUESTS))
    given = {f"sample {i}": call for i, call in enumerate(samples, 1) if isinstance(call, HttpCall)}
    for name, call in {**own, **given}.items():
        checks = [*_OF_EACH, *(_OF_TALKS if name in (*_TALKS, *given) else ())]
        checks += [rewriting.continued_faults] if name in ("a call and its result", "stream") else []
        for check in checks:
            for fault in probe.collected(check, call):
                yield fault._replace(of=name)
    base = own.get("a call and its result")
    for name, value in {"name": "model-2", **SETTINGS}.items() if base else ():
        known = name == "name" or _is_known(probe, name)
        yield from probe.collected(rewriting.setting_faults, base, name, value, known)


def _calls(probe: Probe, requests: Mapping[str, ModelRequest]) -> Iterator[tuple[str, HttpCall]]:
    """Yield the requests that the codec can write and read; those it cannot are told elsewhere."""
    for name, request in requests.items():
        try:
            call = probe.codec.encode_request(request)
            parsed(call)
            probe.codec.decode_request(call)
        except Exception:  # of foreign code; `request_faults` tells it
            continue
        yield name, call


def _is_known(probe: Probe, name: str) -> bool:
    """Return whether the codec reads requests with a setting."""
    request = REQUESTS[name]
    try:
        found = probe.codec.decode_request(probe.codec.encode_request(request))
    except Exception:  # of foreign code; `request_faults` tells it
        return False
    return bool(getattr(alike(found), name) == getattr(request, name))


def _streams(probe: Probe, samples: Iterable[HttpCall | bytes]) -> Iterator[Fault]:
    for reply in REPLIES.values():
        try:
            stream = probe.codec.encode_reply(reply, reply_id="r-1", stream=True)
        except Exception:  # of foreign code; `reply_faults` tells it
            continue
        yield from probe.collected(framing_faults, stream)
        if reply.text and reply.tool_calls:
            yield from probe.collected(broken_stream_faults, stream)
    yield from probe.collected(reply_name_faults)
    for body in (sample for sample in samples if not isinstance(sample, HttpCall)):
        yield from probe.collected(reply_sample_faults, body)


def _broken(probe: Probe) -> Iterator[Fault]:
    for _, call in _calls(probe, {"": WITH_TOOLS}):
        reply = probe.codec.encode_reply(REPLIES["a reply that calls"], reply_id="r-1", stream=False)
        yield from probe.collected(broken_faults, call, reply)
