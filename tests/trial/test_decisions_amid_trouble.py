"""One request in five meets trouble of the service, and a campaign decides what it decides without."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.mutant import Status
from agentmut.trial import executor

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def faults() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "faults.py"
    spec = importlib.util.spec_from_file_location("faults_study", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_campaign_decides_the_same_as_without_trouble(
    faults: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamed, by OpenAI's SDK, on the wire. The study of `make slow` goes through the proxy, and hangs too."""
    monkeypatch.setattr(executor, "LONGEST_PAUSE", 0.05)
    size = faults.Size(rules=1, baseline=20, n_max=20, concurrency=8)
    clean, faulty = faults.both(tmp_path, size, "openai", hangs=0.0)
    assert faulty.decisions == clean.decisions
    assert {status for _, status, _ in clean.decisions.values()} == {Status.KILLED, Status.SURVIVED}
    assert faulty.troubled > faulty.requests / 10 and clean.troubled == 0
    assert faulty.requests > clean.requests
