"""Numbers in the form of settings: times such as `50ms`, shares such as `0.1`."""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

from agentmut._base import UsageError

_UNITS: Mapping[str, float] = MappingProxyType({"ms": 0.001, "s": 1.0, "m": 60.0})
_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>ms|s|m)")
_LONGEST = 3600.0


def read_seconds(text: str, where: str) -> float:
    """Return a time with its unit in seconds. Raise `UsageError` that names `where`.

    >>> read_seconds("50ms", "latency"), read_seconds("1.5 s", "latency")
    (0.05, 1.5)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{where}: expected a time with its unit, such as 50ms or 1.5s, found {text!r}.")
    seconds = float(match["number"]) * _UNITS[match["unit"]]
    if seconds > _LONGEST:
        raise UsageError(f"{where}: {text} is longer than an hour.")
    return seconds


def written_seconds(seconds: float) -> str:
    """Return the shortest way to write a time.

    >>> written_seconds(0.05), written_seconds(1.5)
    ('50ms', '1500ms')
    """
    return f"{seconds * 1000:g}ms"


def read_number(text: str, where: str) -> float:
    """Return a finite number. Raises `UsageError` that names `where`."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{where}: expected a number, found {text!r}.")
    return number
