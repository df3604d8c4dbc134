"""The common beginning and end of two sequences."""

from collections.abc import Sequence
from typing import Any


def ends_in_common(left: Sequence[Any], right: Sequence[Any]) -> tuple[int, int]:
    """Return lengths of the beginning and of the end that both have; the two never overlap.

    What could belong to either belongs to the beginning.

    >>> ends_in_common("a cat sat", "a cow sat"), ends_in_common("aa", "aaa")
    ((3, 4), (2, 0))
    """
    head = beginning_in_common(left, right)
    return head, beginning_in_common(left[head:][::-1], right[head:][::-1])


def beginning_in_common(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the length of the beginning that both have.

    By bisection: comparing slices is quicker than comparing items."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
