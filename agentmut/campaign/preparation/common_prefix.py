"""The order of mutants by the common prefix of their requests, which a prompt cache of the service holds."""

from collections.abc import Sequence

from agentmut.nouns import Edit, Mutant

PARTS = ("model", "tools", "prompt", "context")
"""Parts of a request in the order in which services read them. Requests to another model share nothing."""


def by_common_prefix(mutants: Sequence[Mutant]) -> tuple[Mutant, ...]:
    """Return the mutants with the longest common prefix with the original first; equal ones keep their order.

    Two neighbours share what comes before the earlier of their changes. What no first request shows, such as a fault
    of a tool or a change of the flow, comes at the front.
    """
    return tuple(sorted(mutants, key=_first_change, reverse=True))


def _first_change(mutant: Mutant) -> tuple[int, int, int]:
    return min(map(_place, mutant.edits), default=(len(PARTS), 0, 0))


def _place(edit: Edit) -> tuple[int, int, int]:
    """Return where a request changes: part, item, character."""
    if edit.is_fault or edit.part not in PARTS:
        return (len(PARTS), 0, 0)
    return (PARTS.index(edit.part), edit.index or 0, edit.span[0] if edit.span else 0)
