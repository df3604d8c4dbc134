"""The command that kills edits at each step finds what is half done, and nothing in agentmut's own edits."""

from pathlib import Path

import pytest

from benchmarks import edit_kills
from benchmarks.edit_kills import CHANGES, WATCHED, Change, Files


def in_place(root: Path, _: Files, new: Files) -> None:
    """Write the files one after the other."""
    for name, content in new.items():
        if content is not None:
            (root / name).write_bytes(content)


@pytest.mark.process
def test_files_that_are_written_one_by_one_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_kills, "WATCHED", WATCHED | {__file__})
    old: Files = {"a.yaml": b"old\n", "b.yaml": b"old\n"}
    change = Change("planted", old, {"a.yaml": b"new\n", "b.yaml": b"new\n"}, in_place)
    ends = edit_kills._ends(change, 80)
    assert ends["mixed"] > 5 and ends["all old"] > 5


@pytest.mark.process
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.verb)
def test_a_kill_at_any_of_the_first_steps_leaves_all_old(change: Change) -> None:
    assert edit_kills._ends(change, 20) == {"all old": 20}
