"""Failed runs that show why a scenario fails: different reasons first."""

from typing import Any

from agentmut.usecases.why_failing import _telling
from tests.report.test_html_runs import run


def test_runs_with_different_reasons_come_first_in_the_order_of_the_trials() -> None:
    runs: Any = [run(n, outcome="fail", reason=why) for n, why in enumerate(("a", "a", "b", "a", "c"))]
    assert [each.trial for each in _telling(runs)] == [0, 2, 4, 1, 3]
