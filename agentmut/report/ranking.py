"""Rank the changes that no scenario noticed."""

import re
from collections.abc import Iterable, Sequence

from agentmut.language import Modality, modality
from agentmut.nouns import Effect, Intent, MutantRow, Status
from agentmut.seams import effect_of

UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)
"""What a mutant is that no scenario has noticed."""
LONGEST_READ = 4_000
"""Characters of an instruction that are read for its mood."""
LONGEST_REASON = 600
"""Characters of a mutant's reason, or of its description, that are read and shown."""
_QUOTED = re.compile(r'".*?"|\d+')
_URGENCY = (Modality.FORBID, Modality.MUST, Modality.IMPERATIVE, Modality.SHOULD, Modality.MAY)


def rank(rows: Iterable[MutantRow]) -> list[MutantRow]:
    """Return the unnoticed `degrade` mutants, the most worrying first.

    Lost prohibitions and duties come before lost preferences, dropped instructions and tools before subtler
    changes, then the order of the prompt.
    """
    unnoticed = [row for row in rows if row.intent is Intent.DEGRADE and row.status in UNNOTICED]
    return sorted(unnoticed, key=lambda row: (_subtlety(row), _urgency(row), row.target.line or 0))


def most_worrying_first(rows: Iterable[MutantRow]) -> list[MutantRow]:
    """Return all mutants: unnoticed mutants in the order of `rank`, killed harmless changes, then the rest."""
    rows = list(rows)
    first = rank(rows)
    first += [row for row in rows if row.intent is Intent.PRESERVE and row.status is Status.KILLED]
    known = {row.id for row in first}
    return [*first, *(row for row in rows if row.id not in known)]


def _subtlety(row: MutantRow) -> int:
    return 0 if effect_of(row) in (Effect.DROPS_RULE, Effect.DROPS_TOOL) else 1


def _urgency(row: MutantRow) -> int:
    return (
        _URGENCY.index(modality(row.before[:LONGEST_READ]))
        if effect_of(row) is Effect.DROPS_RULE
        else len(_URGENCY)
    )


def losses(rows: Iterable[MutantRow], effect: Effect) -> tuple[list[MutantRow], list[MutantRow]]:
    """Return the decided mutants with an effect, such as a dropped rule, and the unnoticed ones among them."""
    decided = [row for row in rows if row.status in (Status.KILLED, *UNNOTICED) and effect_of(row) is effect]
    return decided, [row for row in decided if row.status in UNNOTICED]


def by_reason(rows: Sequence[MutantRow]) -> list[tuple[str, list[MutantRow]]]:
    """Return the first reason of each kind. Reasons that differ in quotes and numbers are one kind."""
    groups: dict[str, list[MutantRow]] = {}
    for row in rows:
        groups.setdefault(_QUOTED.sub("", row.reason[:LONGEST_REASON]), []).append(row)
    return [(group[0].reason, group) for group in groups.values()]
