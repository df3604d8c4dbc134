"""From a project to an assessment that is ready to run: its trials, its rules, its question."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.assessment.comparability import RecountedBaseline
from agentmut.assessment.comparison_rules import (
    Family,
    comparison_rule,
    promised,
    shares_of,
    side_given,
    weakness,
)
from agentmut.assessment.remarks import with_names
from agentmut.assessment.rules import FixedTrials, Sprt, WarmStart
from agentmut.assessment.state import Assessment, AssessmentPlan, StoppingRule
from agentmut.assessment.summary import Question
from agentmut.campaign import Session, Tables, first_repeats, held_trials, plan_fields, renewed
from agentmut.nouns import Scenario
from agentmut.project import BudgetSettings, Project
from agentmut.stats import Bound, Correction, Past, SprtDesign, WarmSprt, least_passing_n
from agentmut.store import BaselineUsed

Shown = dict[str, str | float | int]
_FEW = 3
"""Scenarios that a note names."""
SAME_AGENT = 6 * 3600
"""Seconds. When nothing has changed since the baseline, a comparison can only show a drift of the service; then trials
older than this say nothing new, and younger ones let an interrupted comparison go on."""


class RunSettings(NamedTuple):
    """The caller's settings for any kind of run."""

    now: float
    """Seconds since the epoch."""
    seed: int | None = None
    fresh: bool = False


class PreparedAssessment(NamedTuple):
    """An assessment before its first trial, and the question that its verdicts will answer."""

    work: Assessment
    question: Question
    recorded: bool = False
    """Whether all trials are there already, as recordings of another tool, so that nothing is run."""

    @property
    def most_trials(self) -> int:
        """Return the largest number of trials, without repeats after trouble."""
        return sum(lane.rule.most for lane in self.work.lanes.values())


def prepare_test(
    session: Session, run_settings: RunSettings, past: Mapping[str, Past] = MappingProxyType({})
) -> PreparedAssessment:
    """Prepare a test of every scenario against its threshold.

    `past` has earlier trials of scenarios, none of which this test may take over; it is read where the project's
    `test.warm_start` is on.
    Raises `UsageError` for settings that no test can have.
    """
    statistics, settings = session.project.statistics, session.project.test
    shares = shares_of(len(session.scenarios), settings.correction)
    trials = _within(session, settings.trials)
    known = past if settings.warm_start else {}
    rules = {
        s.name: threshold_rule(session.project, s, shares, trials[s.name], known.get(s.name))
        for s in session.scenarios
    }
    shown: Shown = {"method": settings.method, "trials": settings.trials, "alpha": statistics.alpha_of_a_look}
    if settings.method == "sequential":
        shown |= {"margin": settings.margin, "beta": statistics.beta}
    shown |= {"warm_start": "yes"} if settings.warm_start else {}
    question = Question(
        statistics.alpha_of_a_look,
        Correction(settings.correction),
        notes=(
            *_warm_start(rules),
            *_remarks(session),
            *_renewed(session),
            *known_before(session.project, session.scenarios, trials),
            *session.tests.notes(),
        ),
    )
    work = _assessment(session, "test", rules, shown, run_settings, first_repeats(session.ages))
    return PreparedAssessment(work, question, held_trials(session) is not None)


def _within(session: Session, trials: int) -> dict[str, int]:
    """Return the number of trials of each scenario: `trials`, or the recorded number if none can be run."""
    held = held_trials(session)
    most = held.trials if held else {}
    return {one.name: min(trials, most.get(one.name, trials)) for one in session.scenarios}


def _remarks(session: Session) -> tuple[str, ...]:
    held = held_trials(session)
    return held.remarks if held else ()


def _warm_start(rules: Mapping[str, StoppingRule]) -> Iterator[str]:
    """Yield the note that earlier tests choose the alternatives. Their trials are no evidence of today's agent."""
    pasts = [rule.test.past for rule in rules.values() if isinstance(rule, WarmStart)]
    if pasts:
        trials = sum(past.trials for past in pasts)
        yield (
            f"warm start: {trials} earlier trials of {len(pasts)} of {len(rules)} scenarios choose the rates that the "
            "test looks for first; they are no evidence, and its error rates hold whatever they show"
        )


def _renewed(session: Session) -> Iterator[str]:
    return renewed(session.ages, "new runs of the agent there")


def threshold_rule(
    project: Project, scenario: Scenario, shares: float, trials: int | None = None, past: Past | None = None
) -> StoppingRule:
    """Return the rule of one scenario under the project's `test` settings, with at most `trials` if given.

    A sequential test looks first for rates that the trials of `past` make likely.

    A sequential test has to know its level before it starts: alpha over the shares of the suite. Raises `UsageError`.
    """
    settings, threshold = project.test, project.threshold_of(scenario)
    most = settings.trials if trials is None else trials
    if settings.method == "fixed":
        return FixedTrials(threshold, most, project.statistics.alpha_of_a_look)
    level, beta = project.statistics.alpha_of_a_look / shares, project.statistics.beta
    try:
        design = SprtDesign(threshold, margin_of(project, scenario), level, beta, most)
    except ValueError as error:
        raise UsageError(f"scenario {scenario.name} cannot be tested sequentially: {error}.") from None
    return WarmStart(WarmSprt(design, past), most) if past and past.trials else Sprt(design, most)


