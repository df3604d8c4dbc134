"""Parts of a campaign that end one by one, such as arms and baselines, and whether all of them have ended."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Part = TypeVar("Part")


class Unfinished(Generic[Part]):
    """Knows whether all of many parts have ended, without a look at each part after every trial.

    A look ends at the first part that has not ended. That part is looked at first the next time.
    """

    def __init__(self, parts: Iterable[Part], has_ended: Callable[[Part], bool]) -> None:
        self._parts = tuple(parts)
        self._has_ended = has_ended
        self._left = list(self._parts)

    def is_empty(self) -> bool:
        """Return whether all parts have ended now."""
        while self._left and self._has_ended(self._left[-1]):
            self._left.pop()
        if not self._left:
            # one that had ended may go on: a finer round asks for more trials of it
            self._left = [part for part in self._parts if not self._has_ended(part)]
        return not self._left
