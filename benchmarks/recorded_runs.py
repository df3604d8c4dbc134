"""`python -m benchmarks.recorded_runs [SPANS] [--import] [--verbs]`: time and memory of so many spans of OTLP/JSON.

With `--import` the command `agentmut import` brings them into a store, without secrets; its processes are measured.
With `--verbs` the import is followed by the verbs that look at imported runs, each measured for itself: once with two
scenarios, and once with a hundred, where `coverage` and `trend` read every run.

The spans are those of four real instrumentations in `tests/testdata/traces`, repeated under other trace ids.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agentmut.seams import TraceFile
from agentmut.trace_formats import read_traces

RECORDED = Path(__file__).parents[1] / "tests" / "testdata" / "traces"
SOURCES = ("pydantic_ai", "openinference_langchain", "traceloop", "openinference_agents")
ID = '"traceId":"'
ORDER = re.compile(r"order W\d(?=\?)")
GOAL = "at most 20 s and 500 MiB for 100,000 spans are wanted"


VERBS = ("import spans.jsonl", "analyze", "test", "coverage", "trend", "watch")
PROJECT = """version: 1
suite:
  traces:
    imported: true
    evaluators:
      - tool_called: track_order
"""


def write(path: Path, wanted: int, questions: int = 1) -> int:
    """Write at least so many spans, and return how many; each question is asked in so many ways."""
    lines = [line for name in SOURCES for line in (RECORDED / f"{name}.jsonl").read_text().splitlines(True)]
    spans = 0
    with path.open("w") as file:
        for turn in range(wanted):
            for line in lines:
                at = line.find(ID) + len(ID)
                copy = f"{line[:at]}{line[at : at + 8]}{turn:024x}{line[at + 32 :]}"
                file.write(copy if questions == 1 else ORDER.sub(rf"\g<0> {turn % questions}", copy))
                spans += line.count('"spanId"')
            if spans >= wanted:
                break
    return spans


def main(wanted: int, *, command: bool) -> None:
    """Print what reading takes, or the command that imports."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spans.jsonl"
        spans, size = write(path, wanted), path.stat().st_size / 2**20
        began, cpu = time.perf_counter(), _processor_time(command=command)
        did = _import(path) if command else _read(path)
        spent, cpu = time.perf_counter() - began, _processor_time(command=command) - cpu
        print(
            f"{spans:,} spans ({size:.0f} MiB), {did}: {cpu:.1f} s of processor time, {spent:.1f} s, "
            f"at most {_memory(command=command):.0f} MiB; {GOAL}"
        )


def verbs(wanted: int) -> None:
    """Print what each verb takes on the imported runs."""
    for questions in (1, 50):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            spans = write(root / "spans.jsonl", wanted, questions)
            (root / "agentmut.yaml").write_text(PROJECT)
            for verb in VERBS:
                cpu, memory = _measured(verb, root)
                print(
                    f"{verb}, {spans:,} spans of {2 * questions} scenarios: {cpu:.1f} s of processor time, at most "
                    f"{memory:.0f} MiB",
                    flush=True,
                )


def _measured(verb: str, root: Path) -> tuple[float, float]:
    """Return the processor time of a command in seconds, and the most memory of one of its processes in MiB."""
    command = [sys.executable, "-m", "agentmut", *verb.split()]
    child = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # 1: watch has something to tell, or test
        raise SystemExit(f"agentmut {verb} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _read(path: Path) -> str:
    report = read_traces([TraceFile(path, path.name)])
    return f"{len(report.trials):,} trials, {len(report.broken)} broken"


def _import(path: Path) -> str:
    """Run `agentmut import` as a user does, in a folder without a project."""
    asked = [sys.executable, "-m", "agentmut", "import", path.name]
    done = subprocess.run(asked, cwd=path.parent, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[0].rstrip(".")


def _processor_time(*, command: bool) -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN if command else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory(*, command: bool) -> float:
    """Return the most memory that one process held, in MiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN if command else resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    size = int(given[0]) if given else 100_000
    verbs(size) if "--verbs" in sys.argv else main(size, command="--import" in sys.argv)
