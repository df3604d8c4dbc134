"""One measured figure beside its target, as benchmarks print it."""

from collections.abc import Iterable
from typing import NamedTuple


class Figure(NamedTuple):
    """One measured figure and whether it is what it should be."""

    name: str
    measured: str
    target: str
    met: bool

    def __str__(self) -> str:
        return f"{'ok  ' if self.met else 'MISS'}  {self.name:<58} {self.measured:<34} target {self.target}"


def printed(figures: Iterable[Figure]) -> int:
    """Print each figure once it is measured; return the exit code: 1 when a target was missed."""
    missed = 0
    for figure in figures:
        print(figure, flush=True)
        missed += not figure.met
    print(f"{missed} missed" if missed else "all targets met")
    return int(missed > 0)
