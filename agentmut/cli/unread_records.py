"""The lines about records of other tools that could not be read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmut.nouns import BrokenRecord

SHOWN = 5
"""Records that are listed with their place and reason."""


def unread_lines(broken: "Sequence[BrokenRecord]") -> list[str]:
    """Return how many records or files could not be read, and the first of them; nothing where all were read."""
    from agentmut.report import counted

    if not broken:
        return []
    more = [f"  and {len(broken) - SHOWN} more"] if len(broken) > SHOWN else []
    noun = "record" if any(record.place.line for record in broken) else "file"
    head = f"{counted(len(broken), noun)} could not be read:"
    return [head, *(f"  {record}" for record in broken[:SHOWN]), *more]
