"""Scores and pass rates over the runs of a project, in the order of time, with their comparability."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from agentmut._base import Frozen
from agentmut.nouns import Origins, Result, Score
from agentmut.store import VerdictReport
from agentmut.usecases.drift import Watch
from agentmut.usecases.gate_figures import reliability_in


class TrendRow(Frozen):
    """One run in the trend."""

    run: str
    kind: str
    """run, test or compare."""
    status: str
    config: str
    """Digest of the agent's config."""
    passes: int
    trials: int
    """How many trials the unchanged agent has, over all scenarios."""
    pass_hat: dict[str, float] = Field(default_factory=dict)
    """pass^k of the unchanged agent, by k: the unbiased estimate, as a mean over scenarios with so many runs."""
    score: Score | None = None
    usd: float | None = None
    runs_of_agent: int = 0
    """Trials that the run executed itself; the others were reused and say nothing new."""
    origins: Origins = Origins()
    """How many runs of the agent the report rests on, and how many of them another tool recorded."""
    changed: tuple[str, ...] = ()
    """What is not as it was in the run before: config, suite, code, mutants. Empty where all is comparable."""

    @property
    def pass_rate(self) -> float | None:
        """Return passes over trials; None without trials."""
        return self.passes / self.trials if self.trials else None


class Fall(Frozen):
    """A campaign's score below that of an earlier one on the same suite and mutants, by their intervals."""

    before: str
    after: str
    score_before: Score
    score_after: Score
    chance: float
    """At most so likely if the suite is as good as it was: one of two intervals has to miss."""


class TrendReport(Frozen):
    """The trend of a project over its runs."""

    schema_version: int = 1
    kind: str = "trend"
    agentmut_version: str
    project: str
    rows: tuple[TrendRow, ...]
    origins: Origins = Origins()
    """Whose the runs of all rows are."""
    watches: tuple[Watch, ...]
    """The pass rate of each scenario, on the agent's config and the suite as they are."""
    false_alarm: float
    """The chance that any scenario raises an alarm in these trials, if nothing has changed."""
    fall: Fall | None = None
    notes: tuple[str, ...] = ()

    @property
    def drifted(self) -> bool:
        """Return whether anything is flagged."""
        return self.fall is not None or any(each.alarm_at for each in self.watches)


def row_of(
    report: Result | VerdictReport, before: TrendRow | None, facts: Mapping[str, Mapping[str, str]]
) -> TrendRow:
    """Return the row of a report; `facts` has, by run, the digests of suite, code and mutants."""
    counted = report.baseline if isinstance(report, Result) else report.scenarios
    return TrendRow(
        run=report.run_id,
        kind="run" if isinstance(report, Result) else report.kind,
        status=report.status,
        config=report.agent.digest,
        passes=sum(row.passes for row in counted),
        trials=sum(row.trials for row in counted),
        pass_hat=_pass_hat(report),
        score=report.score if isinstance(report, Result) else None,
        usd=report.cost.usd,
        runs_of_agent=report.cost.trials,
        origins=report.cost.origins,
        changed=_changed(report, before, facts),
    )


def _pass_hat(report: Result | VerdictReport) -> dict[str, float]:
    found = reliability_in(report)
    return {str(each.k): each.pass_hat.estimate or 0.0 for each in found.chances} if found else {}


def _changed(
    report: Result | VerdictReport, before: TrendRow | None, facts: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    if before is None:
        return ()
    now, then = facts.get(report.run_id, {}), facts.get(before.run, {})
    config = ("config",) if report.agent.digest != before.config else ()
    return (*config, *(name for name in now if name in then and now[name] != then[name]))


def fall_of(rows: Sequence[TrendRow], facts: Mapping[str, Mapping[str, str]]) -> Fall | None:
    """Return whether the latest campaign scores below the one before it on the same suite and mutants.

    Flagged where the two intervals lie apart. If the true score has not fallen, one of them has missed on one side,
    which happens with chance at most (1 - level) / 2 each: 5 % together at 95 %.
    """
    campaigns = [row for row in rows if row.score is not None and row.status == "finished"]
    if not campaigns:
        return None
    latest = campaigns[-1]
    for earlier in reversed(campaigns[:-1]):
        if _alike(facts.get(latest.run, {}), facts.get(earlier.run, {})):
            return _apart(earlier, latest)
    return None


def _alike(now: Mapping[str, str], then: Mapping[str, str]) -> bool:
    return bool(now) and all(name in then and now.get(name) == then[name] for name in ("suite", "mutants"))


def _apart(earlier: TrendRow, latest: TrendRow) -> Fall | None:
    then, now = earlier.score, latest.score
    if then is None or now is None or then.low is None or now.high is None or now.high >= then.low:
        return None
    chance = (1 - then.level) / 2 + (1 - now.level) / 2
    return Fall(
        before=earlier.run, after=latest.run, score_before=then, score_after=now, chance=round(chance, 12)
    )


def any_false_alarm(watches: Iterable[Watch]) -> float:
    """Return the chance that any of independent charts alarms: 1 - prod(1 - chance)."""
    silent = 1.0
    for each in watches:
        silent *= 1 - (each.false_alarm or 0.0)
    return 1 - silent


def sparkline(values: Sequence[float | None]) -> str:
    """Return values in [0, 1] as a line of blocks, with a gap for a missing value.

    >>> sparkline([0.0, 0.5, 1.0, None])
    '▁▅█·'
    """
    blocks = "▁▂▃▄▅▆▇█"
    return "".join("·" if v is None else blocks[min(7, max(0, round(v * 7 + 1e-9)))] for v in values)
