"""The trials of mutants that could not follow a recorded run of the original, with the reasons."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class UnforkedTrials:
    """The reasons, which are collected while a run is under way and read by its result."""

    refused: dict[str, str] = field(default_factory=dict)
    """Scenario -> what its requests name that a recorded run cannot bring back, in a phrase."""
    unrecorded: Counter[str] = field(default_factory=Counter)
    """Scenario -> trials of mutants for which the run of the baseline is not recorded."""
