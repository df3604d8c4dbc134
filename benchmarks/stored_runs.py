"""`python -m benchmarks.stored_runs [RUNS]`: the memory of `analyze` and `watch` on so many imported runs.

The runs are those of four real instrumentations in `tests/testdata/traces`, each with two versions and its own time.
Printed is the largest sum of Python's allocations (`tracemalloc`) and the largest number of runs in memory at once, on
a tenth of the runs and on all of them: neither may grow with the runs.
"""

import sys
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from agentmut.nouns import ImportedTrial
from agentmut.store import Imports, Store
from agentmut.usecases import AnalysisWish, WatchWish, analyze, import_traces, watch_imports

RECORDED = Path(__file__).parents[1] / "tests" / "testdata" / "traces"
SOURCES = ("pydantic_ai", "openinference_langchain", "traceloop", "openinference_agents")
RELATIONS = ("oracle.tool_arguments",)
BATCH = 500


def stored(folder: Path, wanted: int) -> None:
    """Put so many runs into a store."""
    import_traces([str(RECORDED / f"{name}.jsonl") for name in SOURCES], folder)
    with closing(Store(folder / ".agentmut" / "store.db")) as store:
        known = [each.trial for each in store.imports.found()]
        copies = islice(enumerate(cycle(known)), wanted - len(known))
        while some := list(islice(copies, BATCH)):
            store.imports.add([(f"copy {number}", _copy(each, number, wanted)) for number, each in some], 1.0)


def _copy(found: ImportedTrial, number: int, wanted: int) -> ImportedTrial:
    trial = found.trial.model_copy(update={"started": 1.8e9 + number})
    return found.model_copy(update={"trial": trial, "version": "v1" if number < wanted / 2 else "v2"})


class Live:
    """Counts the runs that are in memory at once, as the store hands them out."""

    def __init__(self) -> None:
        self.most = 0
        self._runs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def reading(self, some: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Return the store's reader with a count."""

        def counted(imports: Imports, numbers: Any) -> Iterator[Any]:
            for each in some(imports, numbers):
                self._runs[id(each.trial)] = each.trial
                self.most = max(self.most, len(self._runs))
                yield each

        return counted


def measured(job: Callable[[], object]) -> tuple[float, int]:
    """Return the largest allocations of a job in MiB, and the most runs in memory at once."""
    live, some = Live(), Imports.some
    Imports.some = live.reading(some)  # type: ignore[method-assign]  # the store itself counts nothing
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1] / 2**20, live.most
    finally:
        tracemalloc.stop()
        Imports.some = some  # type: ignore[method-assign]


def main(wanted: int) -> None:
    """Print a line for each verb and each number of runs."""
    for runs in (wanted // 10, wanted):
        with tempfile.TemporaryDirectory() as folder:
            stored(Path(folder), runs)
            jobs: dict[str, Callable[[], object]] = {
                "analyze": lambda at=folder: analyze(at, AnalysisWish(relations=RELATIONS)),  # type: ignore[misc]
                "watch": lambda at=folder: watch_imports(at, WatchWish()),  # type: ignore[misc]
            }
            for name, job in jobs.items():
                job() if runs < wanted else None  # what is imported and cached once is no memory of runs
                size, most = measured(job)
                print(
                    f"{name}, {runs:,} runs: at most {size:.1f} MiB, {most} runs in memory at once",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
