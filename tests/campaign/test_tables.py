"""Decision tables are kept on disk, and a damaged cache costs time only."""

from pathlib import Path

import pytest

from agentmut.campaign.preparation import tables
from agentmut.campaign.preparation.tables import Tables
from agentmut.stats.kill.rule import KillDesign, KillTable

DESIGN = KillDesign(alpha=0.01, n_max=30)


def never(*_: object) -> KillTable:
    raise AssertionError("the table was computed again")


def test_a_table_is_computed_once_and_read_by_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Tables(tmp_path).get(3, 50, DESIGN)
    monkeypatch.setattr(tables, "decision_table", never)
    assert Tables(tmp_path).get(3, 50, DESIGN) == first
    with pytest.raises(AssertionError, match="computed again"):
        Tables(tmp_path).get(4, 50, DESIGN)


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"rule_version": -1}'])
def test_a_damaged_table_is_computed_again(tmp_path: Path, damage: str) -> None:
    first = Tables(tmp_path).get(3, 50, DESIGN)
    (kept,) = tmp_path.iterdir()
    kept.write_text(damage)
    assert Tables(tmp_path).get(3, 50, DESIGN) == first


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert Tables(tmp_path / "file").get(3, 50, DESIGN) == Tables(None).get(3, 50, DESIGN)
