"""JSON values from files: one document, an array, or a value a line; each with the line where it begins."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agentmut.nouns import BrokenRecord, RecordPlace
from agentmut.seams import TraceFile

_DIGITS = 300
"""Digits that an integer has at most: no longer one is a float, and no record means one."""
_BETWEEN = re.compile(r"[\s,]*")


class Record(NamedTuple):
    """A JSON value, and where it begins."""

    value: Any
    place: RecordPlace


def records(file: TraceFile) -> Iterator[Record | BrokenRecord]:
    """Yield the values of a file: its lines, the items of its array, or its one document.

    A file with a value a line is read line by line, and so may be larger than the memory.
    """
    try:
        if _has_a_value_a_line(file.path):
            yield from _lines(file)
        else:
            yield from _values(file, file.path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        yield BrokenRecord(place=RecordPlace(file=file.shown), reason=f"it cannot be read: {error}")


def _has_a_value_a_line(path: Path) -> bool:
    """Return whether one of the first two lines is a complete JSON object."""
    with path.open("rb") as lines:
        first = [line for line, _ in zip(lines, range(2), strict=False)]
    return len(first) > 1 and any(line.lstrip().startswith(b"{") and _parses(line) for line in first)


def _parses(line: bytes) -> bool:
    try:
        return isinstance(_loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(file: TraceFile) -> Iterator[Record | BrokenRecord]:
    with file.path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = RecordPlace(file=file.shown, line=number)
            try:
                yield Record(_loads(line), place)
            except (ValueError, RecursionError) as error:
                yield BrokenRecord(place=place, reason=f"it is not JSON: {error}")


def _values(file: TraceFile, text: str) -> Iterator[Record | BrokenRecord]:
    """Yield the items of an array, or the values one after the other; go on at the next line after a broken one."""
    start = text.find("[") + 1 if text.lstrip().startswith("[") else 0
    at, line, counted = _after(text, start), 1, 0
    while at < len(text) and not (start and text[at] == "]"):
        line, counted = line + text.count("\n", counted, at), at
        place = RecordPlace(file=file.shown, line=line)
        try:
            value, end = _DECODER.raw_decode(text, at)
            yield Record(value, place)
        except (ValueError, RecursionError) as error:
            yield BrokenRecord(place=place, reason=f"it is not JSON: {error}")
            end = _next_value(text, at)
        at = _after(text, end)


def _after(text: str, at: int) -> int:
    """Return where the next value begins."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _next_value(text: str, broken: int) -> int:
    """Return the next line that begins as the broken value does, with the same indentation."""
    indent = text[text.rfind("\n", 0, broken) + 1 : broken]
    if indent.strip() or "\n" not in text[:broken]:
        return len(text)
    found = re.compile(rf"\n{re.escape(indent)}(?=[{{\[])").search(text, broken)
    return found.end() if found else len(text)


def _number(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is too large for a number")
    return value


def _integer(written: str) -> int:
    if len(written) > _DIGITS:
        raise ValueError(f"{written[:20]}... is too large for a number")
    return int(written)


def _nothing(_: str) -> None:
    """Read NaN and Infinity, which Python writes and JSON does not have, as a missing value."""


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_nothing)


def _loads(line: bytes) -> Any:
    return _DECODER.decode(line.decode("utf-8").strip())
