"""What `check_trace_format` looks at."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentmut._base import one_line
from agentmut.nouns import BrokenRecord, ForeignTrial
from agentmut.seams import TraceFile

HEAD = 64 * 1024
"""Bytes of a file that `recognises` is given at most."""
_OF_NOBODY = (b"", b"{}", b"[]", b'{"a": 1}\n', b"\x00\xff\xfe", b"name,value\n")
"""What no format may take for its own."""


def trace_format_faults(made: Any, samples: Sequence[Path]) -> Iterator[str]:
    """Yield everything that is wrong with a trace format, tried on files that it reads and on damaged ones."""
    if not samples:
        yield "it was given no file to read; give one that its tool wrote"
    for head in _OF_NOBODY:
        yield from _recognition_faults(made, head, f"{head!r}", expected=False)
    for sample in samples:
        yield from _recognition_faults(made, sample.read_bytes()[:HEAD], sample.name, expected=True)
        yield from _reading_faults(made, sample)
        yield from _damage_faults(made, sample)


def _recognition_faults(made: Any, head: bytes, content: str, *, expected: bool) -> Iterator[str]:
    try:
        found = made.recognises(head)
    except Exception as error:
        yield f"recognises() raised {one_line(error)} for {content}"
        return
    if found is not expected:
        yield f"recognises() gave {found!r} for {content}; expected {expected}"


def _reading_faults(made: Any, sample: Path) -> Iterator[str]:
    file = TraceFile(sample, sample.name)
    try:
        first, again = (list(made.read([file])) for _ in range(2))
    except Exception as error:
        yield f"read() raised {one_line(error)} for {sample.name}"
        return
    if first != again:
        yield f"it read {sample.name} twice and differently"
    trials = [one for one in first if isinstance(one, ForeignTrial)]
    if not trials:
        yield f"it found no trial in {sample.name}"
    yield from _broken_faults(first, sample)
    for trial in trials:
        if not trial.trace.steps and not trial.no_evidence:
            yield f"the trial in {trial.place} has no steps"
        if trial.place.file != file.shown:
            yield f"the place of a trial is {trial.place}; expected the file {file.shown}"


def _broken_faults(found: Sequence[Any], sample: Path) -> Iterator[str]:
    for one in found:
        if isinstance(one, BrokenRecord):
            yield f"it could not read {one}"
        elif not isinstance(one, ForeignTrial):
            yield f"read() gave a {type(one).__name__} for {sample.name}; expected ForeignTrial or BrokenRecord"


def _damage_faults(made: Any, sample: Path) -> Iterator[str]:
    """Yield faults on damaged files: a full disk cuts a file off, and somebody may name a file of another kind."""
    whole = sample.read_bytes()
    damaged = {
        "nothing": b"",
        "half of it": whole[: len(whole) // 2],
        "other JSON": b'{"a": [1, null]}\n' * 2,
    }
    with tempfile.TemporaryDirectory() as folder:
        for what, content in damaged.items():
            path = Path(folder) / sample.name
            path.write_bytes(content)
            try:
                found = list(made.read([TraceFile(path, sample.name)]))
            except Exception as error:
                yield f"read() raised {one_line(error)} for {sample.name} with {what}; expected a BrokenRecord"
                continue
            if what == "other JSON" and any(isinstance(one, ForeignTrial) for one in found):
                yield f"read() made a trial of {content!r}"
