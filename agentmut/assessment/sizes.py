"""The sizes that a baseline can have, and the cost of the next size."""

SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000)
"""Sizes of a baseline that are proposed. From 10 trials on each is at most twice one that is smaller."""


def next_sizes(trials: int, count: int) -> tuple[int, ...]:
    """Return the first `count` of `SIZES` above `trials`; fewer if there are no more."""
    return tuple(size for size in SIZES if size > trials)[:count]


def largest_step(trials: int) -> int:
    """Return the size to which a baseline of so many trials grows at most at once.

    The largest of `SIZES` that is no more than twice as large, and twice its size where there is none.
    """
    return max((size for size in SIZES if trials < size <= 2 * trials), default=2 * trials)


def further_looks(before: int, after: int) -> int:
    """Return how many looks a baseline takes that grows from `before` trials to `after`.

    What it shows chooses among `SIZES`, so those that are passed over are paid for as well: each size that it could
    have had has its own part of the doubt. A number of trials that nothing was looked at for takes one.

    >>> further_looks(100, 150), further_looks(100, 200), further_looks(100, 90)
    (1, 2, 1)
    """
    return 1 + sum(before < size < after for size in SIZES)
