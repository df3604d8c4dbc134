"""Stored runs that are evidence of behaviour, and the kill rule on them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.campaign import Rule, StoredCampaign, Tables
from agentmut.insight.explain.meaning import Meaning, meaning_of
from agentmut.insight.explain.views import View
from agentmut.nouns import Outcome, Scenario
from agentmut.seams import Catalogue, Evaluator, Group
from agentmut.stats import Decision, KillDesign, level_for
from agentmut.store import StoredTrial

MASKED = "secrets were masked in them, so new assertions cannot judge them"
NO_EVIDENCE = "they say nothing about the agent (trouble of the service or of the machine)"


class Run(NamedTuple):
    """One stored run."""

    view: View
    passed: bool
    """By the scenario's own evaluators."""
    answered: bool
    """False where it failed before there was an answer to judge."""


Runs = tuple[Run, ...]


@dataclass
class StoredRuns:
    """The runs of a campaign, each read and judged once."""

    campaign: StoredCampaign
    left_out: Counter[str] = field(default_factory=Counter)
    """Why runs are left out -> how many, of those asked for so far."""
    catalogue: Catalogue = field(default_factory=lambda: Catalogue.from_group(Group.EVALUATORS))
    families: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Candidates by mutant and scenario, which `family` keeps here."""
    _runs: dict[str, Mapping[str, Runs]] = field(default_factory=dict)
    _noticed: dict[str, bool] = field(default_factory=dict)
    _meanings: dict[str, Meaning | None] = field(default_factory=dict)
    _tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        self._tables = Tables.from_project(self.campaign.session.project)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes for readers of results that rest on these runs."""
        left_out = (
            f"{count} stored runs are left out: {why}" for why, count in sorted(self.left_out.items())
        )
        return (*self.campaign.notes, *left_out)

    def meaning(self, mutant: str) -> Meaning | None:
        """Return the subject of a mutant; None if it was made from another config."""
        if mutant not in self._meanings:
            plan, full = self.campaign.plan, self.campaign.session.suite.full
            made = next((one for one in plan.mutants if one.id == mutant), None)
            fits = made is not None and plan.config_digest == full.digest
            self._meanings[mutant] = meaning_of(made, full) if made and fits else None
        return self._meanings[mutant]

    def scenario(self, name: str) -> Scenario:
        """Return a scenario of the suite."""
        return self.campaign.session.tests.scenarios[name]

    def threshold(self, name: str) -> float:
        """Return the pass rate asked of a scenario."""
        return self.campaign.session.project.threshold_of(self.scenario(name))

    def runs(self, mutant: str) -> Mapping[str, Runs]:
        """Return the runs of a mutant (of the original: an empty id) by scenario, in the order of the repeats."""
        if mutant not in self._runs:
            kept = self.campaign.trials_of_mutant(mutant)
            self._runs[mutant] = {name: self._read(name, trials) for name, trials in kept.items()}
        return self._runs[mutant]

    def runs_on(self, mutant: str, scenario: str) -> Runs:
        """Return the runs of a mutant on one scenario; none if it was not tried there."""
        return self.runs(mutant).get(scenario, ())

    def kills(self, mutant: str, scenario: str, fails: Callable[[Run], bool], original: Runs) -> bool:
        """Return whether the kill rule kills the mutant by its stored runs on a scenario with these failures.

        At the level that the scenario has among those the mutant was tried on. `original`: the runs of the original
        that are its baseline; failures that these runs have chosen would make it look better than it is.
        """
        if not original:
            return False
        plan_rule, scenarios = self.campaign.plan.rule, len(self.runs(mutant))
        design = KillDesign(
            level_for(scenarios, _alpha(plan_rule)), plan_rule.beta, plan_rule.delta, plan_rule.n_max
        )
        table = self._tables.get(sum(map(fails, original)), len(original), design)
        runs = self.runs_on(mutant, scenario)[: design.n_max]
        return table.verdict(map(fails, runs)).decision is Decision.KILLED

    def noticed(self, mutant: str) -> bool:
        """Return whether today's evaluators kill the mutant by its stored runs on some scenario."""
        if mutant not in self._noticed:
            self._noticed[mutant] = any(
                self.kills(mutant, name, lambda run: not run.passed, self.runs_on("", name))
                for name in self.runs(mutant)
            )
        return self._noticed[mutant]

    def _read(self, name: str, trials: Sequence[StoredTrial]) -> Runs:
        return tuple(run for trial in trials if (run := self._run(name, trial)))

    def _run(self, name: str, trial: StoredTrial) -> Run | None:
        execution = trial.execution
        if not execution.ending.is_evidence:
            self.left_out[NO_EVIDENCE] += 1
            return None
        if execution.trace.judged is not None:
            self.left_out[MASKED] += 1
            return None
        judged = self.campaign.session.tests.result(name, execution, None).outcome
        return Run(View(execution.trace), judged is Outcome.PASS, execution.ending.outcome is None)


def _alpha(rule: Rule) -> float:
    return rule.alpha * (1 - rule.suite_share)


def holds_in_each(evaluator: Evaluator, scenario: Scenario, runs: Iterable[Run]) -> tuple[bool, ...]:
    """Return whether an evaluator holds in each run; it does not hold in a run without an answer."""
    return tuple(run.answered and evaluator.evaluate(scenario, run.view.trace).passed for run in runs)
