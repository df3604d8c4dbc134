"""The evidence for a drift of thousands of scenarios: those that show the same are looked at once."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agentmut.stats import LaterTrials, Shift, find_shift
from agentmut.stats.sequential import shift
from tests.counted_calls import counted


def found(scenarios: int, differing: int = 0) -> tuple[Shift | None, int]:
    """Return the shift of so many scenarios, and how many of them were looked at one by one."""
    baseline = {f"s{i}": (0, 2 + (i < differing)) for i in range(scenarios)}
    later = LaterTrials([("s0", ""), ("s1", "")], [0, 1], [False, True])
    with counted("_of_scenario") as count:
        change = find_shift(baseline, later)
    return change, count.calls


def test_scenarios_that_show_the_same_are_looked_at_once() -> None:
    assert [found(scenarios)[1] for scenarios in (10, 80)] == [3, 3]


def test_scenarios_that_differ_are_looked_at_each() -> None:
    assert found(10, differing=1)[1] == 3
    assert found(10, differing=3)[1] == 4


def test_alike_scenarios_count_as_often_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    together = found(40)[0]

    def each(known: Mapping[str, tuple[int, int]], counted: Any) -> Iterator[Any]:
        yield from (shift._AlikeScenarios(known[name], counted.on(name), 1) for name in known)

    monkeypatch.setattr(shift, "_alike", each)
    alone, looked_at = found(40)
    assert looked_at == 40
    assert together == pytest.approx(alone, rel=1e-9)
