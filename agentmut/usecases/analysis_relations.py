"""Relations that judge a run alone, on imported runs, run by run."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from agentmut._base import RunError, described
from agentmut.judging import comparison_for
from agentmut.nouns import AgentConfig, Check, FollowUp, Pair, Scenario, Source
from agentmut.project import Project, RelationSettings
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
        chosen = catalogue.choose(wanted or settings.use).relations
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
        if self._takes_runs or not self._applies(scenario):
            return
        follow_up = _follow_up(self._chosen, scenario, self._config, run)
        if follow_up is None:
            return
        if follow_up.runs:
            self._takes_runs = True
            return
        check = _check(self._chosen, scenario, self._config, run, follow_up)
        if check is not None:
            self._judged += 1
            self._violations += not check.passed
            if not check.passed and len(self._first) < SHOWN:
                self._first.append(f"{run.found.trial.place}: {check.reason}")

    def _applies(self, scenario: Scenario) -> bool:
        """Return whether a scenario fits, asked when it is needed: most relations end at their first run."""
        if scenario.name not in self._fits:
            self._fits[scenario.name] = not self._chosen.relation.lack(scenario, self._config)
        return self._fits[scenario.name]

    def count(self) -> RelationCount:
        label = self._chosen.label
        if self._takes_runs:
            return RelationCount(relation=label, runs=0, violations=0, takes_runs=True)
        first = tuple(self._first)
        return RelationCount(relation=label, runs=self._judged, violations=self._violations, first=first)


def _follow_up(
    chosen: ChosenRelation, scenario: Scenario, config: AgentConfig, run: JudgedRun
) -> FollowUp | None:
    rng = random.Random(f"{chosen.label}:{scenario.name}")
    found = _asked(chosen, lambda: chosen.relation.follow_up(Source(scenario, config, run.trace, rng)))
    return found if isinstance(found, FollowUp) else None


def _check(
    chosen: ChosenRelation, scenario: Scenario, config: AgentConfig, run: JudgedRun, follow_up: FollowUp
) -> Check | None:
    pair = Pair(scenario, config, run.trace, follow_up, (), comparison_for(scenario))
    found = _asked(chosen, lambda: chosen.relation.holds(pair))
    return found if isinstance(found, Check) else None


def _asked(chosen: ChosenRelation, call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as error:  # a relation may be anybody's code
        raise RunError(
            f"relation {chosen.label!r} raised {described(error)}. Correct the relation."
        ) from error
