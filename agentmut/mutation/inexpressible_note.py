"""One line on the mutants that the agent cannot run."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from agentmut.mutation.generation import DropKind, DroppedCandidate

LEFT_OUT = "left out of this run: "
"""How the note begins."""
_NAMED = 2
"""Operators that the line names; more are counted."""


def left_out_note(dropped: Iterable[DroppedCandidate]) -> Iterator[str]:
    """Yield the line without a full stop; no line if the agent can run every mutant.

    Only mutants that the agent cannot be run as are named: repetitions and filters take nothing from what is measured.
    """
    left = [one for one in dropped if one.kind is DropKind.NOT_EXPRESSIBLE]
    if not left:
        return
    operators = sorted({one.operator for one in left})
    named = [*operators[:_NAMED], *([f"{len(operators) - _NAMED} more"] if len(operators) > _NAMED else ())]
    listed = ", ".join(named[:-1]) + (" and " if named[:-1] else "") + named[-1]
    many = "mutant" if len(left) == 1 else "mutants"
    yield (
        f"{LEFT_OUT}{len(left)} {many} of {listed}: {_commonest([one.reason for one in left])}. "
        "`agentmut mutants` lists them"
    )


def _commonest(reasons: list[str]) -> str:
    """Return the reason that most have, the first by the alphabet of several."""
    counted = [(-len(list(group)), reason) for reason, group in groupby(sorted(reasons))]
    return min(counted)[1].rstrip(".") if counted else ""
