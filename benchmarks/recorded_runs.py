"""`python -m benchmarks.recorded_runs [SPANS] [--import]`: time and memory of reading so many spans of OTLP/JSON.

With `--import` they come into a store, without secrets.

The spans are those of four real instrumentations in `tests/testdata/traces`, repeated under other trace ids.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from agentmut.seams import TraceFile
from agentmut.trace_formats import read_traces
from agentmut.usecases import import_traces

RECORDED = Path(__file__).parents[1] / "tests" / "testdata" / "traces"
SOURCES = ("pydantic_ai", "openinference_langchain", "traceloop", "openinference_agents")
ID = '"traceId":"'


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


def main(wanted: int, *, into_store: bool) -> None:
    """Print what reading takes, or importing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spans.jsonl"
        spans, size = write(path, wanted), path.stat().st_size / 2**20
        began, cpu = time.perf_counter(), time.process_time()
        if into_store:
            imported = import_traces([str(path)], folder)
            trials, broken = imported.added, len(imported.broken)
        else:
            report = read_traces([TraceFile(path, path.name)])
            trials, broken = len(report.trials), len(report.broken)
        spent, cpu = time.perf_counter() - began, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{spans:,} spans ({size:.0f} MiB), {trials:,} trials, {broken} broken: {cpu:.1f} s of processor time, "
            f"{spent:.1f} s, at most {memory:.0f} MiB"
        )


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "--import"]
    main(int(given[0]) if given else 100_000, into_store="--import" in sys.argv)
