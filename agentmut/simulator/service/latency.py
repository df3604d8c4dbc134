"""The latency of a simulated service: a distribution, and its values for the requests of a trial."""

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Literal, NamedTuple

from agentmut._base import UsageError
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.service.quantities import read_number, read_seconds, written_seconds

FORMS = "50ms, uniform:low=100ms,high=300ms or lognormal:median=400ms,sigma=0.5"
_NORMAL = NormalDist()
_LEAST = 2.0**-54  # keeps the inverse of the normal distribution off its poles


class Latency(NamedTuple):
    """A distribution of seconds. Make it with `read_latency`."""

    shape: Literal["fixed", "uniform", "lognormal"] = "fixed"
    low: float = 0.0
    """The time of `fixed`, the median of `lognormal`, the least of `uniform`."""
    high: float = 0.0
    """The most of `uniform`; the others have none."""
    sigma: float = 0.0
    """The standard deviation of the logarithm of the time; only `lognormal` has it."""

    def __bool__(self) -> bool:
        return self.low > 0 or self.high > 0

    def __str__(self) -> str:
        low, high = written_seconds(self.low), written_seconds(self.high)
        if self.shape == "uniform":
            return f"uniform:low={low},high={high}"
        if self.shape == "lognormal":
            return f"lognormal:median={low},sigma={self.sigma:g}"
        return low

    def quantile(self, share: float) -> float:
        """Return the time below which a share of all times lies, from 0 up to 1.

        >>> read_latency("uniform:low=1s,high=3s").quantile(0.5)
        2.0
        >>> read_latency("lognormal:median=2s,sigma=1").quantile(0.5)
        2.0
        """
        if self.shape == "uniform":
            return self.low + share * (self.high - self.low)
        if self.shape == "lognormal":
            inner = min(max(share, _LEAST), 1 - _LEAST)
            return self.low * math.exp(self.sigma * _NORMAL.inv_cdf(inner))
        return self.low

    def seconds_for(self, seed: int, trial: str, number: int, purpose: str = "") -> float:
        """Return the seconds for a trial's request with this number; `purpose` distinguishes times of one request."""
        if not self or self.shape == "fixed":
            return self.low
        return self.quantile(Dice(["latency", str(seed), trial]).uniform(f"{number}:{purpose}"))


AT_ONCE = Latency()


def read_latency(setting: str) -> Latency:
    """Return a distribution from its setting: `50ms`, `uniform:low=...,high=...`, `lognormal:median=...,sigma=...`.

    Raises `UsageError` for anything else.
    """
    shape, colon, rest = setting.strip().partition(":")
    if not colon:
        return Latency(low=read_seconds(shape, f"latency {setting!r}"))
    given = _fields(rest, setting)
    if shape == "uniform" and set(given) == {"low", "high"}:
        low, high = (read_seconds(given[name], f"latency {setting!r}: {name}") for name in ("low", "high"))
        if low > high:
            raise UsageError(f"latency {setting!r}: low is above high.")
        return Latency("uniform", low, high)
    if shape == "lognormal" and set(given) == {"median", "sigma"}:
        median = read_seconds(given["median"], f"latency {setting!r}: median")
        sigma = read_number(given["sigma"], f"latency {setting!r}: sigma")
        if not 0 <= sigma <= 5:
            raise UsageError(f"latency {setting!r}: sigma is a number from 0 to 5.")
        return Latency("lognormal", median, sigma=sigma)
    raise UsageError(f"latency {setting!r}: expected {FORMS}.")


def _fields(text: str, setting: str) -> Mapping[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    given = {name.strip(): value for name, equals, value in pairs if equals}
    if len(given) < len(pairs):
        raise UsageError(f"latency {setting!r}: expected {FORMS}.")
    return given
