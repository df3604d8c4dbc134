"""Things of a campaign that end one by one, and whether all of them have ended."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Unfinished(Generic[Thing]):
    """Knows whether all of many things have ended, without a look at each thing after every trial.

    A look ends at the first thing that has not ended. That thing is looked at first the next time.
    """

    def __init__(self, things: Iterable[Thing], has_ended: Callable[[Thing], bool]) -> None:
        self._things = tuple(things)
        self._has_ended = has_ended
        self._left = list(self._things)

    def is_empty(self) -> bool:
        """Return whether all things have ended now."""
        while self._left and self._has_ended(self._left[-1]):
            self._left.pop()
        if not self._left:
            # one that had ended may go on: a finer round asks for more trials of it
            self._left = [thing for thing in self._things if not self._has_ended(thing)]
        return not self._left
