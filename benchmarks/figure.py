"""One measured figure beside its target, as benchmarks print it."""

from typing import NamedTuple


class Figure(NamedTuple):
    """One measured figure and whether it is what it should be."""

    name: str
    measured: str
    target: str
    met: bool

    def __str__(self) -> str:
        return f"{'ok  ' if self.met else 'MISS'}  {self.name:<58} {self.measured:<34} target {self.target}"
