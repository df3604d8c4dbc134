"""Kill tables and judged mutants for tests of the score."""

from collections.abc import Callable

from agentmut.stats.kill.rule import Decision, KillDesign, KillTable, level_for
from agentmut.stats.score.kill_p_value import KillTest
from agentmut.stats.score.mutant_evidence import JudgedMutant

TableOf = Callable[[int, int, KillDesign], KillTable]
TEN = KillDesign(level_for(10))
KILLED, SURVIVED, UNDECIDED = Decision.KILLED, Decision.SURVIVED, Decision.UNDECIDED


def one(decision: Decision, table: KillTable, killed_at: int = 0) -> JudgedMutant:
    return JudgedMutant(decision, (KillTest("a", table, killed_at),))
