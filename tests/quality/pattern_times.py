"""Which regular expressions take more than linear time: `python -m tests.quality.pattern_times [PART OF A PATH...]`.

Prints a line for each: its place, a tab, and the text. Each expression is tried in a process that the system ends after
a deadline. All times are processor time, so that what else the machine does changes nothing. Short texts come first:
nearly all expressions are done with them, so that all take about half a minute.
"""

import os
import re
import resource
import sys
import time
import traceback
from itertools import pairwise
from pathlib import Path

from tests.quality.compiled_patterns import Compiled, compiled_patterns
from tests.quality.hostile_texts import Hostile, hostile_texts

SLOW = Path(__file__).with_name("slow_patterns.txt")
SHORT = (320, 1_280)
"""Characters of the texts that are tried first, all of them."""
EXCESS = 0.0003
"""Seconds that a text of 1,280 characters takes beyond four times those of 320; quadratic time has 0.001 and more."""
SUSPECTS = 12
"""So many of the texts with the largest excess are tried at full length."""
SIZES = (160, 640, 2_560, 10_240)
"""Characters; each size is four times the one before."""
NOTICED = 0.01
"""Seconds from which on a growth is looked at: what takes less at 10,000 characters harms nobody."""
LINEAR = 7.0
"""In linear time a text of four times the size takes four times as long, in quadratic time sixteen times."""
LOOKS = 4
LEAST = 1e-5
"""Seconds; less than this is not measured."""
DEADLINE = 10
"""Seconds of processor time for one expression; a text that needs more has no end."""


def seconds(pattern: "re.Pattern[str]", method: str, text: str) -> float:
    """Return how much processor time one call takes; what other programs do meanwhile does not count."""
    begun = time.process_time()
    found = getattr(pattern, method)(text)
    if method == "finditer":
        for _ in found:
            pass
    return time.process_time() - begun


def suspects(pattern: "re.Pattern[str]", method: str) -> list[Hostile]:
    """Return the texts whose short forms grow fastest, the worst first."""
    found = []
    for hostile in hostile_texts(pattern):
        small, large = (seconds(pattern, method, hostile.text(size)) for size in SHORT)
        if large - 4 * small > EXCESS:
            found.append((large - 4 * small, hostile))
    return [hostile for _, hostile in sorted(found, reverse=True)[:SUSPECTS]]


def growth(pattern: "re.Pattern[str]", method: str, hostile: Hostile) -> float:
    """Return how many times longer four times the text takes, the least of all sizes from which on that is noticed.

    A repeat with a bound takes quadratic time in texts that are shorter than the bound, and linear time in longer ones.
    """
    least = 1.0
    for smaller, size in pairwise(SIZES):
        if least > 1 or seconds(pattern, method, hostile.text(size)) > NOTICED:
            times = _growth(pattern, method, hostile, smaller, size)
            least = min(least, times) if least > 1 else times
            if least <= LINEAR:
                return least
    return least


def _growth(pattern: "re.Pattern[str]", method: str, hostile: Hostile, smaller: int, size: int) -> float:
    """Return the least growth of a few looks, or the first that is linear."""
    least = 1e9
    for _ in range(LOOKS):
        large = seconds(pattern, method, hostile.text(size))
        small = sum(seconds(pattern, method, hostile.text(smaller)) for _ in range(LOOKS)) / LOOKS
        least = min(least, large / max(small, LEAST) if large > NOTICED else 1.0)
        if least <= LINEAR:
            break
    return least


def worst(compiled: Compiled) -> str:
    """Return a text on which the expression takes more than linear time; empty if none was found."""
    pattern = re.compile(compiled.pattern, compiled.flags)
    for method in compiled.methods:
        for hostile in suspects(pattern, method):
            if (times := growth(pattern, method, hostile)) > LINEAR:
                return f"{method}, {times:.0f} times as long: {tuple(one[:80] for one in hostile)!r}"
    return ""


def looked_at(compiled: Compiled) -> str:
    """Look at an expression in a process of its own; return what is wrong."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        _look_and_leave(compiled, writes)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return f"no end within {DEADLINE} s" if os.WIFSIGNALED(status) else said


def _look_and_leave(compiled: Compiled, writes: int) -> None:
    spent = int(time.process_time()) + 1  # a child begins at zero on Linux, elsewhere perhaps not
    resource.setrlimit(resource.RLIMIT_CPU, (DEADLINE + spent, DEADLINE + spent))
    try:
        said = worst(compiled)
    except BaseException:
        said = traceback.format_exc()
    os.write(writes, said.encode("utf-8", "replace"))
    os._exit(0)


def known() -> dict[str, str]:
    """Return the places of expressions that may take longer, with the reason of each."""
    lines = SLOW.read_text("utf-8").splitlines()
    parts = (line.partition("  ") for line in lines if line and not line.startswith("#"))
    return {place: reason for place, _, reason in parts}


def main(parts: list[str]) -> None:
    """Look at the expressions of these files, or at all, but for those that may take longer."""
    excused = known()
    for compiled in compiled_patterns():
        wanted = not parts or any(part in compiled.file for part in parts)
        if wanted and compiled.place not in excused and (said := looked_at(compiled)):
            print(f"{compiled.place}\t{said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
