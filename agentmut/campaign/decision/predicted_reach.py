"""The mutants that may reach a scenario without trials, predicted before its baseline."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.nouns import Mutant, Reach, Scenario
from agentmut.trial import Detector, SuiteConfig


class MayReach(NamedTuple):
    """Why a mutant may be noticed by a scenario."""

    certain: bool
    """Whether the scenario reaches it; False where only a run of the original tells."""
    why: str


def may_reach(
    mutant: Mutant, scenario: Scenario, suite: SuiteConfig, baselines: Mapping[str, ScenarioBaseline]
) -> MayReach | None:
    """Return the prediction for a mutant on a scenario without trials; None where the mutant cannot reach the scenario.

    `baselines` are those of the other scenarios. Two mutants at once show where either does.
    """
    if not mutant.parts:
        return _alone(mutant, scenario, suite, baselines)
    predictions = (_alone(part, scenario, suite, baselines) for part in mutant.parts)
    return max(filter(None, predictions), key=lambda prediction: prediction.certain, default=None)


def _alone(
    mutant: Mutant, scenario: Scenario, suite: SuiteConfig, baselines: Mapping[str, ScenarioBaseline]
) -> MayReach | None:
    subject = mutant.subject
    if mutant.reach is Reach.SENT:
        return _sent(mutant, suite, baselines)
    if mutant.reach is Reach.CARRIED:
        carried = scenario.name in suite.carriers(subject)
        return MayReach(True, f"carries {subject or 'a document'}") if carried else None
    if mutant.reach is Reach.CONVERSED:
        return MayReach(True, "has more than one turn") if len(scenario.turns) > 1 else None
    does = {
        Reach.CALLED: f"calls {subject}",
        Reach.REPEATED: f"calls {subject} more than once",
        Reach.RAN: f"enters {subject or 'a node of its flow'}",
    }
    return MayReach(False, f"whether the original {does[mutant.reach]} there is unknown until it has run it")


def _sent(mutant: Mutant, suite: SuiteConfig, baselines: Mapping[str, ScenarioBaseline]) -> MayReach:
    """Return the prediction for a part: surely sent if every scenario so far sends it, perhaps if some do."""
    part = mutant.edits[0].part if mutant.edits else "config"
    detector = Detector(mutant, suite.full)
    sending = sum(baseline.carries(detector) for baseline in baselines.values())
    if sending == len(baselines):
        return MayReach(True, f"every scenario that was run sends this part of the {part}")
    evidence = f"{sending} of {len(baselines)} scenarios that were run send this part of the {part}"
    return MayReach(False, f"{evidence}; whether this one does is unknown until the original has run it")
