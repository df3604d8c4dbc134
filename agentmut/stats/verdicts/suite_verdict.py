"""One verdict over the scenarios of a suite, with a correction for their number."""

from collections.abc import Mapping
from typing import NamedTuple

from agentmut.stats.tests.multiplicity import AdjustedTests, Correction, adjust
from agentmut.stats.three_valued import Judgement, Verdict


class SuiteVerdict(NamedTuple):
    """The verdict on a suite and, by name, those on its scenarios after the correction."""

    verdict: Verdict
    reason: str
    scenarios: dict[str, Judgement]
    """In the order given. A FAIL that the correction does not leave standing is INCONCLUSIVE here."""
    p_values: dict[str, float]
    """Adjusted `p_fail` of each scenario."""
    adjusted: AdjustedTests
    """The adjusted p-values with the correction, its level and the family."""
    needed: int | None
    """Further trials of all scenarios together, if INCONCLUSIVE and every open scenario knows its own."""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason} ({self.adjusted})"


def suite_verdict(
    judgements: Mapping[str, Judgement],
    alpha: float = 0.05,
    correction: Correction = Correction.HOLM,
    family: str = "scenarios of the suite",
) -> SuiteVerdict:
    """Return FAIL if any scenario fails, PASS if all pass, else INCONCLUSIVE; failures at the family's level.

    A scenario fails exactly if its adjusted `p_fail` is at most `alpha`. One that failed on its own, but
    not after the correction, is INCONCLUSIVE; one judged at a lower level of its own may fail here. Holm and
    Bonferroni keep the chance that any scenario fails falsely at alpha, however scenarios depend. With
    Benjamini-Hochberg or -Yekutieli a suite without any regression fails with chance at most alpha too
    (for the former if scenarios are independent or positively dependent), but among several failures some
    may be false: it is their expected share that is at most alpha.

    PASS needs no correction: all must pass, so a false PASS of the suite needs a false PASS of every
    scenario that should not pass, which is no more likely than one (an intersection-union test). Hence it
    is at most the beta of the scenarios. A sequential judgement such as the kill rule's must have been run
    at a level of its own, alpha over the number of scenarios (`level_for`); use BONFERRONI or HOLM with it.

    Source: Eq. 12 and Remark 3.2 of the AgentAssay paper.

    Raises `ValueError` for no scenarios, a `p_fail` outside [0, 1], or a level outside (0, 1).
    """
    if not judgements:
        raise ValueError("judgements must hold at least one scenario, got none")
    adjusted = adjust([j.p_fail for j in judgements.values()], alpha, correction, family)
    outcomes = zip(judgements.items(), adjusted.p_values, adjusted.rejected, strict=True)
    after = {name: _corrected(j, p, adjusted, failed=failed) for (name, j), p, failed in outcomes}
    verdict, reason = _overall(after)
    p_values = dict(zip(judgements, adjusted.p_values, strict=True))
    needed = _needed(after) if verdict is Verdict.INCONCLUSIVE else None
    return SuiteVerdict(verdict, reason, after, p_values, adjusted, needed)


def _corrected(own: Judgement, p: float, adjusted: AdjustedTests, *, failed: bool) -> Judgement:
    """Return the judgement of one scenario as a member of the family."""
    if failed == (own.verdict is Verdict.FAIL):
        return own
    name, alpha = adjusted.correction.title(), adjusted.alpha
    if failed:
        now = f"worse at the level of the suite: adjusted p = {p:.3g} <= {alpha:g} ({name})"
        return own._replace(verdict=Verdict.FAIL, reason=f"{now}; on its own: {own.reason}", needed=None)
    now = f"FAIL does not survive the correction: adjusted p = {p:.3g} > {alpha:g} ({name})"
    return own._replace(verdict=Verdict.INCONCLUSIVE, reason=f"{now}; on its own: {own.reason}")


def _overall(after: Mapping[str, Judgement]) -> tuple[Verdict, str]:
    failed, unclear = (
        [name for name, j in after.items() if j.verdict is verdict]
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
    )
    if failed:
        return Verdict.FAIL, f"{len(failed)} of {len(after)} fail: {', '.join(failed)}"
    if unclear:
        return Verdict.INCONCLUSIVE, f"none fails, {len(unclear)} of {len(after)} open: {', '.join(unclear)}"
    return Verdict.PASS, "the only scenario passes" if len(after) == 1 else f"all {len(after)} scenarios pass"


def _needed(after: Mapping[str, Judgement]) -> int | None:
    known = [j.needed for j in after.values() if j.verdict is Verdict.INCONCLUSIVE]
    return None if None in known else sum(n for n in known if n is not None)
