"""Algorithm 1: aim at the weakest dimension, run what is proposed, keep what adds something, make it short."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from agentmut._base import digest_of
from agentmut.insight.coverage import measure
from agentmut.insight.coverage.nouns import Coverage
from agentmut.insight.generate.aims import Weakness, weaknesses
from agentmut.insight.generate.proposals import Aim, AimKind, Proposal, proposals
from agentmut.insight.search.killing import Killing
from agentmut.insight.search.search_start import Start
from agentmut.insight.search.trial_bench import Bench, BudgetUsedUpError, Wanted
from agentmut.insight.search.trying import Found, Tried, Trying
from agentmut.nouns import ScenarioSuggestion

BATCH = 4
"""Proposals that are run together."""
EACH = 6
"""Proposals for one aim at most, of those that nothing is known against."""
MOST = {AimKind.NODE: 12, AimKind.EDGE: 12}
"""For other aims: words for a branch are guessed, so more of them are tried."""
FRUITLESS = 12
"""Proposals in a row that add nothing, after which a dimension is left alone."""


@dataclass
class Ended:
    """What a search has found."""

    kept: tuple[Found, ...]
    before: Coverage
    after: Coverage
    tried: int
    why: str
    """Why it ended."""


@dataclass
class Search:
    """A search under way. What it does is a function of its start, the plan's seed, and what runs turn out to be."""

    start: Start
    bench: Bench
    killing: Killing
    kept: list[Found] = field(default_factory=list)
    tried: int = 0
    _states: float | None = None
    _seen: set[str] = field(default_factory=set)
    _sources: dict[tuple[str, AimKind, str], Iterator[Proposal]] = field(default_factory=dict)
    _fruitless: dict[str, int] = field(default_factory=dict)

    def run(self) -> Ended:
        """Search until the budget or the proposals end. Raises the errors of `Bench.run` except `BudgetUsedUpError`."""
        before = self._coverage()
        self._seen = {Proposal(s.turns, s, "").identity for s in self.start.scenarios}
        trying = Trying(self.start, self.bench, self.killing, {str(item) for item in before.covered})
        try:
            self._try(trying, list(self.start.also))
            while batch := self._next():
                self._try(trying, batch[1], batch[0])
            why = "no proposals are left"
        except BudgetUsedUpError as ended:
            why = str(ended)
        return Ended(tuple(self.kept), before, self._coverage(), self.tried, why)

    def _coverage(self) -> Coverage:
        """Return the coverage of the stored runs and of the kept scenarios' runs."""
        traces = self.start.traces | {found.scenario.name: found.traces for found in self.kept}
        suite = (*self.start.scenarios, *(found.scenario for found in self.kept))
        context = replace(self.start.context, scenarios=suite, calibrated=self._states)
        found = measure(traces, self.start.config, self.start.settings, context)
        self._states = self._states or found.states  # so that later measurements compare with the first
        return found

    def _next(self) -> tuple[str, list[Proposal]] | None:
        """Return the weakest dimension that still has proposals, and the next ones for it; those that fail
        take turns.
        """
        killed = {mutant for found in self.kept for mutant in found.kills}
        alive = [mutant for mutant in self.start.alive if mutant.id not in killed]
        found = weaknesses(self._coverage(), self.start.settings.target, alive, self._score(len(killed)))
        for weak in sorted(found, key=lambda each: (not each.known, self._failed(each))):
            if self._fruitless.get(weak.dimension, 0) >= FRUITLESS:
                continue
            if batch := self._batch(weak):
                return weak.dimension, batch
        return None

    def _failed(self, weak: Weakness) -> int:
        """Return the number of batches for a dimension that have added nothing: then the next weakest has its turn."""
        return self._fruitless.get(weak.dimension, 0) // BATCH

    def _score(self, newly: int) -> float | None:
        """Return the mutation score, if the mutants that died in the search counted as killed."""
        score, alive = self.start.score, len(self.start.alive)
        if score is None or score >= 1 or not alive:
            return score
        return score + (1 - score) * newly / alive

    def _batch(self, weak: Weakness) -> list[Proposal]:
        """Return one new proposal for each of several aims; what comes up again is dropped."""
        found: list[Proposal] = []
        for _ in range(EACH):
            for aim in weak.aims:
                if len(found) == BATCH:
                    return found
                if proposal := self._new(weak.dimension, aim):
                    found.append(proposal)
        return found

    def _new(self, dimension: str, aim: Aim) -> Proposal | None:
        key = (dimension, aim.kind, aim.item)
        if key not in self._sources:
            made = proposals(aim, self.start.known, self.start.relations, self.bench.plan.seed)
            self._sources[key] = made if aim.kind is AimKind.ANY else islice(made, MOST.get(aim.kind, EACH))
        for proposal in self._sources[key]:
            if proposal.identity not in self._seen:
                self._seen.add(proposal.identity)
                return proposal
        return None

    def _try(self, trying: Trying, batch: Sequence[Proposal], dimension: str = "") -> None:
        for tried in self._first_runs(trying, batch):
            self.tried += 1
            found = trying.judged(tried)
            self._fruitless[dimension] = 0 if found else self._fruitless.get(dimension, 0) + 1
            if found:
                self.kept.append(found)
                self._seen.add(found.proposal._replace(turns=found.scenario.turns).identity)

    def _first_runs(self, trying: Trying, batch: Sequence[Proposal]) -> list[Tried]:
        """Return the first runs of each, together: as many proposals as the budget has room for."""
        repeats = self.bench.plan.repeats
        scenarios = [trying.scenario(proposal) for proposal in batch]
        wanted = [Wanted(scenario, None, 0, repeats) for scenario in scenarios]
        while len(wanted) > 1 and not self.bench.affords(wanted):
            wanted.pop()
        runs = self.bench.run(wanted) if wanted else []
        return [
            Tried(proposal, each.scenario, executions)
            for proposal, each, executions in zip(batch, wanted, runs, strict=False)
        ]


def scenario_suggestions(ended: Ended) -> tuple[ScenarioSuggestion, ...]:
    """Return one suggestion for each kept scenario, in the order of finding."""
    return tuple(_suggestion(found) for found in ended.kept)


def _suggestion(found: Found) -> ScenarioSuggestion:
    scenario = found.scenario
    return ScenarioSuggestion(
        id=digest_of(scenario.model_dump(mode="json"))[:8],
        scenario=scenario,
        origin=found.proposal.origin,
        aim=found.proposal.goal,
        why="; ".join(_why(found)),
        adds=found.adds,
        kills=found.kills,
        passes=found.passes,
        trials=found.trials,
    )


def _why(found: Found) -> Iterator[str]:
    if found.adds:
        yield f"reaches {len(found.adds)} item{'s' * (len(found.adds) != 1)} that no scenario covers"
    if found.kills:
        yield f"kills {len(found.kills)} mutant{'s' * (len(found.kills) != 1)} that the suite lets live"
    yield "its evaluators say what the agent did, which need not be right: confirm or change them"
    if found.made_up:
        yield f'the made-up double of {", ".join(found.made_up)} answers {{"ok": true}}: put a likely result there'
    if found.recorded:
        yield (
            f"the double of {', '.join(found.recorded)} repeats what a stored run was answered, whatever it is asked: "
            "see whether that fits"
        )