def margin_of(project: Project, scenario: Scenario) -> float:
    """Return the project's margin, or half the threshold where that is less: a rate below 0 is no alternative."""
    return min(project.test.margin, project.threshold_of(scenario) / 2)


def prepare_saving(
    session: Session, trials: int | None, run_settings: RunSettings, kind: str = "baseline"
) -> PreparedAssessment:
    """Prepare so many trials of every scenario, or `compare.trials`, to be stored as a baseline or as `kind`."""
    if trials is None:
        trials = max(2, session.project.compare.trials)
    project = session.project
    alpha = project.statistics.alpha
    most = _within(session, trials)
    rules = {s.name: FixedTrials(project.threshold_of(s), most[s.name], alpha) for s in session.scenarios}
    work = _assessment(session, kind, rules, {"trials": trials}, run_settings, first_repeats(session.ages))
    notes = (*_remarks(session), *_renewed(session))
    question = Question(alpha, Correction(project.test.correction), notes=notes)
    return PreparedAssessment(work, question, held_trials(session) is not None)


def prepare_series(
    session: Session,
    trials: Mapping[str, int],
    first: Mapping[str, int],
    run_settings: RunSettings,
    left: BudgetSettings,
) -> PreparedAssessment:
    """Prepare new trials of each scenario for a baseline that is kept; `left` is what may be spent."""
    alpha, project = session.project.statistics.alpha, session.project
    rules = {
        name: FixedTrials(project.threshold_of(session.tests.scenarios[name]), n, alpha)
        for name, n in trials.items()
    }
    shown: Shown = {"trials": max(trials.values(), default=0)}
    work = _assessment(session, "baseline", rules, shown, run_settings._replace(fresh=True), first)
    work = Assessment(work.plan.model_copy(update={"budget": left}), work.suite, work.scenarios, rules)
    return PreparedAssessment(work, Question(alpha, Correction(project.compare.correction)))


def prepare_comparison(
    session: Session,
    used: BaselineUsed,
    counted: Mapping[str, RecountedBaseline],
    tables: Tables,
    notes: tuple[str, ...],
    run_settings: RunSettings,
    older: tuple[str, ...] = (),
) -> PreparedAssessment:
    """Prepare a comparison of the scenarios in `counted` with the trials of the stored baseline.

    `older` are those whose evaluators may have been chosen by these trials.
    """
    statistics, settings = session.project.statistics, session.project.compare
    sides = {name: found.counts for name, found in counted.items()}
    family = Family.from_project(session.project, len(sides))
    rules = {
        name: comparison_rule(session.project, found.counts, family, tables, found.looks)
        for name, found in counted.items()
    }
    given = {name: side_given(session.project, rules[name], found.counts) for name, found in counted.items()}
    shown: Shown = {"method": settings.method, "alpha": statistics.alpha_of_a_look, "beta": statistics.beta}
    shown |= {"delta": statistics.delta}
    shown |= {"trials": settings.trials, "test": settings.test} if settings.method == "fixed" else {}
    first = {name: found.first_free for name, found in counted.items()}
    max_age = SAME_AGENT if used.same_agent else None
    work = _assessment(session, "compare", rules, shown, run_settings, first, max_age)
    correction = Correction(settings.correction)
    used = promised(used, given.values(), statistics.alpha_of_a_look)
    weak = with_names((name, weakness(session.project, side)) for name, side in given.items())
    return PreparedAssessment(
        work, Question(statistics.alpha_of_a_look, correction, used, sides, (*notes, *weak), given, older)
    )


def _assessment(
    session: Session,
    kind: str,
    rules: Mapping[str, StoppingRule],
    settings: Shown,
    run_settings: RunSettings,
    first: Mapping[str, int] = MappingProxyType({}),
    max_age: float | None = None,
) -> Assessment:
    plan = AssessmentPlan(
        kind=kind,
        **plan_fields(session, run_settings.now, run_settings.seed),
        scenarios=tuple(rules),
        window=session.project.execution.window,
        fresh=run_settings.fresh,
        max_age=max_age,
        first=dict(first),
        settings=settings | ({"fresh": True} if run_settings.fresh else {}),
    )
    return Assessment(plan, session.suite, session.tests.scenarios, rules)


def known_before(
    project: Project, scenarios: Iterable[Scenario], trials: Mapping[str, int] = MappingProxyType({})
) -> Iterator[str]:
    """Yield what a user should know before any trial: scenarios that cannot pass, and margins that are not the asked
    one. `trials` has the most trials of scenarios that cannot have as many as the project asks for.
    """
    settings, alpha = project.test, project.statistics.alpha_of_a_look
    too_few: dict[tuple[int, int], list[str]] = {}
    for scenario in scenarios:
        threshold = project.threshold_of(scenario)
        if settings.method == "sequential":
            if margin_of(project, scenario) < settings.margin:
                yield f"{scenario.name}: margin {threshold / 2:g}, half of its threshold {threshold:g}"
            continue
        least = least_passing_n(threshold, alpha, Bound.CLOPPER_PEARSON)
        most = trials.get(scenario.name, settings.trials)
        if least > most:
            too_few.setdefault((most, least), []).append(scenario.name)
    for (most, least), names in too_few.items():
        told = names if len(names) <= _FEW else [f"{len(names)} scenarios, such as {names[0]},"]
        yield from (
            f"{name} cannot PASS with {most} trials: PASS takes at least {least} passes" for name in told
        )
