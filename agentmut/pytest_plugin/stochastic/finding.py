"""The finding on one test as plain data, which travels with pytest's report and is printed from it."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agentmut.pytest_plugin.stochastic.marker_settings import StochasticSettings
from agentmut.stats import MOST, Verdict

PREFIX = "agentmut."
ERROR = "ERROR"
"""Stands for a verdict when too many trials were no evidence."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one test, and its evidence."""

    verdict: str
    """PASS, FAIL, INCONCLUSIVE or ERROR."""
    trials: int
    """Trials that are evidence."""
    passes: int
    errors: int
    """Trials that ended in an error and are no evidence."""
    threshold: float
    above: float
    """PASS is evidence of a pass rate above this: threshold - margin of a sequential test."""
    method: str
    alpha: float
    p: float
    """p-value against a pass rate of at least the threshold."""
    interval_low: float
    interval_high: float
    interval_method: str
    effect: float | None = None
    """Observed rate minus threshold."""
    cohens_h: float | None = None
    size: str | None = None
    """Cohen's word for h."""
    needed: int | None = None
    """Further trials after which a verdict is likely if the observed rate is the true one."""
    cause: str | None = None
    """The exception of the first trial without evidence, for an ERROR."""
    remark: str | None = None
    """Why no outcome of so few trials could have been PASS."""

    def properties(self) -> list[tuple[str, str | int | float]]:
        """Return properties of a pytest report, which JUnit files show; empty ones are left out."""
        return [(f"{PREFIX}{name}", value) for name, value in asdict(self).items() if value is not None]

    @property
    def passed(self) -> str:
        """Return how many trials passed, with the rate and its interval."""
        if not self.trials:
            return "no trial is evidence"
        bounds = f"[{self.interval_low:.2f}, {self.interval_high:.2f}]"
        return f"{self.passes} of {self.trials} trials passed, rate {self.passes / self.trials:.2f} {bounds}"

    def __str__(self) -> str:
        return f"{self.verdict}: {'; '.join(self._sentences())}"

    def _sentences(self) -> Iterable[str]:
        if self.cause:
            yield self.cause
        yield f"{self.passed}, threshold {self.threshold:g}"
        if self.verdict == Verdict.FAIL:
            yield f"p = {self.p:.2g}, effect {self.effect:+.2f} (h = {self.cohens_h:.2f}, {self.size})"
        if self.verdict == Verdict.INCONCLUSIVE:
            yield self._open()
            if self.remark:
                yield self.remark
        if self.verdict == Verdict.PASS:
            yield f"evidence of a pass rate above {self.above:g}"
        if self.errors:
            many = f"{self.errors} trials" if self.errors > 1 else "1 trial"
            yield f"{many} raised an error, which is no evidence"

    def _open(self) -> str:
        if self.needed is None:
            return f"not even {MOST:,} further trials would probably decide: the rate is near the limit"
        return f"about {self.needed} further trials would probably decide: trials={self.trials + self.needed}"


def found(settings: StochasticSettings, passed: Sequence[bool], errors: int) -> Finding:
    """Return the finding on the outcomes of the trials that are evidence, in the order in which they ran."""
    from agentmut.stats import anytime_interval, cohens_h

    judged = settings.rule().judgement(passed)
    k, n = sum(passed), len(passed)
    interval = anytime_interval(k, n, 1 - settings.alpha) if settings.method == "sprt" else judged.interval
    h = cohens_h(k / n, settings.threshold) if n else None
    gave_up = errors >= settings.errors
    return Finding(
        verdict=ERROR if gave_up else judged.verdict.value,
        trials=n,
        passes=k,
        errors=errors,
        threshold=settings.threshold,
        above=_rounded(settings.above),
        method=judged.method,
        alpha=settings.alpha,
        p=_rounded(judged.p_fail),
        interval_low=_rounded(interval.low),
        interval_high=_rounded(interval.high),
        interval_method=interval.method,
        effect=_rounded(k / n - settings.threshold) if n else None,
        cohens_h=_rounded(h.value) if h else None,
        size=h.size.value if h else None,
        needed=judged.needed,
        remark=_remark(settings),
    )


def read_finding(properties: Iterable[Sequence[Any]]) -> Finding | None:
    """Return the finding in a report's properties; None if there is none."""
    given = {name.removeprefix(PREFIX): value for name, value in properties if name.startswith(PREFIX)}
    known = {field.name for field in fields(Finding)}
    return Finding(**{name: given[name] for name in given if name in known}) if "verdict" in given else None


def _remark(settings: StochasticSettings) -> str | None:
    least = settings.least_to_pass()
    if least is None:
        return "a threshold of 1 can FAIL but never PASS with method 'fixed'"
    return f"PASS takes at least {least} trials" if least > settings.trials else None


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
