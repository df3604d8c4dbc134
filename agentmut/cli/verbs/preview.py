"""`agentmut test --preview`: what the verdicts will probably be and cost, before anything is spent."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut._base import StoreError, UsageError, make_importable, nearest
from agentmut.assessment import Sprt, known_before, shares_of, threshold_rule
from agentmut.campaign import imported_suite, with_suite
from agentmut.cli.output import agents_on_stderr, print_json, print_page
from agentmut.nouns import Scenario
from agentmut.project import Project
from agentmut.report import PreviewLine, render_preview
from agentmut.stats import Preview, preview_fixed, preview_sprt, preview_suite
from agentmut.usecases import has_store, open_store


class Assumption(NamedTuple):
    """The assumed true pass rates."""

    named: str
    rate: Callable[[float], float]
    """From a scenario's threshold to its assumed rate."""


def print_preview(project: Project, scenarios: Sequence[str], rates: Sequence[float], as_json: bool) -> None:
    """Print chances, trials and cost at assumed pass rates; nothing is run."""
    make_importable(project.root)
    with agents_on_stderr():
        project = with_suite(project, imported_suite(project))
    chosen = _chosen(project, scenarios)
    notes = [*known_before(project, chosen), *_budget(project), *_warm_start(project)]
    lines = list(preview_lines(project, chosen, _assumptions(project, rates), mean_cost(project) or None))
    if as_json:
        print_json(
            {"schema_version": 1, "kind": "preview", "notes": notes, "lines": [_plain(x) for x in lines]}
        )
    else:
        print_page(render_preview(lines, project.test, notes))


def preview_lines(
    project: Project, chosen: Sequence[Scenario], assumed: Sequence[Assumption], cost: float | None
) -> Iterator[PreviewLine]:
    """Yield one line for each assumption; scenarios are taken to be independent."""
    for named, rate in assumed:
        each = {s.name: _preview(project, s, len(chosen), rate, cost) for s in chosen}
        yield PreviewLine(named, each, preview_suite(each))


def _preview(
    project: Project, scenario: Scenario, family: int, rate: Callable[[float], float], cost: float | None
) -> Preview:
    threshold = project.threshold_of(scenario)
    rule = threshold_rule(project, scenario, shares_of(family, project.test.correction))
    true = min(1.0, max(0.0, rate(threshold)))
    if isinstance(rule, Sprt):
        return preview_sprt(true, rule.design, cost)
    alpha = project.statistics.alpha_of_a_look
    return preview_fixed(true, rule.most, threshold, alpha, cost_per_trial=cost, family=family)


def _assumptions(project: Project, rates: Sequence[float]) -> list[Assumption]:
    for rate in rates:
        if not 0 <= rate <= 1:
            raise UsageError(f"--rate: a pass rate is between 0 and 1, got {rate!r}.")
    if rates:
        return [Assumption(f"{rate:g}", lambda threshold, rate=rate: rate) for rate in rates]  # type: ignore[misc]  # mypy infers no type for the default
    margin = project.test.margin
    return [
        Assumption("halfway from threshold to 1", lambda threshold: (1 + threshold) / 2),
        Assumption("at the threshold", lambda threshold: threshold),
        Assumption(f"{margin:g} below it", lambda threshold: threshold - margin),
        Assumption(f"{2 * margin:g} below it", lambda threshold: threshold - 2 * margin),
    ]


def mean_cost(project: Project) -> float | None:
    """Return the mean cost of a trial of the unchanged agent in US dollars; None before the first trial."""
    if not has_store(project):
        return None
    try:
        with open_store(project) as store:
            return store.mean_cost()
    except StoreError:  # another command is at work there, or the store is damaged: neither matters here
        return None


def _budget(project: Project) -> Iterator[str]:
    budget = project.budget
    if any(limit is not None for limit in (budget.usd, budget.trials, budget.minutes)):
        yield "the budget of the project file may stop the test earlier; that is not in these figures"


def _warm_start(project: Project) -> Iterator[str]:
    if project.test.warm_start and project.test.method == "sequential":
        yield "these figures are without a warm start: earlier tests may end this one sooner, and change no error rate"


def _chosen(project: Project, names: Sequence[str]) -> list[Scenario]:
    known: Mapping[str, Scenario] = {scenario.name: scenario for scenario in project.scenarios}
    for name in names:
        if name not in known:
            raise UsageError(f"--scenario {name}: there is no such scenario. {nearest(name, known)}")
    return [scenario for scenario in project.scenarios if not names or scenario.name in names]


def _plain(line: PreviewLine) -> dict[str, object]:
    each = {name: preview._asdict() for name, preview in line.scenarios.items()}
    return {"assumed": line.assumed, "suite": line.suite._asdict(), "scenarios": each}
