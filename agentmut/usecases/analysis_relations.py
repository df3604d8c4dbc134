"""Relations that judge a run alone, on imported runs, run by run."""

import random
from collections.abc import Iterator
from pathlib import Path

from agentmut.judging import comparison_for
from agentmut.nouns import AgentConfig, Pair, Scenario, Source
from agentmut.project import ExecutionSettings, Project, RelationSettings
from agentmut.relating import asked_check, asked_follow_up, asked_lack
from agentmut.seams import ChosenRelation, RelationCatalogue
from agentmut.usecases.analysis_rows import RelationCount
from agentmut.usecases.analysis_runs import JudgedRun

SHOWN = 3
"""Violations of a relation that are told."""


class RelationTallies:
    """The relations that need no further run, run by run.

    `wanted` are names or families; empty for those of the project, or all. Raises `UsageError` for an unknown
    relation, and `RunError` for one that raises.
    """

    def __init__(
        self, config: AgentConfig, wanted: tuple[str, ...], project: Project | None, root: Path
    ) -> None:
        settings = project.relations if project else RelationSettings()
        catalogue = RelationCatalogue.from_references(settings.own, root)
        seconds = (project.execution if project else ExecutionSettings()).evaluator_timeout
        chosen = catalogue.choose(wanted or settings.use, seconds).relations
        self._all = bool(wanted)
        self._tallies = [_Tally(one, config) for one in sorted(chosen, key=lambda each: each.label)]

    def add(self, run: JudgedRun, scenario: Scenario) -> None:
        """Judge one run that is evidence; `scenario` is that of its name."""
        said = scenario.model_copy(update={"turns": run.found.trial.turns})
        for tally in self._tallies:
            tally.add(run, said)

    def rows(self) -> Iterator[RelationCount]:
        """Yield each relation that judged at least one run, in the order of names; each at all if some were named."""
        counts = (tally.count() for tally in self._tallies)
        return (row for row in counts if row.runs or self._all)


class _Tally:
    """One relation's verdicts. A relation that turns out to need a further run judges none."""

    def __init__(self, chosen: ChosenRelation, config: AgentConfig) -> None:
        self._chosen, self._config = chosen, config
        self._fits: dict[str, bool] = {}
        self._judged = self._violations = 0
        self._first: list[str] = []
        self._takes_runs = False

    def add(self, run: JudgedRun, scenario: Scenario) -> None:
        """Judge one run by the relation, if its scenario fits."""
        if self._takes_runs or not self._applies(scenario):
            return
        where, rng = str(run.found.trial.place), random.Random(f"{self._chosen.label}:{scenario.name}")
        follow_up = asked_follow_up(self._chosen, Source(scenario, self._config, run.trace, rng), where)
        if follow_up is None:
            return
        if follow_up.runs:
            self._takes_runs = True
            return
        pair = Pair(scenario, self._config, run.trace, follow_up, (), comparison_for(scenario))
        check = asked_check(self._chosen, pair, where)
        if check is not None:
            self._judged += 1
            self._violations += not check.passed
            if not check.passed and len(self._first) < SHOWN:
                self._first.append(f"{run.found.trial.place}: {check.reason}")

    def _applies(self, scenario: Scenario) -> bool:
        """Return whether a scenario fits, asked when it is needed: most relations end at their first run."""
        if scenario.name not in self._fits:
            self._fits[scenario.name] = not asked_lack(self._chosen, scenario, self._config)
        return self._fits[scenario.name]

    def count(self) -> RelationCount:
        """Return how many runs were judged and how many violate the relation."""
        label = self._chosen.label
        if self._takes_runs:
            return RelationCount(relation=label, runs=0, violations=0, takes_runs=True)
        first = tuple(self._first)
        return RelationCount(relation=label, runs=self._judged, violations=self._violations, first=first)
