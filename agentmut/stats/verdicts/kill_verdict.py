"""The kill rule's decision on a candidate as a three-valued verdict, like those of fixed samples."""

from agentmut.stats.intervals.proportion import descriptive
from agentmut.stats.kill.rule import Decision, KillTable, StoppedTrials
from agentmut.stats.sequential.further_trials import LIKELY
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.regression import Samples

VERDICTS = {Decision.KILLED: Verdict.FAIL, Decision.SURVIVED: Verdict.PASS}
"""Every other decision is INCONCLUSIVE."""


def judge_stopped(table: KillTable, stopped: StoppedTrials, level: float | None = None) -> Judgement:
    """Return the verdict on trials at the decision that `table.verdict` reached.

    `level` is the largest chance of a false kill that is promised, where it is not the alpha of the table's design: a
    table that holds given its baseline (`table_given`) is made at a lower one.
    `p_fail` is that level if KILLED and 1 otherwise. That is a valid p-value, the largest: the rule
    has no p-value that could be read at any other level. The chance that it is at most u is 0 below alpha
    and at most alpha above. For a suite of m scenarios run each at alpha/m (`level_for(m)`), so that m
    times p_fail is at most alpha.

    `interval` is Newcombe's for p_c - p_b at level 1 - 2 alpha. After early stopping it describes and does
    not cover at its level; its method says so. `needed` is the least number of further trials after which
    a decision has a chance of 0.8 if the candidate goes on failing at its observed rate (at the baseline's
    before the first trial); None if n_max comes first, and where there is nothing left to run.
    """
    decision, n, f = stopped
    alpha = table.design.alpha if level is None else level
    verdict = VERDICTS.get(decision, Verdict.INCONCLUSIVE)
    p_fail = alpha if decision is Decision.KILLED else 1.0
    samples = Samples(table.n0 - table.f0, table.n0, n - f, n)
    interval = descriptive(samples.change(1 - 2 * alpha if alpha < 0.5 else 0.5))
    needed = _needed(table, n, f) if decision is Decision.CONTINUE else None
    return Judgement(verdict, _reason(table, stopped, alpha), p_fail, interval, n, needed, "kill rule")


def _reason(table: KillTable, stopped: StoppedTrials, alpha: float) -> str:
    decision, n, f = stopped
    design, baseline = table.design, f"{table.f0}/{table.n0} of the baseline"
    phrases = {
        Decision.KILLED: f"worse at alpha = {alpha:g}",
        Decision.SURVIVED: f"a drop of {design.delta:g} is ruled out at beta = {design.beta:g}",
        Decision.UNDECIDED: f"{design.n_max} trials were not enough",
        Decision.UNTESTABLE: f"the baseline fails too often for a drop of {design.delta:g} to be seen",
        Decision.CONTINUE: "not enough trials yet",
    }
    return f"{phrases[decision]}: {f}/{n} failed against {baseline}"


def _needed(table: KillTable, n: int, f: int) -> int | None:
    rate = f / n if n else table.f0 / table.n0
    alive, start = {f: 1.0}, n
    while n < table.design.n_max and alive:
        n += 1
        chances = [
            (g + failed, c * (rate if failed else 1 - rate)) for g, c in alive.items() for failed in (0, 1)
        ]
        alive = {}
        for g, chance in chances:
            if table.decide(n, g) in (Decision.CONTINUE, Decision.UNDECIDED):
                alive[g] = alive.get(g, 0.0) + chance
        if sum(alive.values()) <= 1 - LIKELY + 1e-12:
            return n - start
    return None
