"""The context of a coverage measurement: inputs other than traces and config."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agentmut.nouns import MutantRow, Scenario

Place = Callable[[int, int], tuple[str, int | None, int | None, int | None]]
"""Path, line, last line and column of the characters `start` to `end` of the prompt, as far as they are known."""


@dataclass(frozen=True)
class CoverageContext:
    """Optional inputs of a coverage measurement, in addition to traces and config."""

    scenarios: Sequence[Scenario] = ()
    """What was asked. Those without a trace are listed as covering nothing."""
    swap_models: Sequence[str] = ()
    """Models that the agent is meant to support besides its own, where the settings name none."""
    also_run: Mapping[str, Iterable[str]] = field(default_factory=dict)
    """By model: scenarios that were run with it by a mutant that puts it in."""
    calibrated: float | None = None
    """Lambda as the first measurement of this config estimated it."""
    place: Place | None = None
    """Where the rules are written; by their line in the prompt when left out."""
    mutants: Sequence[MutantRow] | None = None
    """The mutants of a result on this config, which say what ablation found of the rules. None without a result."""
    wordless: bool = False
    """The project keeps no text: neither the words of runs nor those of rules may be told."""
