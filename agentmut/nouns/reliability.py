"""The reliability of an agent over repeated runs: pass^k, pass@k, spread, latency."""

from agentmut._base import Frozen
from agentmut.nouns.result_figures import Bounds


class RepeatedRuns(Frozen):
    """The runs of one scenario. Percents are whole numbers from 0 to 100."""

    scenario: str
    runs: int
    passes: int
    flaky: bool
    """Whether some runs passed and some did not."""
    half_width: float
    """Half the width of the interval that so many runs give at worst, by the normal approximation."""
    runs_needed: int
    """Runs after which the pass rate is known to 10 points on either side, for every rate in its 95 % interval."""
    decay_curve: tuple[int, ...] = ()
    """Plug-in pass^k over the first k runs, in the order of their launch. Empty where the order is not known."""
    variance_amplification: int
    """The spread of passes and failures: 0 where all runs agree, 100 where half of them pass."""
    graceful_degradation: int | None = None
    """Passes weighted by their position among the runs; None where the order is not known."""
    p95_seconds: float | None = None
    """By nearest rank; None where no duration is known."""
    deviation_seconds: float | None = None
    """Sample standard deviation of the durations; None for fewer than two."""
    setup_seconds: float | None = None
    """What the scenario's setup took on average, apart from these durations. None where no setup was seen."""


class PassChances(Frozen):
    """The chances over `k` runs of one scenario, as means over the scenarios that have at least `k` runs."""

    k: int
    scenarios: int
    pass_hat: Bounds
    """All k runs pass: the unbiased estimator."""
    pass_hat_plug_in: float
    """All k runs pass, from the observed rate: too high on average for k > 1."""
    pass_at: Bounds
    """At least one of k runs passes: the unbiased estimator."""
    pass_at_plug_in: float
    """At least one of k runs passes, from the observed rate: too low on average for k > 1."""


class CategoryRate(Frozen):
    """The pass rate of the scenarios of one category, each of which weighs alike."""

    category: str
    """Empty for the scenarios that name none."""
    scenarios: int
    runs: int
    passes: int
    pass_rate: Bounds


class Latency(Frozen):
    """A duration that 95 % of the runs do not exceed, with the interval between order statistics."""

    seconds: float
    low: float
    high: float | None
    """None where there are too few runs to bound it."""
    level: float
    runs: int


class Reliability(Frozen):
    """Repeated runs of the unchanged agent on a suite. Each scenario weighs alike."""

    scenarios: tuple[RepeatedRuns, ...]
    pass_rate: Bounds
    """The suite's pass rate; the interval allows for runs of one scenario being alike."""
    naive: Bounds
    """The interval that independent runs would have, for comparison."""
    design_effect: float | None = None
    """How many times larger the variance is than with independent runs. None where the runs do not tell."""
    icc: float | None = None
    """Intraclass correlation of runs of one scenario."""
    chances: tuple[PassChances, ...]
    categories: tuple[CategoryRate, ...] = ()
    """By name; empty where no scenario names a category."""
    p95: Latency | None = None
    """None where no duration is known."""
    early_stopping: bool = False
    """Whether the outcomes decided how many runs there are: then intervals describe and promise no coverage."""

    @property
    def flaky(self) -> int:
        """Return the number of scenarios on which some runs passed and some did not."""
        return sum(row.flaky for row in self.scenarios)
