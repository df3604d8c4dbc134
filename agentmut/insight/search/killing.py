"""Whether a proposed scenario kills a mutant that the suite does not kill, by the kill rule."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentmut.campaign import Suite, Tables
from agentmut.insight.search.trial_bench import Bench, WantedRuns
from agentmut.judging import build_all
from agentmut.nouns import Execution, Mutant, Outcome, Scenario
from agentmut.seams import Catalogue, Group
from agentmut.stats import Decision, KillDesign

BASELINE = 15
"""Fresh runs of the original that a kill is judged against."""
MOST = 20
"""Runs of a mutant at most."""
SUSPICIOUS = 0.6
"""The share of a mutant's first runs that has to fail for the rest to be spent."""


@dataclass
class Killing:
    """Tries mutants on proposals. The n-th test of a mutant, each on fresh runs, may err with alpha / (n (n + 1)).

    These levels add up to alpha: that is the chance, at most, that a mutant which is no worse is said to die in a
    search, on top of what the campaign itself may err.
    """

    bench: Bench
    design: KillDesign = field(default_factory=KillDesign)
    tables: Tables = field(default_factory=lambda: Tables(None))
    catalogue: Catalogue = field(default_factory=lambda: Catalogue.from_group(Group.EVALUATORS))
    """Read once: looking for what is installed takes longer than judging."""
    _tests: dict[str, int] = field(default_factory=dict)

    def suspects(self, scenario: Scenario, mutants: Sequence[Mutant], runs: int) -> tuple[Mutant, ...]:
        """Return the mutants whose first runs mostly fail, as many as the budget has room for."""
        wanted = [WantedRuns(scenario, mutant, 0, runs) for mutant in mutants]
        while wanted and not self.bench.affords(wanted):
            wanted.pop()
        executions = self.bench.run(wanted)
        passed = [self.judged(scenario, each) for each in executions]
        return tuple(
            mutant
            for mutant, outcomes in zip(mutants, passed, strict=False)
            if outcomes and outcomes.count(False) >= SUSPICIOUS * len(outcomes)
        )

    def killed(self, scenario: Scenario, mutants: Sequence[Mutant], first: int) -> tuple[str, ...]:
        """Return the ids of the mutants that the kill rule kills; the original's runs begin at repeat `first`.

        As far as the budget goes: without room for the original's runs, none.
        """
        against = [WantedRuns(scenario, None, first, first + BASELINE)]
        if not mutants or not self.bench.affords(against):
            return ()
        outcomes = self.judged(scenario, self.bench.run(against)[0])
        return tuple(m.id for m in mutants if outcomes and self._dies(scenario, m, outcomes))

    def judged(self, scenario: Scenario, runs: Sequence[Execution]) -> list[bool]:
        """Return which of these runs pass the evaluators of a scenario."""
        suite = Suite(
            {scenario.name: scenario}, {scenario.name: build_all(scenario.evaluators, self.catalogue)}
        )
        return [suite.result(scenario.name, run, None).outcome is Outcome.PASS for run in runs]

    def _dies(self, scenario: Scenario, mutant: Mutant, original: Sequence[bool]) -> bool:
        """Return whether the kill rule kills the mutant on fresh runs; the runs that raised suspicion do not count."""
        tests = self._tests[mutant.id] = self._tests.get(mutant.id, 0) + 1
        design = self.design._replace(alpha=self.design.alpha / (tests * (tests + 1)), n_max=MOST)
        table = self.tables.get(original.count(False), len(original), design)
        first, taken = self.bench.plan.repeats, 0
        while taken < MOST:
            taken = min(MOST, taken + first)
            wanted = [WantedRuns(scenario, mutant, first, first + taken)]
            if not self.bench.affords(wanted):
                return False
            failures = [not passed for passed in self.judged(scenario, self.bench.run(wanted)[0])]
            decision = table.verdict(failures).decision
            if decision is not Decision.CONTINUE:
                return decision is Decision.KILLED
        return False
