"""What a store of a million trials costs, in a file and on a server, each figure beside its target.

    python -m benchmarks.store_scale                      # a file of SQLite with 1,000,000 trials
    AGENTMUT_TEST_POSTGRES=/usr/lib/postgresql/15/bin python -m benchmarks.store_scale --server
    python -m benchmarks.store_scale --trials 50000       # a smaller one
    python -m benchmarks.store_scale --targets            # the figures that have a target, and no others

One real campaign is run. Its trials are copied within the database, under other keys and as ten other runs of the
project, until the store has its size. Then verbs of the command line are carried out in this process. Seconds are
those of a clock, so they hold on a quiet machine; seconds of the processor stand beside them, without those of the
server.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Connection, create_engine, select, text
from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.nouns import Result, Status
from agentmut.project import load_project
from agentmut.store import Store, StoreUrl, Where, listed_runs
from agentmut.store.schema import trials
from agentmut.usecases import measure, opened, store_place
from benchmarks.scale import memory, write_project
from tests.postgres_server import PostgresServer, programs

SCENARIOS, MUTANTS, CAMPAIGN = 40, 60, 5_000
RUNS = 10
"""Runs that the copies belong to."""
LOOKS = 2_000
"""Trials that are looked for."""
COLUMNS = ", ".join(column.name for column in trials.c if column.name not in ("id", "key", "run"))
COPIES = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :copies) "
    f"INSERT INTO trials (key, run, {COLUMNS}) SELECT lower(hex(randomblob(32))), 'copy-' || (i % {RUNS}), {COLUMNS} "
    "FROM n, (SELECT * FROM trials WHERE run = :run)",
    "postgresql": f"INSERT INTO trials (key, run, {COLUMNS}) SELECT encode(sha256((i || ' ' || id)::bytea), 'hex'), "
    f"'copy-' || (i % {RUNS}), {COLUMNS} FROM generate_series(1, :copies) AS i, "
    "(SELECT * FROM trials WHERE run = :run) AS origin",
}
"""Multiply the trials of a run, on either kind of database."""
OTHERS = "INSERT INTO runs SELECT 'copy-' || {i}, started - 1000 - {i}, plan, status, seconds FROM runs WHERE id = :run"


class Figure(NamedTuple):
    """What took how long."""

    name: str
    seconds: float
    worked: float
    """Seconds of this process on the processor."""
    target: float | None = None

    def __str__(self) -> str:
        """Return a row of a table."""
        goal = (
            "-"
            if self.target is None
            else f"{self.target:g}{'' if self.seconds <= self.target else ' MISSED'}"
        )
        return f"| {self.name} | {self.seconds:.4g} | {self.worked:.4g} | {goal} |"


def timed(name: str, work: Callable[[], Any], target: float | None = None, times: int = 1) -> Figure:
    """Return how long some work takes each time."""
    began, worked = time.perf_counter(), time.process_time()
    for _ in range(times):
        work()
    return Figure(name, (time.perf_counter() - began) / times, (time.process_time() - worked) / times, target)


def fill(folder: Path, size: int, settings: dict[str, str] | None) -> tuple[Result, Where]:
    """Run a campaign in a folder, and multiply its trials; return its result and the store."""
    write_project(folder, SCENARIOS, MUTANTS, min(CAMPAIGN, size))
    if settings:
        with (folder / "agentmut.yaml").open("a") as project:
            project.write(f"store: {{url: '{settings['url']}', project: scale}}\n")
    result = measure(folder)
    run = result.run_id
    where = store_place(load_project(folder))
    with closing(Store(where)) as store:
        executed = store.counts(run)[0]
        store._connections.write(lambda connection: _multiply(connection, run, max(1, size // executed - 1)))
    return result, where


def _multiply(connection: Connection, run: str, copies: int) -> None:
    for i in range(RUNS):
        connection.execute(text(OTHERS.format(i=i)), {"run": run})
    connection.execute(text(COPIES[connection.dialect.name]), {"run": run, "copies": copies})


def figures(
    folder: Path, result: Result, where: Where, size: int, *, targets: bool = False
) -> Iterator[Figure]:
    """Yield the figures of a filled store; with `targets`, those of questions to the store and those with a target."""
    run, large = result.run_id, f"a run of {size // RUNS:,}"
    mutant = next(row.id for row in result.mutants if row.status is Status.KILLED)
    with closing(Store(where)) as store:
        known = _keys(store)
        yield looked_up("find a trial", lambda key: store.find(key, run), known)
        yield looked_up("find that a trial is not there", store.find, [key[::-1] for key in known])
        if isinstance(where, StoreUrl):
            yield timed("connect to the server, and ask for nothing", lambda: _connected(where))
            yield _on_the_server(store, known[:50])
            yield _on_both(store, run, known)
        yield timed(f"trials of one mutant of {large}", lambda: store.trials_of("copy-1", mutant))
        yield timed(f"costs of {large}", lambda: store.spent("copy-1"))
        yield timed("how long services took", store.waits)
    yield timed("open a project and its store", lambda: _open(folder), 1.0)
    yield timed("list runs, as `agentmut serve` does", lambda: listed_runs(where))
    for verb in ("report", "report --format html", "report --json"):
        yield timed(f"`agentmut {verb}`", partial(_said, folder, verb), 30.0)
    if targets:
        return
    for verb in (f"show {mutant}", "trials --trial 7", "gate", "rescore", "plan", "coverage"):
        yield timed(f"`agentmut {verb.replace(mutant, 'ID')}`", partial(_said, folder, verb))


def looked_up(name: str, find: Callable[[str], Any], keys: list[str]) -> Figure:
    """Return the median by the clock, since a busy machine delays some looks, and the mean of work."""
    seconds, worked = [], time.process_time()
    for key in keys:
        began = time.perf_counter()
        find(key)
        seconds.append(time.perf_counter() - began)
    return Figure(f"{name} (median)", median(seconds), (time.process_time() - worked) / len(keys), 0.001)


def _keys(store: Store) -> list[str]:
    def drawn(connection: Connection) -> list[str]:
        last = connection.execute(text("SELECT max(id) FROM trials")).scalar_one()
        numbers = random.Random(1).sample(range(1, last + 1), min(LOOKS * 2, last))
        found = connection.execute(select(trials.c.key).where(trials.c.id.in_(numbers)))
        keys = [str(row[0]) for row in found]
        random.Random(2).shuffle(keys)
        return (keys * (1 + LOOKS // max(1, len(keys))))[:LOOKS]

    return store._connections.read(drawn)


def _connected(where: StoreUrl) -> None:
    with create_engine(where.for_driver).connect():
        pass


def _on_the_server(store: Store, keys: list[str]) -> Figure:
    """Return how long the server itself takes to plan and to find a trial: a busy machine delays all around it."""
    asked = (
        "EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM trials WHERE key = :key "
        "AND id NOT IN (SELECT trial FROM quarantined)"
    )
    told = [store._connections.read(partial(_first, asked, key)) for key in keys]
    spent = [(plan["Planning Time"] + plan["Execution Time"]) / 1000 for plan in told]
    return Figure("find a trial, on the server alone (median)", median(spent), 0.0, 0.001)


def _on_both(store: Store, run: str, keys: list[str]) -> Figure:
    """Return the processor time of a look, here and in the server's process: other work on the machine adds none."""
    asked = text("SELECT pg_backend_pid()")
    server = psutil.Process(
        store._connections.read(lambda connection: connection.execute(asked).scalar_one())
    )
    before, here = sum(server.cpu_times()[:2]), time.process_time()
    for key in keys:
        store.find(key, run)
    both = sum(server.cpu_times()[:2]) - before + time.process_time() - here
    return Figure(
        "find a trial, processor time here and on the server", both / len(keys), both / len(keys), 0.001
    )


