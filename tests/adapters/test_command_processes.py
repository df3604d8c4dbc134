"""Programs that run too long, leave children behind, are cancelled, or run many at once."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.execution import Ending
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.recording.redaction import Redactor
from agentmut.recording.trial import Trial
from agentmut.trial.single_run import Case, Wiring, attempt
from tests.adapters.programs import answer, made, python, ran
from tests.cutting import cut_once

pytestmark = pytest.mark.process


@contextmanager
def processes_with(mark: str) -> Iterator[Any]:
    def alive() -> list[int]:
        return [pid for pid in _pids() if mark in _command_line(pid)]

    yield alive
    for pid in alive():
        os.kill(pid, signal.SIGKILL)


def gone(alive: Any) -> bool:
    """Whether all have ended, in the moment that the system takes for that."""
    until = time.monotonic() + 600
    while alive() and time.monotonic() < until:
        time.sleep(0.01)
    return not alive()


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


linux = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks processes up in /proc")


@linux
@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_a_timeout_ends_the_program_and_its_children(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_once(monkeypatch, lambda recorder: (tmp_path / "here").exists())
    with processes_with("6100.25") as alive:
        line = f"{trap}sh -c '{trap}sleep 6100.25; true' & echo at work >&2; touch here; sleep 6100.25; true"
        done = ran(made(line, root=tmp_path, shell=True))
        assert done.ending is Ending.TIMEOUT and not done.abandoned
        assert done.trace.stderr == "at work\n"
        assert gone(alive)


@linux
def test_children_left_behind_by_a_program_that_has_answered_are_ended(tmp_path: Path) -> None:
    with processes_with("6200.25") as alive:
        assert answer(made("sleep 6200.25 & echo done", root=tmp_path, shell=True)) == "done"
        assert gone(alive)


@linux
def test_cancelled_runs_leave_no_process_no_zombie_and_no_pipe(tmp_path: Path) -> None:
    adapter = made("sleep 63.25 & sleep 63.25", root=tmp_path, shell=True)

    async def cancelled() -> int:
        runs = [asyncio.ensure_future(adapter.run(("hi",), Trial(f"t{n}"))) for n in range(20)]
        await asyncio.sleep(0.4)
        for run in runs:
            run.cancel()
        ended = await asyncio.gather(*runs, return_exceptions=True)
        assert all(isinstance(error, asyncio.CancelledError) for error in ended)
        await asyncio.sleep(0.05)
        return len(list(Path("/proc/self/fd").iterdir()))

    with processes_with("63.25") as alive:
        asyncio.run(cancelled())
        first = asyncio.run(cancelled())
        assert asyncio.run(cancelled()) <= first
        assert gone(alive) and _zombies() == []


@linux
def test_a_run_that_is_cancelled_while_its_program_starts_waits_for_no_child_of_it(tmp_path: Path) -> None:
    """asyncio would wait for the end of a program's pipes, which its children hold."""
    adapter = made("sleep 6300.25 & sleep 6300.25", root=tmp_path, shell=True)

    async def cancelled(steps: int) -> None:
        run = asyncio.ensure_future(adapter.run(("hi",), Trial("t")))
        for _ in range(steps):
            await asyncio.sleep(0)
        run.cancel()
        done, _ = await asyncio.wait({run}, timeout=600)
        assert done

    with processes_with("6300.25") as alive:
        for steps in range(8):
            asyncio.run(cancelled(steps))
        assert gone(alive)


def _zombies() -> list[int]:
    return [pid for pid in _pids() if _state(pid) == ["Z", str(os.getpid())]]


def _state(pid: int) -> list[str]:
    """Its state and its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return []


def test_fifty_at_once_each_get_their_own_input(tmp_path: Path) -> None:
    adapter = made("sh", "-c", "sleep 0.2; cat", root=tmp_path)

    async def together() -> list[str]:
        trials = (adapter.run((f"input {n}",), Trial(f"t{n}")) for n in range(50))
        return [trace.text for trace in await asyncio.gather(*trials)]

    assert asyncio.run(together()) == [f"input {n}" for n in range(50)]


SECRET = "planted-0123456789-openai-key"


def kept_of(code: str, tmp_path: Path, **spec: Any) -> str:
    """What is kept of a run whose trial knows the secret."""
    case = Case(Scenario(name="s", turns=("hello",), evaluators=(EvaluatorSpec(name="json_valid"),)), {})
    wiring = Wiring(redact=Redactor([SECRET]).text)
    adapter = python(code, root=tmp_path, **spec)
    return asyncio.run(attempt(adapter, case, "trial-1", 0, 20.0, wiring)).model_dump_json()


@pytest.mark.parametrize("after", [7_990, 590])
def test_a_secret_is_masked_before_what_a_program_wrote_to_stderr_is_cut(tmp_path: Path, after: int) -> None:
    code = f"import sys; sys.stderr.write('A' * 99 + '{SECRET}' + 'B' * {after}); sys.exit(1)"
    assert "openai-key" not in kept_of(code, tmp_path)


def test_a_secret_is_masked_before_an_answer_is_quoted(tmp_path: Path) -> None:
    kept = kept_of(f"print('x' * 60 + '{SECRET}')", tmp_path, answer="/text")
    assert "it begins" in kept and "planted" not in kept
