"""How mutants enter a round: with an arm, or decided without a trial."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.kill_phase import BaselineFigures, arm_of, in_round, without_trial
from agentmut.campaign.decision.reach import ReachingScenarios
from agentmut.nouns import Mutant, Status


class Entered(NamedTuple):
    """The mutants that have entered some round, by their ids."""

    arms: Mapping[str, Arm]
    """Mutants that trials are spent on."""
    decided_free: dict[str, tuple[Status, str]]
    """Mutants with a status, and its reason, without a trial."""


def has_baseline(where: ReachingScenarios, baselines: Mapping[str, ScenarioBaseline]) -> bool:
    """Return whether some scenario that reaches a mutant has a usable baseline."""
    return any(baselines[name].usable for name in where.scenarios)


def entered(
    mutants: Iterable[Mutant],
    where: Mapping[str, ReachingScenarios],
    before: Entered,
    known: BaselineFigures,
) -> Entered:
    """Return the arms and the decisions without a trial once these mutants have entered the round.

    `where` has the scenarios that reach each mutant, by id. Arms of earlier rounds are changed in place: they go on
    with the tables of this round.
    """
    arms, decided_free = dict(before.arms), dict(before.decided_free)
    for mutant in mutants:
        reaching = where[mutant.id]
        if has_baseline(reaching, known.baselines):
            arm = arms.setdefault(mutant.id, arm_of(mutant, reaching, known))
            now = in_round(arm, reaching, known)
            arm.add_tables(now) if arm.ended else arm.enter(now)
            decided_free.pop(mutant.id, None)
        elif mutant.id not in arms:
            decided_free[mutant.id] = without_trial(reaching)
    return Entered(arms, decided_free)
