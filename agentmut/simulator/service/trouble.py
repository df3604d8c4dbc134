"""Trouble that a simulated service can be told to make, and which request meets it.

Whether a request meets trouble is a hash of the seed of the trouble, the trial, and how many requests the
trial has sent before. So runs can be repeated, and a request that is sent again is drawn anew. What is answered
in the end is the answer of a service without trouble.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.service.quantities import read_number


class FaultKind(StrEnum):
    """What goes wrong."""

    RATE_LIMIT = "429"
    """Status 429 with `Retry-After`."""
    SERVER_ERROR = "500"
    UNAVAILABLE = "503"
    HANG = "hang"
    """No reply at all, until the client hangs up."""
    RESET = "reset"
    """The connection is reset before the reply."""
    TRUNCATED = "truncated"
    """The connection is closed in the middle of the reply, a stream or not."""
    MALFORMED = "malformed"
    """Status 200, with JSON that cannot be read; in a stream, one event in its middle."""
    EMPTY = "empty"
    """Status 200 and not a byte of a body."""
    CONTENT_TYPE = "content_type"
    """Status 200 and a page in HTML, as gateways send when they cannot reach the service."""


class Fault(NamedTuple):
    """One kind of trouble: a share of all requests, or certain requests of each trial, counted from 1."""

    kind: FaultKind
    rate: float = 0.0
    positions: frozenset[int] = frozenset()

    def __str__(self) -> str:
        where = f"@{','.join(map(str, sorted(self.positions)))}" if self.positions else f"{self.rate:g}"
        return f"{self.kind}:{where}"


class Trouble(NamedTuple):
    """All the trouble that a service makes; none by default. Make it with `trouble_of`."""

    faults: tuple[Fault, ...] = ()
    seed: int = 0
    retry_after: float = 1.0
    """Seconds that a 429 tells the client to wait."""

    def __str__(self) -> str:
        if not self.faults:
            return ""
        waits = [] if self.retry_after == 1 else [f"retry-after-{self.retry_after:g}"]
        return "+".join([*map(str, self.faults), f"seed-{self.seed}", *waits])

    def fault_for(self, trial: str, number: int) -> FaultKind | None:
        """Return what befalls a trial's request of this number, counted from 1. A position goes before a rate.

        >>> [trouble_of(["500:@2"]).fault_for("trial", number) for number in (1, 2, 3)]
        [None, <FaultKind.SERVER_ERROR: '500'>, None]
        """
        if not self.faults:
            return None
        placed = (fault.kind for fault in self.faults if number in fault.positions)
        if (kind := next(placed, None)) is not None:
            return kind
        left = Dice(["trouble", str(self.seed), trial]).uniform(str(number))
        for fault in self.faults:
            left -= fault.rate
            if left < 0:
                return fault.kind
        return None


NO_TROUBLE = Trouble()

_SETTING = re.compile(r"(?P<kind>[\w-]+):(?:@(?P<at>\d+(?:,\d+)*)|(?P<rate>[^@]+))")


def trouble_of(faults: Iterable[str | Fault], *, seed: int = 0, retry_after: float = 1.0) -> Trouble:
    """Read the trouble from settings such as `429:0.1` (a rate) and `hang:@3` or `hang:@1,4` (requests of each trial).

    Raises `UsageError` for what cannot be meant.
    """
    found = tuple(fault if isinstance(fault, Fault) else read_fault(fault) for fault in faults)
    total = sum(fault.rate for fault in found)
    if total > 1 + 1e-9:
        raise UsageError(f"the rates of all faults come to {total:g} together. They can be 1 at most.")
    if not 0 <= retry_after <= 3600:
        raise UsageError(f"retry_after is {retry_after:g}; it is a number of seconds from 0 to 3600.")
    return Trouble(found, seed, retry_after)


def read_fault(setting: str) -> Fault:
    """Return one fault from its setting.

    >>> read_fault("429:0.1").rate, sorted(read_fault("hang:@1,4").positions)
    (0.1, [1, 4])
    """
    match = _SETTING.fullmatch(setting.strip())
    if match is None:
        raise UsageError(
            f"fault {setting!r}: expected KIND:RATE, such as 429:0.1, or KIND:@N for the n-th request of each "
            "trial, such as hang:@3."
        )
    kind = _kind(match["kind"], setting)
    if match["at"]:
        return Fault(kind, positions=frozenset(_position(at, setting) for at in match["at"].split(",")))
    rate = read_number(match["rate"], f"fault {setting!r}: the rate")
    if not 0 < rate <= 1:
        raise UsageError(
            f"fault {setting!r}: a rate is above 0 and at most 1. Did you mean {kind}:@{match['rate'].strip()}, "
            "the request of that number?"
        )
    return Fault(kind, rate)


def _kind(name: str, setting: str) -> FaultKind:
    try:
        return FaultKind(name.replace("-", "_"))
    except ValueError:
        raise UsageError(
            f"fault {setting!r}: {name!r} is no kind of fault. There are {', '.join(FaultKind)}."
        ) from None


def _position(text: str, setting: str) -> int:
    if int(text) < 1:
        raise UsageError(f"fault {setting!r}: the requests of a trial are counted from 1.")
    return int(text)
