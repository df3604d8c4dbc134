"""Which scenarios can notice a mutant: read off the baseline, at no cost."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut.engine.baseline import ScenarioBaseline
from agentmut.engine.suite import SuiteConfig
from agentmut.frozen import canonical_json
from agentmut.mutant import Mutant, Reach, Status
from agentmut.scenario import Scenario
from agentmut.text.words import stems
from agentmut.witness import Detector


class Reached(NamedTuple):
    """The scenarios that reach a mutated part, with their affinity in [0, 1].

    Affinity only orders work. Without scenarios, `otherwise` and `reason` say what becomes of the mutant.
    """

    scenarios: dict[str, float]
    otherwise: Status = Status.NO_COVERAGE
    reason: str = ""


def reached(
    mutant: Mutant,
    detector: Detector,
    suite: SuiteConfig,
    baselines: Mapping[str, ScenarioBaseline],
    scenarios: Mapping[str, Scenario],
) -> Reached:
    """Where a mutant can show, by the reach that its operator declares."""
    candidates = _candidates(mutant, suite, baselines)
    if not candidates:
        return Reached({}, Status.NO_COVERAGE, _no_coverage(mutant))
    carrying = {name: weight for name, weight in candidates.items() if baselines[name].carries(detector)}
    if not carrying:
        return Reached({}, Status.NOT_APPLIED, _never_carried(mutant))
    if mutant.reach is Reach.SENT and mutant.edits:
        return Reached({name: _overlap(mutant, scenarios[name]) for name in carrying})
    return Reached(carrying)


def _candidates(
    mutant: Mutant, suite: SuiteConfig, baselines: Mapping[str, ScenarioBaseline]
) -> dict[str, float]:
    if mutant.reach is Reach.CALLED:
        shares = {name: baseline.share_calling(mutant.subject) for name, baseline in baselines.items()}
        return {name: share for name, share in shares.items() if share > 0}
    if mutant.reach is Reach.CARRIED:
        return dict.fromkeys((name for name in baselines if name in suite.carriers(mutant.subject)), 1.0)
    return dict.fromkeys(baselines, 1.0)


def _overlap(mutant: Mutant, scenario: Scenario) -> float:
    """Share of the edited text's content words that the scenario's turns contain."""
    edited = stems(" ".join(str(edit.before or edit.after) for edit in mutant.edits))
    asked = stems(
        " ".join(turn if isinstance(turn, str) else canonical_json(turn) for turn in scenario.turns)
    )
    return len(edited & asked) / len(edited) if edited else 0.0


def _no_coverage(mutant: Mutant) -> str:
    if mutant.reach is Reach.CALLED:
        return f"no scenario makes the agent call {mutant.subject}"
    return f"no scenario carries {mutant.subject or 'a document'}"


def _never_carried(mutant: Mutant) -> str:
    part = mutant.edits[0].path[0] if mutant.edits else "config"
    return (
        f"no baseline trial carried this part of the {part}: the agent does not send what its config says, "
        "or nothing of it could be seen. Build the agent from the config it is given, at call time"
    )
