"""Matching of schema patterns with model output, in bounded time for every pattern and text."""

import math
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

MOST_STEPS = 20_000_000
"""Steps that one match may take: less than a second."""
LENGTHS = (1000, 500, 250, 120, 60, 30)
"""Texts up to the longest of these lengths that keeps within the steps are matched; longer ones are not."""
_SIMPLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT", "CATEGORY", "RANGE", "GROUPREF")


def matcher(pattern: str) -> Callable[[str], bool] | str:
    """Return the test whether a text matches, in the sense of JSON Schema; or why this cannot be told.

    A text that is too long to be matched in time does not match.
    """
    try:
        found, parsed = re.compile(pattern), list(import_module("re._parser").parse(pattern))
        longest = next((n for n in LENGTHS if _steps(parsed, n) <= MOST_STEPS), None)
    except (re.error, OverflowError, RecursionError) as error:
        return f"its pattern {pattern!r} cannot be read: {error}"
    if longest is None:
        return f"its pattern {pattern!r} may take too long to match, as repeats within repeats do"
    return lambda text: len(text) <= longest and found.search(text) is not None


def _steps(parsed: list[Any], length: int) -> float:
    """Return a bound on the steps of a search, which tries every place unless the pattern is anchored."""
    anchored = parsed and str(parsed[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
    return _ways(parsed, length) * (1 if anchored else length)


def _ways(nodes: Iterable[Any], length: int) -> float:
    """Return a bound on the paths that a backtracking matcher tries from one place of a text."""
    ways = 1.0
    for kind, what in nodes:
        ways = min(ways * _ways_of(str(kind), what, length), MOST_STEPS * 10.0)
    return ways


def _ways_of(kind: str, part: Any, length: int) -> float:
    if kind in _SIMPLE:
        return 1.0
    if kind == "BRANCH":
        return sum(_ways(branch, length) for branch in part[1])
    if kind in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return _ways(part[-1], length)
    if kind == "ATOMIC_GROUP":
        return _ways(part, length)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, body = part
        return _ways_of_repeat(least, most, body, length)
    return math.inf


def _ways_of_repeat(least: int, most: int, body: Iterable[Any], length: int) -> float:
    times = min(int(most), max(length, int(least)))
    once = _ways(body, length)
    if once == 1.0:
        return times - least + 1.0
    logged = (times + 1) * math.log(once)
    return math.exp(logged) if logged < math.log(MOST_STEPS) else MOST_STEPS * 10.0
