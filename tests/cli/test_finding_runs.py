"""Which run a verb means: what is asked for must be in it."""

from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.cli.runs import find_recorded, find_result, latest_outcome
from agentmut.store import StoredRun
from agentmut.usecases.cleaning import kept_runs


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two recorded runs, and a later one without recordings, as `agentmut test` leaves it."""
    folder = tmp_path / ".agentmut" / "runs"
    for name in ("20260101-a", "20260101-b"):
        (folder / name / "cassettes").mkdir(parents=True)
        (folder / name / "cassettes" / "t.json").write_text("{}")
    (folder / "20260102-c").mkdir()
    (folder / "20260102-c" / "verdicts.json").write_text("{}")
    return tmp_path


def test_the_latest_recorded_run_is_replayed_though_a_later_one_recorded_nothing(runs: Path) -> None:
    assert find_recorded(runs, None).name == "20260101-b"
    assert find_recorded(runs, "20260101-a").name == "20260101-a"


def test_what_names_no_recorded_run_or_several_is_told_of_them(runs: Path) -> None:
    with pytest.raises(UsageError, match="2 runs begin with '2026': 20260101-a, 20260101-b"):
        find_recorded(runs, "2026")
    with pytest.raises(
        UsageError, match=r"run 20260102 has no recorded trial.* Known: 20260101-a, 20260101-b"
    ):
        find_recorded(runs, "20260102")


def test_without_any_the_way_to_one_is_told(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Run `agentmut run` first"):
        find_result(runs, None)
    (tmp_path / "new").mkdir()
    with pytest.raises(UsageError, match=r"Set `execution\.record: true`"):
        find_recorded(tmp_path / "new", None)


def test_the_latest_report_may_be_a_tests_or_else_the_campaigns(runs: Path) -> None:
    assert latest_outcome(runs) == "20260102-c"
    later = runs / ".agentmut" / "runs" / "20260103-d"
    later.mkdir()
    assert latest_outcome(runs) == "20260102-c"
    (later / "result.json").write_text("{}")
    assert latest_outcome(runs) is None


def test_a_finished_campaign_is_kept_though_a_later_one_failed(tmp_path: Path) -> None:
    runs = [
        StoredRun("4-test", 4.0, '{"kind": "test"}', "finished"),
        StoredRun("3-failed", 3.0, "{}", "failed"),
        StoredRun("2-paid", 2.0, "{}", "finished"),
        StoredRun("1-old", 1.0, "{}", "finished"),
    ]
    assert kept_runs(runs, 1, tmp_path) == ["4-test", "3-failed", "2-paid"]
