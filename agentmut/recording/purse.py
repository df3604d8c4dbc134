"""What the model calls of all trials under way may still cost, known to every process that runs trials."""

import threading
from collections.abc import Callable, MutableSequence
from math import inf

from agentmut.nouns import Usage

Price = Callable[[str, Usage], float | None]
"""From a model and its tokens to US dollars; None where the price is unknown."""
OVER_BUDGET = "cut: the budget in US dollars is used up"
_LIMIT, _OURS, _WORKERS = 0, 1, 2
"""Which cell holds the limit, the spending of the deciding process, and the spending of the first worker."""


def _unpriced(model: str, usage: Usage) -> float | None:
    return None


class Purse:
    """The money that is left for model calls. It counts each call as soon as the reply tells its tokens.

    Each process adds to a cell of its own and reads all cells. So there is no lock that a killed worker could keep.
    Calls that were sent before the purse is empty still end: one for each trial that is under way, or several where
    an agent asks several models at the same time.
    """

    def __init__(self, cells: MutableSequence[float], mine: int = _OURS, price: Price = _unpriced) -> None:
        self._cells = cells
        self._mine = mine
        self._price = price
        self._lock = threading.Lock()  # for the threads of one process

    @classmethod
    def shared(cls, workers: int) -> "Purse":
        """Return a purse without a limit whose cells processes can share: this one and so many workers."""
        from multiprocessing.sharedctypes import RawArray

        purse = cls(RawArray("d", _WORKERS + workers))
        purse.limit(inf)
        return purse

    def of_worker(self, place: int) -> "Purse":
        """Return the purse as the worker at this place uses it, counted from 0. It can be sent to a new process."""
        return Purse(self._cells, _WORKERS + place)

    def priced(self, price: Price) -> "Purse":
        """Return the purse for calls at these prices. A process has one of this kind."""
        return Purse(self._cells, self._mine, price)

    def __reduce__(self) -> tuple[type["Purse"], tuple[MutableSequence[float], int]]:
        return Purse, (self._cells, self._mine)

    def limit(self, usd: float) -> None:
        """Set what all calls may cost together. Called by the deciding process alone."""
        self._cells[_LIMIT] = usd

    def pay(self, model: str, usage: Usage) -> None:
        """Take out the cost of a call that was answered. A call without a known price costs nothing here."""
        usd = self._price(model, usage) or 0.0
        with self._lock:
            self._cells[self._mine] += usd

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is left, so that no further call may be sent."""
        return sum(self._cells[_OURS:]) >= self._cells[_LIMIT]