def _first(query: str, key: str, connection: Connection) -> Any:
    return connection.execute(text(query), {"key": key}).scalar_one()[0]


def _open(folder: Path) -> None:
    with opened(folder):
        pass


def _said(folder: Path, verb: str) -> None:
    done = CliRunner().invoke(app, [*verb.split(), "--project", str(folder)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception


@contextmanager
def a_server(wanted: bool) -> Iterator[dict[str, str] | None]:
    """Start a server for the block, where one is wanted."""
    if not wanted:
        yield None
        return
    folder = programs()
    if folder is None:
        sys.exit("set AGENTMUT_TEST_POSTGRES to the folder of the programs of PostgreSQL")
    with PostgresServer(folder) as server:
        yield {"url": server.url()}


def main() -> int:
    """Print the table; the exit code is 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--server", action="store_true", help="a PostgreSQL server instead of a file")
    parser.add_argument("--targets", action="store_true", help="leave out the verbs that have no target")
    asked = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as scratch, a_server(asked.server) as settings:
        folder = Path(scratch)
        filling = time.process_time()
        result, where = fill(folder, asked.trials, settings)
        kind = (
            "on a server"
            if isinstance(where, StoreUrl)
            else f"in a file of {where.stat().st_size / 1e6:.0f} MB"
        )
        print(
            f"{asked.trials} trials {kind}; filled in {time.process_time() - filling:.0f} s of processor time\n"
        )
        print("| what | seconds | of the processor | target |\n| --- | ---: | ---: | ---: |")
        for figure in figures(folder, result, where, asked.trials, targets=asked.targets):
            print(figure, flush=True)
            missed |= figure.target is not None and figure.seconds > figure.target
        print(f"\nmost memory of this process: {memory():.0f} MiB")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
