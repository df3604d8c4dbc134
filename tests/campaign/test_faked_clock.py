"""A campaign whose machine's clock jumps by an hour, forth and back, decides as one on a steady clock (libfaketime)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FAKED = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
"""Debian's package `libfaketime`: calls of the time of day are answered by it."""
AGENT = """
import os, time
from itertools import count
calls = count(1)

def run(config, input):
    if file := os.environ.get("FAKETIME_TIMESTAMP_FILE"):
        before = time.time()
        with open(file, "w") as clock:
            clock.write(("+1h", "-1h", "+0")[next(calls) % 3])
        with open("jumps.txt", "a") as jumps:
            jumps.write(f"{time.time() - before:.0f}\\n")
    return "hello" if "hello" in config.prompt else "no"
"""
PROJECT = (
    "version: 1\nagent: {adapter: python, run: 'jumping_agent:run', config: {prompt: '- Say hello.\\n- Be kind.'}}\n"
    "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
    "statistics: {baseline: 20, n_max: 20, rounds: one, seed: 1}\nbudget: {minutes: 30}\n"
    "execution: {concurrency: 2, timeout: 20}\n"
)


def verdicts(folder: Path, **variables: str) -> tuple[Any, float]:
    """Run a campaign; return what became of its mutants, and the seconds that it says it took."""
    folder.mkdir()
    (folder / "jumping_agent.py").write_text(AGENT)
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (folder / "agentmut.yaml").write_text(PROJECT)
    done = subprocess.run(
        [sys.executable, "-c", "from agentmut.cli import main; main()", "run", "--yes", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rows = [(row["id"], row["status"], row["trials"], row["p_value"]) for row in result["mutants"]]
    return (result["status"], result["score"]["killed"], rows), result["cost"]["seconds"]


@pytest.mark.skipif(FAKED is None, reason="needs Debian's package libfaketime")
def test_a_clock_that_jumps_by_an_hour_changes_no_verdict(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0")
    steady, _ = verdicts(tmp_path / "steady")
    jumped, seconds = verdicts(
        tmp_path / "jumped",
        LD_PRELOAD=str(FAKED),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",  # no system lets anybody set that clock
    )
    assert jumped == steady
    assert 0 < seconds < 1800
    jumps = [abs(int(line)) for line in (tmp_path / "jumped" / "jumps.txt").read_text().split()]
    assert sum(jump >= 3590 for jump in jumps) > 20, jumps
