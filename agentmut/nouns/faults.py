"""Faults of tools as data: everything that can go wrong with the result of a call to any tool."""

from enum import StrEnum

from agentmut._base import Frozen


class FaultKind(StrEnum):
    """The kind of a fault."""

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
    RENAMED_FIELD = "renamed_field"
    """A field has another name."""
    NESTED = "nested"
    """The result stands one level deeper."""
    PAGED = "paged"
    """The first page, and where the next one begins."""
    NULL_VALUE = "null_value"
    """Null for what is empty, or for the last value of a record."""
    CUT_WITH_MARK = "cut_with_mark"
    """Cut off, with a mark that does not say so."""
    OMITTED = "omitted"
    """A placeholder."""
    WITH_ORDER = "with_order"
    """The result has an order to the model in it."""
    REVERSED = "reversed"
    """The items of a list, last first."""
    FALSE_SUCCESS = "false_success"
    """The tool answers that all is well. It is not carried out."""
    UNFLAGGED_ERROR = "unflagged_error"
    """The tool answers with the words of an error, as if they were its result. It is not carried out."""
    GENERIC_ERROR = "generic_error"
    """The tool raises without saying why. It is not carried out."""
    HANGS = "hangs"
    """The tool raises a timeout, late. It is not carried out."""
    DECOY = "decoy"
    """There is nothing behind the tool: it answers that it has nothing."""


class ToolFault(Frozen):
    """A fault that every call of a tool has."""

    kind: FaultKind
    seconds: float = 0.0
    """How late a slow result is, or the timeout of a tool that hangs."""


UNCALLED = frozenset(
    {
        FaultKind.ERROR,
        FaultKind.TIMEOUT,
        FaultKind.PERMISSION_DENIED,
        FaultKind.FALSE_SUCCESS,
        FaultKind.UNFLAGGED_ERROR,
        FaultKind.GENERIC_ERROR,
        FaultKind.HANGS,
        FaultKind.DECOY,
    }
)
"""Faults with which the tool, or its double, is not carried out: nothing of what it does is done.

With all others it is: its result is lost, damaged or late on the way back.
"""

LATE = frozenset({FaultKind.SLOW, FaultKind.HANGS})
"""Faults with which a call takes `ToolFault.seconds` longer."""
