"""Relations that judge a run alone, on imported runs."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from agentmut._base import RunError, described
from agentmut.judging import comparison_for
from agentmut.nouns import AgentConfig, Check, FollowUp, Pair, Scenario, Source, ToolSpec
from agentmut.project import Project, RelationSettings
from agentmut.seams import ChosenRelation, RelationCatalogue
from agentmut.usecases.analysis_rows import RelationCount
from agentmut.usecases.analysis_runs import JudgedRun

SHOWN = 3
"""Violations of a relation that are told."""


def relation_counts(
    runs: Iterable[JudgedRun],
    scenarios: Mapping[str, Scenario],
    config: AgentConfig,
    wanted: tuple[str, ...],
    project: Project | None,
    root: Path,
) -> Iterator[RelationCount]:
    """Yield each relation that needs no further run and judges at least one run, in the order of names.

    Raises `UsageError` for an unknown relation, and `RunError` for one that raises.
    """
    settings = project.relations if project else RelationSettings()
    catalogue = RelationCatalogue.of(settings.own, root)
    chosen = catalogue.choose(wanted or settings.use).relations
    found = list(runs)
    config = _with_tools(config, found)
    for one in sorted(chosen, key=lambda each: each.label):
        row = _counted(one, found, scenarios, config)
        if row.runs or wanted:
            yield row


def _counted(
    chosen: ChosenRelation, runs: Iterable[JudgedRun], scenarios: Mapping[str, Scenario], config: AgentConfig
) -> RelationCount:
    fits: dict[str, bool] = {}
    judged = violations = 0
    first: list[str] = []
    for run in runs:
        scenario = scenarios[run.found.scenario].model_copy(update={"turns": run.found.trial.turns})
        if scenario.name not in fits:  # asked when it is needed: most relations end at their first run
            fits[scenario.name] = not chosen.relation.lack(scenario, config)
        follow_up = _follow_up(chosen, scenario, config, run) if fits[scenario.name] else None
        if follow_up is not None and follow_up.runs:
            return RelationCount(relation=chosen.label, runs=0, violations=0, takes_runs=True)
        check = None if follow_up is None else _check(chosen, scenario, config, run, follow_up)
        if check is None:
            continue
        judged += 1
        if not check.passed:
            violations += 1
            first += [f"{run.found.trial.place}: {check.reason}"] if len(first) < SHOWN else []
    return RelationCount(relation=chosen.label, runs=judged, violations=violations, first=tuple(first))


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


def _with_tools(config: AgentConfig, runs: Iterable[JudgedRun]) -> AgentConfig:
    """Return the config with the tools that runs called, if the records describe none."""
    if config.tools:
        return config
    called = dict.fromkeys(name for run in runs for name in run.trace.tools_called)
    tools = tuple(ToolSpec(name=name, description="") for name in called)
    return config.model_copy(update={"tools": tools})
