"""Algorithm 1: aim at the weakest dimension, run the proposals, keep the useful ones, make them short.

Each tool, and the first idea for each rule and boundary, is tried beside inputs of the suite first. Each idea is run
once before any is confirmed: most show nothing new, and one run tells. What showed something is then confirmed, that
which showed most first, while ideas that are left are run with what the budget has beyond that.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.insight.generate.aims import Weakness, weaknesses
from agentmut.insight.generate.proposals import Aim, AimKind, Proposal, beside_inputs, proposals
from agentmut.insight.search.killing import Killing
from agentmut.insight.search.proposal_check import KeptScenario, TriedProposal, Trying, is_enough
from agentmut.insight.search.search_start import Start
from agentmut.insight.search.trial_bench import Bench, BudgetUsedUpError, WantedRuns
from agentmut.nouns import ScenarioSuggestion

BATCH = 4
"""Proposals that are run together."""
EACH = 6
"""Proposals for one aim at most, of those that nothing is known against."""
MOST = {AimKind.NODE: 12, AimKind.EDGE: 12}
"""For other aims: words for a branch are guessed, so more of them are tried."""
MOST_ROUNDS = max(EACH, *MOST.values())
SWEPT = 0.6
"""The share of the budget for requests for tools and the first idea for each aim, before anything is confirmed."""
FIRST_IDEAS = (Dimension.RULE, Dimension.BOUNDARY)
FRUITLESS = 24
"""Proposals in a row that add nothing, after which a dimension is left alone."""


class PromisingProposal(NamedTuple):
    """A proposal whose single run showed something new."""

    tried: TriedProposal
    dimension: str
    items: frozenset[str]
    """What it showed that is not covered, without paths."""
    may_kill: bool


@dataclass
class EndedSearch:
    """The findings of a search."""

    kept: tuple[KeptScenario, ...]
    before: Coverage
    after: Coverage
    tried: int
    why: str
    """Why it ended."""


@dataclass
class Search:
    """A running search: a function of its start, the plan's seed, and the outcomes of runs."""

    start: Start
    bench: Bench
    killing: Killing
    kept: list[KeptScenario] = field(default_factory=list)
    tried: int = 0
    _states: float | None = None
    _seen: set[str] = field(default_factory=set)
    _sources: dict[tuple[str, AimKind, str], Iterator[Proposal]] = field(default_factory=dict)
    _fruitless: dict[str, int] = field(default_factory=dict)
    _promising: list[PromisingProposal] = field(default_factory=list)
    _glimpsed: set[str] = field(default_factory=set)
    """Items that some single run showed."""
    _taken: Counter[tuple[str, AimKind, str]] = field(default_factory=Counter)
    """Proposals tried for each aim."""
    _round: int = 0

    def run(self) -> EndedSearch:
        """Search until the budget or the proposals end. Raises the errors of `Bench.run` except `BudgetUsedUpError`."""
        before = self._coverage()
        self._seen = {Proposal(s.turns, s, "").identity for s in self.start.scenarios}
        trying = Trying(self.start, self.bench, self.killing, {str(item) for item in before.covered})
        try:
            self._glimpse(trying, list(self.start.also))
            self._sweep(trying)
            while self._step(trying):
                pass
            why = "no proposals are left"
        except BudgetUsedUpError as ended:
            why = str(ended)
        return EndedSearch(tuple(self.kept), before, self._coverage(), self.tried, why)

    def _sweep(self, trying: Trying) -> None:
        """Ask for each tool, try the first idea for each aim, then ask for two tools, within a share of the budget.

        Each request stands beside an input of the suite, so it has the numbers that a tool needs, and brings tools,
        rules, states and paths that an input of one purpose does not.
        """
        tools = list(beside_inputs(self.start.known))
        alone = len(self.start.config.tools)
        ideas = [*tools[:alone], *self._first_ideas(), *tools[alone:]]
        fresh = [one for one in ideas if one.identity not in self._seen]
        room = int(self.bench.plan.trials * SWEPT)
        for first in range(0, len(fresh), BATCH):
            batch = fresh[first : first + BATCH]
            if self.bench.trials_asked_for + len(batch) > room:
                return
            self._seen |= {one.identity for one in batch}
            self._glimpse(trying, batch)

    def _first_ideas(self) -> Iterator[Proposal]:
        """Yield the first input for each rule that no run has brought into force, and for each boundary not met."""
        weak = {w.dimension: w for w in weaknesses(self._coverage(), self.start.settings.target, (), None)}
        for dimension in FIRST_IDEAS:
            for aim in weak[dimension].aims if dimension in weak else ():
                yield from islice(proposals(aim, self.start.known, (), self.bench.plan.seed), 1)

    def _step(self, trying: Trying) -> bool:
        """Run the next proposals once; if none are left in this round, or no budget, confirm the most promising one."""
        if (not self._promising or self._has_room()) and (batch := self._next()):
            self._glimpse(trying, batch[1], batch[0])
        elif self._promising:
            self._confirm_best(trying)
        elif self._round < MOST_ROUNDS:
            self._round += 1
        else:
            return False
        return True

    def _has_room(self) -> bool:
        """Return whether more ideas can be run, and what is promising confirmed afterwards."""
        return (
            self.bench.trials_asked_for + BATCH + self._reserve(len(self._promising) + 1)
            <= self.bench.plan.trials
        )

    def _reserve(self, proposals: int) -> int:
        """Return the trials that a confirmation of so many proposals takes, one run of each being there."""
        return proposals * (2 * self.bench.plan.repeats - 1)

    def _glimpse(self, trying: Trying, batch: Sequence[Proposal], dimension: str = "") -> None:
        """Run proposals once and record what they cover."""
        for tried in self._runs(trying, batch, 1):
            self.tried += 1
            items = frozenset(filter(is_enough, trying.glimpsed(tried)))
            may_kill = trying.may_kill(tried)
            if items - self._glimpsed or may_kill:
                self._promising.append(PromisingProposal(tried, dimension, items, may_kill))
                self._glimpsed |= items
                self._fruitless[dimension] = 0
            else:
                self._fruitless[dimension] = self._fruitless.get(dimension, 0) + 1

    def _confirm_best(self, trying: Trying) -> None:
        """Repeat the proposal that covered most of the missing items, and keep it if it covers them again."""
        best = max(self._promising, key=lambda one: (len(one.items - trying.covered), one.may_kill))
        self._promising.remove(best)
        if not (best.items - trying.covered or best.may_kill):
            return
        left = [one for one in self._promising if one.items - trying.covered - best.items]
        trying.keep = self._reserve(len(left))
        for tried in self._runs(trying, [best.tried.proposal], self.bench.plan.repeats):
            if found := trying.judged(tried):
                self.kept.append(found)
                self._seen.add(found.proposal._replace(turns=found.scenario.turns).identity)
            else:
                self._glimpsed -= best.items  # they may show by another input

    def _coverage(self) -> Coverage:
        """Return the coverage of the stored runs and of the kept scenarios' runs."""
        traces = self.start.traces | {found.scenario.name: found.traces for found in self.kept}
        suite = (*self.start.scenarios, *(found.scenario for found in self.kept))
        context = replace(self.start.context, scenarios=suite, calibrated=self._states)
        found = measure(traces, self.start.config, self.start.settings, context)
        self._states = self._states or found.states  # so that later measurements compare with the first
        return found

    def _next(self) -> tuple[str, list[Proposal]] | None:
        """Return the weakest dimension that still has proposals, with the next ones; failing dimensions take turns."""
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
        """Return how many batches of a dimension added nothing, after which the next dimension has its turn."""
        return self._fruitless.get(weak.dimension, 0) // BATCH

    def _score(self, newly: int) -> float | None:
        """Return the mutation score, if the mutants that died in the search counted as killed."""
        score, alive = self.start.score, len(self.start.alive)
        if score is None or score >= 1 or not alive:
            return score
        return score + (1 - score) * newly / alive

    def _batch(self, weak: Weakness) -> list[Proposal]:
        """Return one new proposal for each of several aims that had none in this round and are not covered yet."""
        found: list[Proposal] = []
        for aim in weak.aims:
            key = (weak.dimension, aim.kind, aim.item)
            while len(found) < BATCH and self._taken[key] <= self._round and aim.item not in self._glimpsed:
                self._taken[key] += 1
                if aim.kind is AimKind.ANY:
                    self._taken[key] = 0
                if not (proposal := self._new(weak.dimension, aim)):
                    self._taken[key] = MOST_ROUNDS + 1
                    break
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

    def _runs(self, trying: Trying, batch: Sequence[Proposal], repeats: int) -> list[TriedProposal]:
        """Return the first runs of each, together: as many proposals as the budget has room for."""
        scenarios = [trying.scenario(proposal) for proposal in batch]
        wanted = [WantedRuns(scenario, None, 0, repeats) for scenario in scenarios]
        while len(wanted) > 1 and not self.bench.affords(wanted):
            wanted.pop()
        runs = self.bench.run(wanted) if wanted else []
        return [
            TriedProposal(proposal, each.scenario, executions)
            for proposal, each, executions in zip(batch, wanted, runs, strict=False)
        ]


def scenario_suggestions(ended: EndedSearch) -> tuple[ScenarioSuggestion, ...]:
    """Return one suggestion for each kept scenario, in the order of their finding."""
    return tuple(_suggestion(found) for found in ended.kept)


def _suggestion(found: KeptScenario) -> ScenarioSuggestion:
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


def _why(found: KeptScenario) -> Iterator[str]:
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
