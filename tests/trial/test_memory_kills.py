"""A process that was killed is told apart by the system's count of what it killed for want of memory."""

from pathlib import Path

import pytest

from agentmut._base.lack_of_memory import lacked_memory_since, memory_kills
from agentmut.nouns.execution import Ending
from agentmut.trial.isolated_worker import Underway
from agentmut.trial.isolation import _Process


def test_the_count_is_that_of_the_system(tmp_path: Path) -> None:
    counts = tmp_path / "vmstat"
    counts.write_text("nr_free_pages 12\noom_kill 4\nballoon_inflate 0\n")
    assert memory_kills(counts) == 4
    assert not lacked_memory_since(4, counts)
    assert lacked_memory_since(3, counts)


@pytest.mark.parametrize("written", [None, "nr_free_pages 12\n", "oom_kill", "oom_kill many"])
def test_without_a_count_nobody_knows(tmp_path: Path, written: str | None) -> None:
    counts = tmp_path / "vmstat"
    if written is not None:
        counts.write_text(written)
    assert memory_kills(counts) is None
    assert lacked_memory_since(None, counts) and lacked_memory_since(3, counts)


@pytest.mark.parametrize(("now", "ending"), [(4, Ending.RAISED), (5, Ending.INFRASTRUCTURE)])
def test_a_killed_worker_is_no_evidence_if_memory_has_run_out(
    monkeypatch: pytest.MonkeyPatch, now: int, ending: Ending
) -> None:
    class Gone:
        exitcode = -9

        def join(self, timeout: float) -> None:
            """It has ended."""

    monkeypatch.setattr("agentmut._base.lack_of_memory.memory_kills", lambda *file: now)
    process = _Process.__new__(_Process)
    process._process, process._exit_ends = Gone(), Ending.RAISED  # type: ignore[assignment]
    assert process._ended(4, Underway()).ending is ending
