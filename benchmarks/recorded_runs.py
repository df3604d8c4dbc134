"""`python -m benchmarks.recorded_runs [SPANS] [--import]`: time and memory of reading so many spans of OTLP/JSON.

With `--import` the command `agentmut import` brings them into a store, without secrets; its processes are measured.

The spans are those of four real instrumentations in `tests/testdata/traces`, repeated under other trace ids.
"""

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
GOAL = "at most 20 s and 500 MiB for 100,000 spans are wanted"


def write(path: Path, wanted: int) -> int:
    """Write at least so many spans, and return how many."""
    lines = [line for name in SOURCES for line in (RECORDED / f"{name}.jsonl").read_text().splitlines(True)]
    spans = 0
    with path.open("w") as file:
        for turn in range(wanted):
            for line in lines:
                at = line.find(ID) + len(ID)
                file.write(f"{line[:at]}{line[at : at + 8]}{turn:024x}{line[at + 32 :]}")
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
    given = [each for each in sys.argv[1:] if each != "--import"]
    main(int(given[0]) if given else 100_000, command="--import" in sys.argv)
