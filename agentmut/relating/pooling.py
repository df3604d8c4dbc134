"""One relation over all its scenarios: violations too few for a verdict on each can show together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut.assessment import SequentialComparison, Sprt
from agentmut.relating.lane import Lane
from agentmut.stats import Alternative, Judgement, Share, Verdict, binomial_test, tail, wilson
from agentmut.store import Counts, PooledCounts


class Stratum(NamedTuple):
    """A relation on one scenario, with a number of pairs that was fixed in advance."""

    violations: int
    pairs: int
    identity: Counts | None


class PooledRelation(NamedTuple):
    """A relation over the scenarios that it was judged on."""

    counts: PooledCounts
    judgement: Judgement


def pooled(
    lanes: Sequence[Lane], identity: Sequence[Counts | None], alpha: float, tolerance: float
) -> Mapping[str, PooledRelation]:
    """Return each relation's test over all scenarios, by its label, for relations on at least two scenarios.

    An invariant's pairs are compared with the unchanged agent's own, scenario by scenario (an exact stratified test);
    those of other relations with the tolerance (a binomial test: no scenario's rate is above it, so neither is that
    of all together). Of each scenario count the first pairs, as many as every verdict but a FAIL takes.
    """
    found: dict[str, list[Stratum]] = {}
    for lane, own in zip(lanes, identity, strict=True):
        if stratum := _stratum(lane, own):
            found.setdefault(lane.subject.chosen.label, []).append(stratum)
    return {label: _tested(strata, alpha, tolerance) for label, strata in found.items() if len(strata) > 1}


def several_scenarios(labels: Sequence[str]) -> int:
    """Return how many of these relations, each named once for each scenario, have more than one scenario."""
    return sum(labels.count(label) > 1 for label in set(labels))


def _stratum(lane: Lane, identity: Counts | None) -> Stratum | None:
    """Return the counts of a lane; None without pairs, or if the lane failed before the fixed number of pairs.

    Such a lane has its own FAIL. Counted here, pairs that ended because of their violations would raise the rate.
    """
    wanted = lane.most if lane.to_the_end else fixed_pairs(lane)
    if not lane.held or (lane.ended and len(lane.held) < wanted):
        return None
    counted = lane.held[:wanted]
    return Stratum(counted.count(False), len(counted), identity)


def fixed_pairs(lane: Lane) -> int:
    """Return the fewest pairs after which the lane's rule can pass; all pairs if it never can."""
    rule = lane.rule
    if isinstance(rule, SequentialComparison):
        bounds: Iterator[int] = (n for n, failures in enumerate(rule.table.survive_at) if failures >= 0)
    elif isinstance(rule, Sprt):
        bounds = (n for n in range(1, rule.most + 1) if rule.ended([True] * n))
    else:
        return lane.most
    return next(bounds, lane.most)


def _tested(strata: Sequence[Stratum], alpha: float, tolerance: float) -> PooledRelation:
    violations, pairs = sum(one.violations for one in strata), sum(one.pairs for one in strata)
    controls = [one.identity for one in strata if one.identity is not None]
    own = Counts(violations=sum(c.violations for c in controls), pairs=sum(c.pairs for c in controls))
    if controls:
        p, method = tail(map(_share, strata)), "exact stratified test"
    else:
        p, method = _against(tolerance, violations, pairs), "exact binomial test"
    failed = p <= alpha
    reason = f"violated in {violations} of {pairs} pairs over {len(strata)} scenarios"
    verdict = Verdict.FAIL if failed else Verdict.PASS
    judgement = Judgement(verdict, reason, p, wilson(pairs - violations, pairs), pairs, None, method)
    counts = PooledCounts(
        scenarios=len(strata), violations=violations, pairs=pairs, identity=own if controls else None, p_value=p,
        p_adjusted=1.0, failed=False, method=method,
    )  # fmt: skip
    return PooledRelation(counts, judgement)


def _share(stratum: Stratum) -> Share:
    own = stratum.identity or Counts(violations=0, pairs=0)
    return Share(
        own.pairs + stratum.pairs, own.violations + stratum.violations, stratum.pairs, stratum.violations
    )


def _against(tolerance: float, violations: int, pairs: int) -> float:
    return binomial_test(violations, pairs, tolerance, Alternative.GREATER).p_value
