"""A number for how unusual a run is, which a chart can watch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agentmut.insight.fingerprint import Feature, Fingerprint, fingerprint
from agentmut.nouns import AgentTrace, Ending, Execution

if TYPE_CHECKING:
    from agentmut.stats import Array

CAP = 5.0
"""Scales by which one feature counts at most: one absurd number is not the whole run."""
FEWEST = 3
"""Runs of a scenario from which its usual run is read."""
WITHIN = 0.8
"""Runs are compared within their scenario where so large a share of the reference has such a scenario."""


class ScenarioRun(NamedTuple):
    """The part of a run that is compared."""

    scenario: str
    fingerprint: Fingerprint


def scenario_run(scenario: str, trace: AgentTrace) -> ScenarioRun:
    """Return the part of a recorded run that is compared."""
    ending = Ending.RAISED if trace.error and not trace.outputs else Ending.ANSWERED
    return ScenarioRun(scenario, fingerprint(Execution(ending=ending, trace=trace)))


@dataclass(frozen=True)
class UsualRun:
    """The usual run of a scenario, or of all scenarios together."""

    centre: Mapping[Feature, float]
    scale: Mapping[Feature, float]

    def distance(self, run: Fingerprint) -> float:
        """Return the mean over features of the distance from the centre, in scales, each at most `CAP`.

        A feature that no run of the reference has counts as `CAP`.
        """
        known = sum(
            min(CAP, abs(run.features.get(name, 0.0) - value) / self.scale[name])
            for name, value in self.centre.items()
        )
        unknown = CAP * sum(1 for name in run.features if name not in self.centre)
        return float(known + unknown) / max(1, len(self.centre))


@dataclass(frozen=True)
class Scorer:
    """Scores runs against half of a reference; the other half shows how the scores of unchanged runs spread."""

    usual: Mapping[str, UsualRun]
    """By scenario; under the empty name where runs are compared over all scenarios together."""
    reference: tuple[float, ...]
    """Scores of the other half."""

    @property
    def within_scenarios(self) -> bool:
        """Return whether a run is compared only with runs of its own scenario."""
        return "" not in self.usual

    def score(self, run: ScenarioRun) -> float | None:
        """Return how unusual a run is; None if the reference has no run of its scenario."""
        usual = self.usual.get(run.scenario if self.within_scenarios else "")
        return None if usual is None else usual.distance(run.fingerprint)


def scorer_of(reference: Sequence[ScenarioRun]) -> Scorer:
    """Return a scorer fitted on every second run of a scenario; the other runs are scored like further ones.

    So a further run that nothing has changed is scored just as those are, however few fitted it.
    """
    # taken scenario by scenario: of scenarios that take turns, every second run would be of the same ones
    ordered = sorted(reference, key=lambda run: run.scenario)
    fit, held = ordered[::2], ordered[1::2]
    by_name: dict[str, list[Fingerprint]] = {}
    for run in fit:
        by_name.setdefault(run.scenario, []).append(run.fingerprint)
    known = {name: runs for name, runs in by_name.items() if len(runs) >= FEWEST}
    inside = sum(map(len, known.values())) >= WITHIN * len(fit)
    groups = known if inside else {"": [run.fingerprint for run in fit]}
    scale = _scales([_centred(runs) for runs in groups.values()])
    usual = {name: UsualRun(_medians(runs), scale) for name, runs in groups.items()}
    scorer = Scorer(_complete(usual, scale), ())
    scores = tuple(found for run in held if (found := scorer.score(run)) is not None)
    return Scorer(scorer.usual, scores)


def _complete(usual: Mapping[str, UsualRun], scale: Mapping[Feature, float]) -> dict[str, UsualRun]:
    """Return the usual runs with all features; a feature that a scenario never shows is 0 there."""
    return {
        name: UsualRun({feature: each.centre.get(feature, 0.0) for feature in scale}, scale)
        for name, each in usual.items()
    }


def _names(runs: Sequence[Fingerprint]) -> list[Feature]:
    return sorted({name for run in runs for name in run.features})


def _medians(runs: Sequence[Fingerprint]) -> dict[Feature, float]:
    import numpy as np

    return {name: float(np.median([run.features.get(name, 0.0) for run in runs])) for name in _names(runs)}


def _centred(runs: Sequence[Fingerprint]) -> dict[Feature, "Array"]:
    """Return each feature's distances from its median over a group of runs."""
    import numpy as np

    found = {}
    for name in _names(runs):
        values = np.array([run.features.get(name, 0.0) for run in runs])
        found[name] = np.abs(values - np.median(values))
    return found


def _scales(groups: Sequence[Mapping[Feature, "Array"]]) -> dict[Feature, float]:
    """Return the mean distance of each feature from its group's median; 1 if it never differs."""
    import numpy as np

    names = sorted({name for group in groups for name in group})
    means = {name: float(np.concatenate([g[name] for g in groups if name in g]).mean()) for name in names}
    return {name: mean or 1.0 for name, mean in means.items()}
