"""Randomness without a sequence: each decision is a hash of its subject, never of its time."""

import hashlib
from collections.abc import Iterable


class Dice:
    """Draws for one conversation. The same name always gives the same draw.

    >>> Dice(["1", "trial"]).uniform("a") == Dice(["1", "trial"]).uniform("a")
    True
    >>> Dice(["1", "trial"]).uniform("a") == Dice(["2", "trial"]).uniform("a")
    False
    """

    def __init__(self, parts: Iterable[str]) -> None:
        self._base = hashlib.blake2b(digest_size=8)
        for part in parts:
            encoded = part.encode("utf-8", "surrogatepass")
            self._base.update(len(encoded).to_bytes(8, "big") + encoded)

    def uniform(self, decision: str) -> float:
        """Return a number in [0, 1) that belongs to `decision`."""
        hashed = self._base.copy()
        hashed.update(decision.encode("utf-8", "surrogatepass"))
        return int.from_bytes(hashed.digest(), "big") / 2**64

    def chance(self, decision: str, probability: float) -> bool:
        """Return True with `probability`. A higher probability later never turns a True into a False."""
        return self.uniform(decision) < probability
