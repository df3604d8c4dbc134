"""Which regular expressions take more than linear time: `python -m tests.quality.pattern_times [PART OF A PATH...]`.

Prints a line for each: its place, a tab, and the text. Each expression is tried in a process that the system ends after
a deadline.
"""

import os
import re
import resource
import sys
import time
from itertools import pairwise
from statistics import median

from tests.quality.compiled_patterns import Compiled, compiled_patterns
from tests.quality.hostile_texts import Hostile, hostile_texts

SIZES = (640, 2_560, 10_240, 40_960)
"""Characters; each size is four times the one before."""
NOTICED = 0.05
"""Seconds from which on a growth is looked at: what takes less at 40,000 characters harms nobody."""
LINEAR = 7.0
"""In linear time a text of four times the size takes four times as long, in quadratic time sixteen times."""
LOOKS = 4
DEADLINE = 60
"""Seconds of processor time for one expression; a text that needs more has no end."""


def seconds(pattern: "re.Pattern[str]", method: str, text: str) -> float:
    """Return how long one call takes."""
    begun = time.perf_counter()
    found = getattr(pattern, method)(text)
    if method == "finditer":
        for _ in found:
            pass
    return time.perf_counter() - begun


def growth(pattern: "re.Pattern[str]", method: str, hostile: Hostile) -> float:
    """Return how many times longer four times the text takes, at the first size at which that is noticed, or 1."""
    for smaller, size in pairwise(SIZES):
        if seconds(pattern, method, hostile.text(size)) > NOTICED:
            return min(_growth(pattern, method, hostile, smaller, size) for _ in range(LOOKS))
    return 1.0


def _growth(pattern: "re.Pattern[str]", method: str, hostile: Hostile, smaller: int, size: int) -> float:
    large = seconds(pattern, method, hostile.text(size))
    small = median(seconds(pattern, method, hostile.text(smaller)) for _ in range(LOOKS))
    return large / small if large > NOTICED else 1.0


def worst(compiled: Compiled) -> str:
    """Return a text on which the expression takes more than linear time; empty if none was found."""
    pattern = re.compile(compiled.pattern, compiled.flags)
    for method in compiled.methods:
        for hostile in hostile_texts(pattern):
            if (times := growth(pattern, method, hostile)) > LINEAR:
                return f"{method}, {times:.0f} times as long: {tuple(one[:80] for one in hostile)!r}"
    return ""


def looked_at(compiled: Compiled) -> str:
    """Look at an expression in a process of its own; return what is wrong."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (DEADLINE, DEADLINE))
        os.write(writes, worst(compiled).encode("utf-8", "replace"))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read().decode()
    return f"no end within {DEADLINE} s" if os.waitpid(child, 0)[1] else said


def main(parts: list[str]) -> None:
    """Look at the expressions of these files, or at all."""
    for compiled in compiled_patterns():
        if (not parts or any(part in compiled.file for part in parts)) and (said := looked_at(compiled)):
            print(f"{compiled.place}\t{said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
