"""From a project to an assessment that is ready to run: which trials, which rules, which question."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut.engine.assessment.comparability import Counted
from agentmut.engine.assessment.rules import (
    BaselineCounts,
    FixedComparison,
    FixedTrials,
    SequentialComparison,
    Sprt,
)
from agentmut.engine.assessment.state import Assessment, AssessmentPlan, StoppingRule
from agentmut.engine.assessment.summary import Question
from agentmut.engine.plan import new_run_id
from agentmut.engine.session import Session, suite_digest
from agentmut.engine.tables import Tables
from agentmut.errors import UsageError
from agentmut.project import Project
from agentmut.project_schema import StatisticsSettings
from agentmut.scenario import Scenario
from agentmut.stats.kill.rule import KillDesign, level_for
from agentmut.stats.multiplicity import Correction
from agentmut.stats.power import Bound, least_passing_n
from agentmut.stats.proportions import TwoSampleTest
from agentmut.stats.sprt import SprtDesign
from agentmut.verdict_report import BaselineUsed

Shown = dict[str, str | float | int]


class Asked(NamedTuple):
    """What the caller says of a run, whatever it is for."""

    now: float
    """Seconds since the epoch."""
    seed: int | None = None
    fresh: bool = False


class Prepared(NamedTuple):
    """An assessment before its first trial, and what its verdicts will answer."""

    work: Assessment
    question: Question

    @property
    def most_trials(self) -> int:
        """Trials at most, without repeats after trouble."""
        return sum(lane.rule.most for lane in self.work.lanes.values())


def prepare_test(session: Session, asked: Asked) -> Prepared:
    """Every scenario against its threshold.

    Raises `UsageError` where a threshold leaves no room for the margin.
    """
    statistics, settings = session.project.statistics, session.project.test
    rules = {s.name: threshold_rule(session.project, s, len(session.scenarios)) for s in session.scenarios}
    shown: Shown = {"method": settings.method, "trials": settings.trials, "alpha": statistics.alpha}
    if settings.method == "sequential":
        shown |= {"margin": settings.margin, "beta": beta_of(statistics)}
    question = Question(
        statistics.alpha,
        Correction(settings.correction),
        notes=tuple(hopeless(session.project, session.scenarios)),
    )
    return Prepared(_assessment(session, "test", rules, shown, asked), question)


def threshold_rule(project: Project, scenario: Scenario, family: int) -> StoppingRule:
    """The rule of one of `family` scenarios under the project's `test` settings.

    A sequential test has to know its level before it starts: alpha over the number of scenarios.
    """
    settings, threshold = project.test, project.threshold_of(scenario)
    if settings.method == "fixed":
        return FixedTrials(threshold, settings.trials, project.statistics.alpha)
    if threshold <= settings.margin:
        raise UsageError(
            f"test.margin is {settings.margin:g}, but scenario {scenario.name} asks for a pass rate of only "
            f"{threshold:g}: choose a smaller margin, or `test: {{method: fixed}}`."
        )
    level, beta = project.statistics.alpha / family, beta_of(project.statistics)
    return Sprt(SprtDesign(threshold, settings.margin, level, beta, settings.trials), settings.trials)


def prepare_saving(session: Session, trials: int, asked: Asked) -> Prepared:
    """So many trials of every scenario, to be kept as a baseline."""
    project = session.project
    alpha = project.statistics.alpha
    rules = {s.name: FixedTrials(project.threshold_of(s), trials, alpha) for s in session.scenarios}
    work = _assessment(session, "baseline", rules, {"trials": trials}, asked)
    return Prepared(work, Question(alpha, Correction(project.test.correction)))


def prepare_comparison(
    session: Session,
    used: BaselineUsed,
    counted: Mapping[str, Counted],
    tables: Tables,
    notes: tuple[str, ...],
    asked: Asked,
) -> Prepared:
    """The scenarios of `counted`, each against the stored baseline's trials on it."""
    statistics, settings = session.project.statistics, session.project.compare
    sides = {name: found.counts for name, found in counted.items()}
    rules = {
        name: _comparison_rule(session.project, side, len(sides), tables) for name, side in sides.items()
    }
    shown: Shown = {"method": settings.method, "alpha": statistics.alpha, "beta": beta_of(statistics)}
    shown |= {"delta": statistics.delta}
    shown |= {"trials": settings.trials, "test": settings.test} if settings.method == "fixed" else {}
    first = {name: found.first_free for name, found in counted.items()}
    work = _assessment(session, "compare", rules, shown, asked, first)
    correction = Correction(settings.correction)
    return Prepared(work, Question(statistics.alpha, correction, used, sides, notes))


def _comparison_rule(project: Project, side: BaselineCounts, family: int, tables: Tables) -> StoppingRule:
    statistics, settings = project.statistics, project.compare
    alpha, beta, delta = statistics.alpha, beta_of(statistics), statistics.delta
    if settings.method == "fixed":
        return FixedComparison(side, settings.trials, alpha, beta, delta, TwoSampleTest(settings.test))
    design = KillDesign(level_for(family, alpha), beta, delta, statistics.n_max)
    return SequentialComparison(tables.get(side.trials - side.passes, side.trials, design))


def _assessment(
    session: Session,
    kind: str,
    rules: Mapping[str, StoppingRule],
    settings: Shown,
    asked: Asked,
    first: Mapping[str, int] = MappingProxyType({}),
) -> Assessment:
    project = session.project
    plan = AssessmentPlan(
        kind=kind,
        run_id=new_run_id(asked.now),
        started=asked.now,
        seed=project.statistics.seed if asked.seed is None else asked.seed,
        scenarios=tuple(rules),
        budget=project.budget,
        suite_digest=suite_digest(session),
        config_digest=session.suite.full.digest,
        environment=session.environment,
        concurrency=project.execution.concurrency,
        window=project.execution.window,
        fresh=asked.fresh,
        first=dict(first),
        settings=settings,
    )
    return Assessment(plan, session.suite, session.tests.scenarios, rules)


def beta_of(statistics: StatisticsSettings) -> float:
    """The chance of missing a change that matters."""
    return round(1 - statistics.power, 10)


def hopeless(project: Project, scenarios: Iterable[Scenario]) -> Iterator[str]:
    """Scenarios that cannot pass with the trials allowed, whatever the agent does: said before they are run."""
    settings, alpha = project.test, project.statistics.alpha
    for scenario in scenarios if settings.method == "fixed" else ():
        least = least_passing_n(project.threshold_of(scenario), alpha, Bound.CLOPPER_PEARSON)
        if least > settings.trials:
            yield f"{scenario.name} cannot PASS with {settings.trials} trials: {least} passes in a row would do"
