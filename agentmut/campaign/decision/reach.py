"""The scenarios that can notice a mutant, read from the baseline at no cost."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import canonical_json
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.language import stems
from agentmut.nouns import Mutant, Reach, Scenario, Status
from agentmut.stats import most_with_drop
from agentmut.trial import Detector, SuiteConfig, absence

NEVER_CARRIED = "no baseline trial carried this part of the"
HOLDERS = "a session fixture or a cache"


class Clearing(NamedTuple):
    """The scenarios that reach a mutant, and how the tried ones among them were chosen."""

    reached: int
    foremost: int
    strata: tuple[int, ...]
    """Scenarios in each stratum, of which one is tried."""

    def most_with_drop(self, beta: float) -> int:
        """Return the 95 % upper bound on the scenarios that still have the drop that a survivor was cleared of."""
        return most_with_drop(self.foremost, self.strata, beta)


class ReachingScenarios(NamedTuple):
    """The scenarios that reach a mutated part, each with its affinity in [0, 1].

    Affinity only orders work. Without scenarios, `otherwise` and `reason` say what becomes of the mutant.
    """

    scenarios: dict[str, float]
    otherwise: Status = Status.NO_COVERAGE
    reason: str = ""
    parts: Mapping[str, frozenset[str]] = MappingProxyType({})
    """For a second-order mutant, by scenario: ids of the parts that it reaches."""
    clearing: Clearing | None = None
    """How `scenarios` were chosen of those that reach it; None where these are all."""


def reached(
    mutant: Mutant,
    detector: Detector,
    suite: SuiteConfig,
    baselines: Mapping[str, ScenarioBaseline],
    scenarios: Mapping[str, Scenario],
) -> ReachingScenarios:
    """Return the scenarios on which a mutant can show, by the reach of its operator.

    A pair can show where one of its parts can. Cases that ask their model now and then, and otherwise hold its answer,
    show nothing of a mutant.
    """
    held = {name for name, baseline in baselines.items() if baseline.holds_answer(suite.workers)}
    if not held:
        return _reached(mutant, detector, suite, baselines, scenarios)
    asking = {name: baseline for name, baseline in baselines.items() if name not in held}
    reaching = _reached(mutant, detector, suite, asking, scenarios)
    if reaching.scenarios or not _reached(mutant, detector, suite, baselines, scenarios).scenarios:
        return reaching
    reason = f"no test that asks its model in every run shows it: {', '.join(sorted(held))}"
    return ReachingScenarios({}, Status.NO_COVERAGE, f"{reason} took an answer that {HOLDERS} holds")


def _reached(
    mutant: Mutant,
    detector: Detector,
    suite: SuiteConfig,
    baselines: Mapping[str, ScenarioBaseline],
    scenarios: Mapping[str, Scenario],
) -> ReachingScenarios:
    if mutant.parts:
        where = {
            part.id: _reached(part, Detector(part, suite.full), suite, baselines, scenarios)
            for part in mutant.parts
        }
        return _either(where)
    candidates = _candidates(mutant, suite, baselines, scenarios)
    if not candidates:
        return ReachingScenarios({}, Status.NO_COVERAGE, _no_coverage(mutant))
    carrying = {name: weight for name, weight in candidates.items() if baselines[name].carries(detector)}
    if not carrying and (unread := _unread(mutant, suite, baselines.values())):
        return ReachingScenarios({}, Status.NO_COVERAGE, unread)
    if not carrying:
        return ReachingScenarios({}, Status.NOT_APPLIED, _never_carried(mutant, suite, baselines.values()))
    if mutant.reach is Reach.SENT and mutant.edits:
        return ReachingScenarios({name: _overlap(mutant, scenarios[name]) for name in carrying})
    return ReachingScenarios(carrying)


def _unread(mutant: Mutant, suite: SuiteConfig, baselines: Iterable[ScenarioBaseline]) -> str:
    """Return that no scenario makes the agent read what a mutant changes in files of a workspace; else empty.

    Where no request was seen at all, nothing is known of what was read.
    """
    context = suite.full.context
    places = [e.index for e in mutant.edits if e.part == "context" and e.index is not None]
    # one behind the last is a new document
    names = [context[place].name for place in places if place < len(context)]
    named = set(names) & set(suite.full.workspace)
    if not named or len(names) < len(mutant.edits):
        return ""
    if not any(seen.requests for baseline in baselines for seen in baseline.footprints.values()):
        return ""
    return f"no scenario makes the agent read this part of {', '.join(sorted(named))}"


def _either(where: Mapping[str, ReachingScenarios]) -> ReachingScenarios:
    """Return where any part can show. A part that shows nowhere leaves nothing to see of the two together."""
    weights: dict[str, float] = {}
    parts: dict[str, frozenset[str]] = {}
    for part, reach in where.items():
        if not reach.scenarios:
            return ReachingScenarios({}, reach.otherwise, f"{reach.reason} (its part {part})")
        for name, weight in reach.scenarios.items():
            weights[name] = max(weight, weights.get(name, 0.0))
            parts[name] = parts.get(name, frozenset()) | {part}
    return ReachingScenarios(weights, parts=parts)


def _candidates(
    mutant: Mutant,
    suite: SuiteConfig,
    baselines: Mapping[str, ScenarioBaseline],
    scenarios: Mapping[str, Scenario],
) -> dict[str, float]:
    subject = mutant.subject
    shares = {name: _share(mutant.reach, subject, baseline) for name, baseline in baselines.items()}
    if mutant.reach is Reach.CARRIED:
        shares = dict.fromkeys((name for name in baselines if name in suite.carriers(subject)), 1.0)
    if mutant.reach is Reach.CONVERSED:
        shares = dict.fromkeys((name for name in baselines if len(scenarios[name].turns) > 1), 1.0)
    return {name: share for name, share in shares.items() if share > 0}


def _share(reach: Reach, subject: str, baseline: ScenarioBaseline) -> float:
    if reach is Reach.CALLED:
        return baseline.share_calling(subject)
    if reach is Reach.REPEATED:
        return baseline.share_repeating(subject)
    return baseline.share_entering(subject) if reach is Reach.RAN else 1.0


def _overlap(mutant: Mutant, scenario: Scenario) -> float:
    """Return the share of the edited text's content words that the scenario's turns contain."""
    edited = _stems_of(" ".join(str(edit.before or edit.after) for edit in mutant.edits))
    asked = _stems_of(
        " ".join(turn if isinstance(turn, str) else canonical_json(turn) for turn in scenario.turns)
    )
    return len(edited & asked) / len(edited) if edited else 0.0


@lru_cache(maxsize=4096)  # every mutant is compared with every scenario
def _stems_of(text: str) -> frozenset[str]:
    return stems(text)


def _no_coverage(mutant: Mutant) -> str:
    missing = {
        Reach.CALLED: f"makes the agent call {mutant.subject}",
        Reach.REPEATED: f"makes the agent call {mutant.subject} more than once",
        Reach.CARRIED: f"carries {mutant.subject or 'a document'}",
        Reach.RAN: f"makes the agent enter {mutant.subject or 'a node of its flow'}",
        Reach.CONVERSED: "has more than one turn",
        Reach.SENT: "was run",
    }
    return f"no scenario {missing[mutant.reach]}"


def _never_carried(mutant: Mutant, suite: SuiteConfig, baselines: Iterable[ScenarioBaseline]) -> str:
    part = mutant.edits[0].part if mutant.edits else "config"
    seen = [print_ for baseline in baselines for print_ in baseline.footprints.values()]
    return f"{NEVER_CARRIED} {part}: {absence(mutant, suite.full, seen, suite.on_wire)}"
