"""The fitness of a baseline: enough trials for the drop in question, and an agent that can show a drop."""

from collections.abc import Iterator, Mapping, Sequence

from agentmut.assessment.comparison_rules import POWER, Family, comparison_rule
from agentmut.assessment.remarks import with_names
from agentmut.assessment.rules import BaselineCounts
from agentmut.assessment.sizes import SIZES, further_looks, largest_step, next_sizes
from agentmut.campaign import Tables
from agentmut.nouns import Execution
from agentmut.project import Project
from agentmut.stats import is_untestable

_TAKES_MORE = "A drop from there takes more trials to notice"
_ONE_RUN = (
    "If a cache or a fixed seed makes them so, they are one run, and the baseline is no larger than that"
)


def power_given(project: Project, side: BaselineCounts, family: Family, tables: Tables, looks: int) -> float:
    """Return the exact chance of FAIL after a drop by delta from the baseline's observed rate."""
    rule = comparison_rule(project, side, family, tables, looks)
    return rule.chance_of_fail(max(0.0, side.passes / side.trials - project.statistics.delta))


def fit_size(
    project: Project, side: BaselineCounts, family: Family, tables: Tables, looks: int
) -> int | None:
    """Return the least of `SIZES` above the baseline's at which a drop by delta is noticed with `POWER`.

    The observed rate is taken to be the true one. Fisher's test stands in for Boschloo's: it notices a little less.
    `looks` is the number of sizes so far. None where no size does.
    """
    project = with_fisher(project)
    for size in next_sizes(side.trials, len(SIZES)):
        paid = looks + further_looks(side.trials, size)
        if power_given(project, at_size(side, size), family, tables, paid) >= POWER:
            return size
    return None


def with_fisher(project: Project) -> Project:
    """Return the project with Fisher's test, which takes less time than Boschloo's and notices a little less."""
    return project.model_copy(update={"compare": project.compare.model_copy(update={"test": "fisher"})})


def at_size(side: BaselineCounts, trials: int) -> BaselineCounts:
    """Return a baseline of so many trials with the pass rate of `side`."""
    return BaselineCounts(round(trials * side.passes / side.trials), trials)


def growth_target(
    project: Project, side: BaselineCounts, family: Family, tables: Tables, looks: int
) -> int | None:
    """Return the trials that a baseline should have: its present number if it is fit, else the next larger size.

    None where no size does.
    """
    if is_untestable(side.trials - side.passes, side.trials, project.statistics.delta):
        return None
    if power_given(project, side, family, tables, looks) >= POWER:
        return side.trials
    size = fit_size(project, side, family, tables, looks)
    return None if size is None else min(size, largest_step(side.trials))


def size_remark(project: Project, side: BaselineCounts, family: Family, tables: Tables, looks: int) -> str:
    """Return why a scenario's baseline is too small, and how many trials are enough; empty if it is large enough."""
    delta = project.statistics.delta
    if is_untestable(side.trials - side.passes, side.trials, delta):
        seldom = f"the agent passes too rarely ({side.passes}/{side.trials})"
        return f"this baseline cannot show a drop by {delta:g}: {seldom}"
    power = power_given(project, side, family, tables, looks)
    if power >= POWER:
        return ""
    shown = f"a drop by {delta:g} is a FAIL in {100 * power:.0f} % of comparisons"
    chance = f"too few baseline trials: with {side.trials}, {shown}"
    size = fit_size(project, side, family, tables, looks)
    if size is None:
        return f"{chance}, and no baseline of up to {SIZES[-1]} trials reaches {100 * POWER:.0f} %: take a larger delta"
    return f"{chance}; {size} trials would reach {100 * POWER:.0f} %"


def agent_remarks(
    project: Project,
    sides: Mapping[str, BaselineCounts],
    executions: Mapping[str, Sequence[Execution]],
    tools: Sequence[str],
) -> Iterator[str]:
    """Yield what the baseline's runs cannot show: flaky scenarios, constant answers, tools that were never called."""
    thresholds = {scenario.name: project.threshold_of(scenario) for scenario in project.scenarios}
    yield from with_names(
        (name, f"flaky: {side.passes}/{side.trials} pass, and {asked:g} is asked. {_TAKES_MORE}")
        for name, asked in thresholds.items()
        if (side := sides.get(name)) and side.passes < asked * side.trials
    )
    told = {name: runs for name, runs in executions.items() if not any(r.trace.texts == "none" for r in runs)}
    answers = {name: {repr(run.trace.outputs) for run in runs} for name, runs in told.items()}
    yield from with_names(
        (name, f"all {len(runs)} runs gave the same answer. {_ONE_RUN}")
        for name, runs in told.items()
        if len(runs) > 1 and len(answers[name]) == 1
    )
    if len(answers) > 1 and len(set().union(*answers.values())) == 1:
        yield "the agent gives one and the same answer to every scenario"
    called = {tool for runs in executions.values() for run in runs for tool in run.trace.tools_called}
    if unused := [tool for tool in tools if tool not in called]:
        yield f"no run of the baseline called {', '.join(unused)}: a regression there cannot show"
