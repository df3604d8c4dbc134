"""The comparison of the agent's behaviour with a baseline's, within each scenario and at planned looks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentmut._base import digest_of
from agentmut.insight.fingerprint import Columns, Feature, Reference, fingerprint, in_words
from agentmut.nouns import Behaviour, BehaviourRow, Execution, MovedFeature
from agentmut.stats import (
    DEFAULT_LOOKS,
    Aspect,
    Change,
    Looks,
    TraceComparison,
    compare_at_looks,
    hotelling_t2,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from agentmut.stats import Array

ENOUGH = 100
"""Runs of the baseline that are compared with: the first ones."""
FEWEST = 10
"""Runs of the baseline below which nothing is compared."""
PERMUTATIONS = 999
FEWEST_LINES = 5
"""Labellings that the first look may cross out, at least."""
ALSO = 3
Sample = Sequence[Execution]
"""Runs that are evidence, in the order of their launch."""


def compare_behaviour(
    name: str, baseline: Mapping[str, Sample], today: Mapping[str, Sample], alpha: float, seed: int
) -> Behaviour:
    """Compare today's runs with those of the baseline `name`, scenario by scenario.

    Looks are taken at the first 5, 10, 20 and 40 runs of today, as far as there are so many. Each scenario has its
    share of `alpha`, and each of its looks spends a quarter of that (`compare_at_looks`). So the chance that anything
    is called changed although runs are exchangeable is at most `alpha`, also where outcomes decided how many runs
    there are: a look that is not taken finds nothing. Deterministic under `seed`.
    """
    plan = Looks(DEFAULT_LOOKS.sizes, alpha / max(1, len(today)))
    rows = tuple(
        _row(scenario, baseline.get(scenario, ()), runs, plan, seed) for scenario, runs in today.items()
    )
    return Behaviour(baseline=name, alpha=alpha, looks=plan.sizes, scenarios=rows)


def _row(scenario: str, before: Sample, now: Sample, plan: Looks, seed: int) -> BehaviourRow:
    before = before[:ENOUGH]
    sizes = [n for n in plan.sizes if n <= len(now)]
    if len(before) < FEWEST or not sizes:
        return _without_look(scenario, before, now, plan)
    tables = list[Columns]()
    found = compare_at_looks(
        _tables(before, now, sizes, plan, tables), _rng(scenario, seed), plan, _permutations(plan)
    )
    columns, verdict, last = tables[-1], found.verdict, found.last
    assert last is not None
    changed = verdict.change is Change.CHANGED
    hotelling = hotelling_t2(columns.baseline, columns.candidate)
    return BehaviourRow(
        scenario=scenario,
        change=verdict.change.value,
        p_values=tuple(round(p, 6) for p in verdict.p_values),
        level=plan.spent(len(verdict.p_values)),
        baseline_runs=len(columns.baseline),
        runs=len(columns.candidate),
        moved=_most(last, columns) if changed else None,
        also=tuple(_also(last, columns)) if changed else (),
        hotelling_t2=None if hotelling.test is None else _rounded(hotelling.test.statistic),
        hotelling_p=None if hotelling.test is None else hotelling.test.p_value,
        effective_dimension=hotelling.dimension,
        note=f"T2 undefined: {hotelling.reason}" if hotelling.reason else "",
    )


def _without_look(scenario: str, before: Sample, now: Sample, plan: Looks) -> BehaviourRow:
    few = f"the baseline has {len(before)} runs that can be compared, {FEWEST} are needed"
    short = f"{len(now)} runs of today that are not the baseline's own, the first look is at {plan.sizes[0]}"
    return BehaviourRow(
        scenario=scenario,
        change=Change.CONTINUE.value,
        level=plan.spent(1),
        baseline_runs=len(before),
        runs=len(now),
        note=few if len(before) < FEWEST else short,
    )


def _tables(
    before: Sample, now: Sample, sizes: Sequence[int], plan: Looks, taken: list[Columns]
) -> Iterator[tuple["Array", "Array"]]:
    """Yield the samples of each look, and put its columns into `taken`."""
    old, new = ([fingerprint(each) for each in some] for some in (before, now[: sizes[-1]]))
    for n0, n in zip(plan.baseline_sizes(len(old)), sizes, strict=False):
        taken.append(Reference(old[:n0]).columns(new[:n]))
        yield taken[-1].baseline, taken[-1].candidate


def _permutations(plan: Looks) -> int:
    """Return how many labellings make the levels of all looks, with the observed one, whole numbers of labellings."""
    level = plan.spent(1)
    least = max(FEWEST_LINES, math.ceil(PERMUTATIONS * level))
    return math.ceil(round(least / level, 6)) - 1


def _rng(scenario: str, seed: int) -> "Generator":
    import numpy as np

    return np.random.default_rng(int(digest_of([seed, "behaviour", scenario])[:16], 16))


def _most(found: TraceComparison, columns: Columns) -> MovedFeature | None:
    moved = found.moved
    if moved is None:
        return None
    feature = columns.features[moved.column]
    words = in_words(feature, up=moved.z > 0, spread=moved.aspect is Aspect.SCALE)
    return _counted(words, columns, moved.column)


def _also(found: TraceComparison, columns: Columns) -> Iterator[MovedFeature]:
    """Yield the features, besides the most changed one, whose means differ most for their spread."""
    import numpy as np

    both = np.vstack([columns.baseline, columns.candidate])
    apart = columns.candidate.mean(axis=0) - columns.baseline.mean(axis=0)
    spread = both.std(axis=0)
    size = np.divide(np.abs(apart), spread, out=np.zeros_like(apart), where=spread > 0)
    most = found.moved.column if found.moved else -1
    order = [int(i) for i in np.argsort(-size, kind="stable") if i != most and size[i] > 1]
    for i in [i for i in order if _plain(columns.features[i])][:ALSO]:
        yield _counted(in_words(columns.features[i], up=apart[i] > 0), columns, i)


def _plain(feature: Feature) -> bool:
    """Return whether a feature tells a reader something besides the most changed feature."""
    return feature.kind not in ("pair", "usual words", "rare words")


def _counted(words: str, columns: Columns, i: int) -> MovedFeature:
    before, now = columns.baseline[:, i], columns.candidate[:, i]
    return MovedFeature(
        words=words,
        baseline_runs=_present(before),
        baseline_of=len(before),
        runs=_present(now),
        of=len(now),
        baseline_mean=round(float(before.mean()), 4),
        mean=round(float(now.mean()), 4),
    )


def _present(values: "Array") -> int:
    return int((values != 0).sum())


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
