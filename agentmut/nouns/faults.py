"""Faults of tools, as data: what can go wrong with the result of a call, whatever the tool is."""

from enum import StrEnum

from agentmut._base import Frozen


class FaultKind(StrEnum):
    """What goes wrong."""

    ERROR = "error"
    """The tool raises. It is not carried out."""
    TIMEOUT = "timeout"
    """The tool raises a timeout at once: waiting would only cost time. It is not carried out."""
    PERMISSION_DENIED = "permission_denied"
    """The tool answers that it may not. It is not carried out."""
    EMPTY = "empty"
    """Nothing was found: an empty result of the same kind."""
    TRUNCATED = "truncated"
    """The first half of the result."""
    MALFORMED = "malformed"
    """Text that is no JSON any more."""
    STALE = "stale"
    """Later calls are answered with the first one's result."""
    WRONG_ENTITY = "wrong_entity"
    """Numbers and identifiers are another's."""
    SLOW = "slow"
    """The right result, late."""
    DECOY = "decoy"
    """There is nothing behind the tool: it answers that it has nothing."""


class ToolFault(Frozen):
    """A fault that every call of a tool has."""

    kind: FaultKind
    seconds: float = 0.0
    """How late a slow result is."""


UNCALLED = frozenset({FaultKind.ERROR, FaultKind.TIMEOUT, FaultKind.PERMISSION_DENIED, FaultKind.DECOY})
"""Faults with which the tool, or its double, is not carried out: nothing of what it does is done.

With all others it is: its result is lost, damaged or late on the way back.
"""
