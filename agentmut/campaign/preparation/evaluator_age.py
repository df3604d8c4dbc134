"""The runs that a scenario's evaluators may judge: the runs made after the evaluators were fixed.

Whoever writes an evaluator after looking at runs chooses it by them, partly by luck: of 60 words that an agent says at
a rate of 0.93, one holds in all of 50 stored runs, and judged on these runs every mutant looks worse than the original.
So each set of evaluators has a series of repeats of its own, and trials of that series are younger than the set,
wherever they are run and whatever a clock says.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agentmut.campaign.preparation.plan import Plan, RunPlan


class Age(NamedTuple):
    """A scenario's present evaluators, and the first trials that are younger than the evaluators."""

    evaluators: str
    """Digest of the set."""
    originals: int = 0
    """The repeat with which younger trials of the original begin; 0 where all stored ones are younger."""
    mutants: int = 0
    """The repeat with which trials of mutants begin that may decide."""
    later: frozenset[str] = frozenset()
    """Digests of sets that were fixed later: what was run for them is younger than this set."""
    waits: bool = False
    """Whether no trial of the original is stored that is young enough, and older ones are."""


Ages = Mapping[str, Age]
"""By scenario."""


def first_repeats(ages: Ages) -> dict[str, int]:
    """Map each scenario to the first repeat of its original trials that counts, unless that repeat is 0."""
    return {name: age.originals for name, age in ages.items() if age.originals}


def first_of_mutants(ages: Ages) -> dict[str, int]:
    """Map each scenario to the first repeat of its mutant trials that counts, unless that repeat is 0."""
    return {name: age.mutants for name, age in ages.items() if age.mutants}


def fixed_sets(ages: Ages) -> dict[str, str]:
    """Map each scenario to the digest of its evaluators."""
    return {name: age.evaluators for name, age in ages.items()}


def judged_by_newer(ages: Ages, plan: RunPlan) -> tuple[str, ...]:
    """Name the scenarios of a run whose present evaluators are, or may be, newer than the run's trials.

    Evaluators that no verb saw before that run count as newer.
    """
    return tuple(name for name in plan.scenarios if name in ages and _is_newer(ages[name], plan, name))


def _is_newer(age: Age, plan: RunPlan, scenario: str) -> bool:
    then = plan.evaluators.get(scenario, "")
    if then == age.evaluators or then in age.later:
        return False
    used, young = [plan.first.get(scenario, 0)], [age.originals]
    if isinstance(plan, Plan):
        used.append(plan.first_of_mutants.get(scenario, 0))
        young.append(age.mutants)
    return any(young) and used != young


def compares_with_older(age: Age, then: str) -> bool:
    """Return whether a scenario's evaluators may be newer than a baseline saved with the evaluators `then`."""
    return bool(age.originals) and then != age.evaluators and then not in age.later


def older_note(scenarios: tuple[str, ...]) -> Iterator[str]:
    """Yield the note on results in which evaluators judge runs that are older than the evaluators."""
    if scenarios:
        yield (
            f"evidence older than the evaluators: {', '.join(scenarios)}. Evaluators may have been chosen by these "
            "runs, so kills and verdicts there are a preview, and no gate passes on them. `agentmut run` decides"
        )


def renewed(ages: Ages, price: str) -> Iterator[str]:
    """Yield which trials begin anew because evaluators are newer than stored runs; `price` names the price."""
    if names := [name for name, age in ages.items() if age.waits]:
        yield f"evaluators of {', '.join(names)} are newer than the stored runs, which are not used. It takes {price}"


def price_of_new_series(ages: Ages, baseline: int, n_max: int) -> Iterator[str]:
    """Yield the new trials of a campaign, apart for scenarios whose mutants begin anew and for all other scenarios."""
    waiting = {name: age for name, age in ages.items() if age.waits}
    anew = {name: age for name, age in waiting.items() if age.mutants == age.originals}
    kept = {name: age for name, age in waiting.items() if name not in anew}
    yield from renewed(
        anew,
        f"{len(anew) * baseline} new runs of the original, and up to {n_max} runs of each mutant on each scenario",
    )
    yield from renewed(
        kept,
        f"{len(kept) * baseline} new runs of the original. Stored runs of mutants still count, since agentmut "
        "proposed the evaluators",
    )
