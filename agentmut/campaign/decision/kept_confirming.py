"""Trials of the original that have confirmed kills, as a part of the baseline of finer rounds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from agentmut.campaign.decision.arm import Arm


class KeptConfirming:
    """The trials that were handed on so far.

    A kill looks at the trials of the original beside it until they confirm it or not. Each of them is one more draw of
    the original, and no earlier draw knew of it. So the baselines of a round stay the first trials of one sequence of
    independent draws, of a size that the plan has fixed, and the false-kill rate of the round's tables is the same as
    with new trials.
    """

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    def take(self, mutants: Iterable[str], arms: Mapping[str, Arm]) -> Iterator[tuple[str, bool]]:
        """Yield the trials since the last call, in the order of the mutants: the scenario, and whether it failed."""
        for mutant in mutants:
            arm = arms.get(mutant)
            originals = [
                trial
                for confirmation in (arm.confirmations if arm else ())
                for trial in confirmation.originals
            ]
            yield from originals[self._taken[mutant] :]
            self._taken[mutant] = len(originals)
