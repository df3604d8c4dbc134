"""Which unnoticed changes come first."""

from collections.abc import Iterable

from agentmut.language import Modality, modality
from agentmut.nouns import Intent, MutantRow, Status

UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)
"""What a mutant is that no scenario has noticed."""
LONGEST_READ = 4_000
"""Characters of an instruction that are read for its mood."""
_URGENCY = (Modality.FORBID, Modality.MUST, Modality.IMPERATIVE, Modality.SHOULD, Modality.MAY)


def rank(rows: Iterable[MutantRow]) -> list[MutantRow]:
    """Unnoticed `degrade` mutants, the most worrying first.

    Lost prohibitions and duties come before lost preferences, dropped instructions and tools before subtler
    changes, then the order of the prompt.
    """
    unnoticed = [row for row in rows if row.intent is Intent.DEGRADE and row.status in UNNOTICED]
    return sorted(unnoticed, key=lambda row: (_subtlety(row), _urgency(row), row.target.line or 0))


def _subtlety(row: MutantRow) -> int:
    return 0 if row.operator in ("prompt.drop_instruction", "tool.remove") else 1


def _urgency(row: MutantRow) -> int:
    return (
        _URGENCY.index(modality(row.before[:LONGEST_READ]))
        if row.operator == "prompt.drop_instruction"
        else len(_URGENCY)
    )
