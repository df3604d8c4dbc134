"""The reliability of the unchanged agent in `result.json`, against its stored runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentmut.campaign.results.reliability import baseline_reliability
from agentmut.nouns.result import Result
from agentmut.project.loading import load_project
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store


@pytest.fixture
def result(projects: Any) -> Result:
    project = projects.write(("alpha", "beta"), extra="\nRATES = {'alpha': 0.9}\nLATENCY = 0.02\n")
    found: Result = measure(project)
    return found


def test_the_curve_follows_the_launches_whatever_order_runs_end_in(result: Result, tmp_path: Path) -> None:
    with open_store(load_project(tmp_path)) as store:
        runs = [one for one in store.trials_of(result.run_id, "") if one.scenario == "alpha"][:40]
    passed = [one.execution.trace.text == "alpha" for one in sorted(runs, key=lambda one: one.repeat)]
    (row,) = [row for row in result.reliability.scenarios if row.scenario == "alpha"]  # type: ignore[union-attr]
    assert (row.runs, row.passes) == (40, sum(passed))
    assert row.flaky
    expected = [100 * sum(passed[:k]) ** k // k**k for k in range(1, 41)]
    assert list(row.decay_curve) == expected
    seconds = [one.execution.trace.seconds for one in runs]
    assert row.p95_seconds == pytest.approx(np.quantile(seconds, 0.95, method="inverted_cdf"), abs=1e-6)


def test_an_earlier_result_has_its_counts(result: Result) -> None:
    earlier = baseline_reliability(result.model_copy(update={"reliability": None}))
    now = result.reliability
    assert earlier is not None
    assert now is not None
    assert (earlier.pass_rate, earlier.chances) == (now.pass_rate, now.chances)
    assert (earlier.p95, earlier.scenarios[0].decay_curve) == (None, ())
