"""Where trials of mutants could not go along recorded runs of the original, and why."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Unforked:
    """Grows while a run is under way; read by its result."""

    refused: dict[str, str] = field(default_factory=dict)
    """Scenario -> what its requests name that a recorded run cannot bring back, in a phrase."""
    unrecorded: Counter[str] = field(default_factory=Counter)
    """Scenario -> trials of mutants for which the run of the baseline is not recorded."""
