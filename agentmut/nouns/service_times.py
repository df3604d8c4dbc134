"""The time of a run, divided into waits for model services and the agent's own time."""

from agentmut._base import Frozen

MOST_WAITS = 200
"""So many waits of a run are kept one by one, the longest; what the others took counts as the run's own time."""


class ServiceTime(Frozen):
    """A run's waits for model services, in seconds; overlapping waits count once."""

    waits: tuple[float, ...] = ()
    """The waits that ended, in the order in which they began; a request that is sent again goes on with its wait."""
    waiting: float = 0.0
    """What the last wait had taken when the run ended; 0 where it did not end in one."""
    own: float = 0.0
    """What the run did itself: its code, its tools. What a rate limit held back is neither."""
    failed: int = 0
    """Requests that met trouble of the service or the network, also where they were answered later."""
    cut: float = 0.0
    """The timeout that cut the run off; 0 where it ended by itself."""


def service_time(
    spans: tuple[tuple[float, float], ...], now: float, held: float, *, failed: int = 0, cut: float = 0.0
) -> ServiceTime:
    """Return the times of a run from its waits (`spans`) and the time held back, `now` seconds after its start.

    Spans are pairs of seconds since the run began, in order and apart. One that reaches to now has not ended.
    `failed` and `cut` are the fields of that name.
    """
    if not spans:
        return ServiceTime(own=round(max(0.0, now - held), 3), failed=failed, cut=cut)
    waits = [end - begin for begin, end in spans]
    waiting = waits.pop() if spans[-1][1] >= now else 0.0
    own = max(0.0, now - held - waiting - sum(waits))
    if len(waits) > MOST_WAITS:
        least = sorted(waits)[-MOST_WAITS]
        own += sum(wait for wait in waits if wait < least)
        waits = [wait for wait in waits if wait >= least][:MOST_WAITS]
    rounded = tuple(round(wait, 3) for wait in waits)
    return ServiceTime(waits=rounded, waiting=round(waiting, 3), own=round(own, 3), failed=failed, cut=cut)


def merged_spans(spans: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return the union of spans, in order. Spans that merely touch stay apart.

    >>> merged_spans([(4.0, 5.0), (0.0, 2.0), (1.0, 3.0)])
    ((0.0, 3.0), (4.0, 5.0))
    """
    union: list[tuple[float, float]] = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if union and begin < union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((begin, end))
    return tuple(union)
