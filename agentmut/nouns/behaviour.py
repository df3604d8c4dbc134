"""The comparison of the unchanged agent's behaviour with a stored baseline's: changed, never better or worse."""

from agentmut._base import Frozen


class MovedFeature(Frozen):
    """One feature of runs, in words, with its values before and now."""

    words: str
    """What moved, such as `verify_identity is called less often`."""
    baseline_runs: int
    """Runs of the baseline in which the feature occurs."""
    baseline_of: int
    runs: int
    """Runs of today in which the feature occurs."""
    of: int
    baseline_mean: float
    mean: float


class BehaviourRow(Frozen):
    """The behaviour on one scenario."""

    scenario: str
    change: str
    """`changed`; `continue`: nothing shown, and looks are left; `not shown`: nothing shown at any look."""
    p_values: tuple[float, ...] = ()
    """One a look, up to the look that decided, each valid over the looks so far."""
    level: float
    """The p-value that the last look demands: as much of the scenario's alpha as the looks so far may spend."""
    baseline_runs: int
    """Runs of the baseline that the last look compares with: each look adds some, so that looks share one level."""
    runs: int
    """Runs of today, at the last look."""
    moved: MovedFeature | None = None
    """What moved most; None where nothing changed."""
    also: tuple[MovedFeature, ...] = ()
    """Other features that differ most. They describe; the test speaks of all features together."""
    hotelling_t2: float | None = None
    """Hotelling's T2 of standardised features on their principal components, at the last look; it decides nothing."""
    hotelling_p: float | None = None
    """From the F distribution: for normal features."""
    effective_dimension: int = 0
    """Principal components that explain 95 % of the variance."""
    note: str = ""
    """Why no look was taken, or why T2 is undefined."""


class Behaviour(Frozen):
    """The behaviour on all scenarios."""

    baseline: str
    alpha: float
    """The chance that any scenario is called changed at any look, although nothing changed, is at most this."""
    looks: tuple[int, ...]
    """Numbers of runs at which today's runs are compared."""
    scenarios: tuple[BehaviourRow, ...]

    @property
    def changed(self) -> tuple[BehaviourRow, ...]:
        """Return the scenarios on which behaviour changed."""
        return tuple(row for row in self.scenarios if row.change == "changed")
