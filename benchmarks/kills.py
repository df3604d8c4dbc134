"""SIGKILL at random moments of every verb that writes: `python benchmarks/kills.py [NUMBER] [SEED] [AT_ONCE]`.

1,000 kills by default, three at once.

Each kill gets a fresh copy of a project, a verb, an isolation, a store, and a moment between the verb's begin and its
usual end. Afterwards the command is given again, as a user would do, to its end. It has to come to what an undisturbed
command comes to; the store has to be sound, with each trial once and none gone; and files of the user are whole, as
before or as after. PostgreSQL is used where `AGENTMUT_TEST_POSTGRES` names the folder of its programs. Exits with 1
where that does not hold. Ctrl-C or SIGTERM ends it early, with the table of the kills so far.
"""

import gc
import json
import multiprocessing
import os
import random
import runpy
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.cli import main as agentmut  # noqa: E402
from benchmarks.commit import commit  # noqa: E402
from benchmarks.killed_stores import KilledStore, PostgresStore, SqliteStore, Trial  # noqa: E402
from tests.postgres_server import PostgresServer, programs  # noqa: E402

NUMBER = 1_000
AT_ONCE = 3
"""Kills at once: each waits a good deal."""
LONGEST = 300
"""Seconds after which a command counts as one that never ends."""
AGENT = """
def run(config, input):
    hello = "hello, " if "hello" in config.prompt else ""
    return f"{hello}it is on its way{' to Kiel' if 'place' in config.prompt else ''}"
"""
PROMPT = '- Always say hello.\n- Name the place with the words "to Kiel".\n'
"""The second rule quotes its words: `suggest --apply all` adds no assertion that no rule grounds."""
PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: prompt.md}}
suite: {scenarios: "scenarios.yaml"}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, rounds: one, n_max: 20}
execution: {concurrency: 2, isolate: %s}
%s"""
SCENARIOS = '- {name: where, input: "Where is it?", evaluators: [{contains: hello}]}\n'
RUNS = json.dumps(
    [
        {
            "task_id": number,
            "trial": 0,
            "reward": 1.0,
            "info": {},
            "traj": [{"role": "user", "content": f"hi {number}"}, {"role": "assistant", "content": "ho"}],
        }
        for number in range(50)
    ]
)
"""Fifty runs of another tool, in the format of tau-bench."""


def nothing(folder: Path) -> object:
    """Return what a command came to that leaves no document."""
    return None


class Verb(NamedTuple):
    """A command that may be killed, and what has happened before it."""

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    again: tuple[str, ...] = ()
    """What a user gives afterwards, where it is another command."""
    came_to: Callable[[Path], object] = nothing
    """Reads what the command came to; runs of other tools are counted in the store."""
    isolations: tuple[str, ...] = ("task",)


RUN = ("run", "--yes")
BUDGETED = ("run", "--yes", "--trials", "30")
SHARDS = tuple(("run", "--yes", "--shard", f"{n}/2", "--project", f"shard{n}") for n in (1, 2))


def statuses(folder: Path) -> object:
    """Return what became of each mutant in the latest result, and how many trials there are of each."""
    result = json.loads(latest(folder, "result.json").read_text())
    return result["status"], [(row["id"], row["status"], row["trials"]) for row in result["mutants"]]


def latest(folder: Path, name: str) -> Path:
    """Return the file of that name in the folder of the latest run."""
    return max((folder / ".agentmut" / "runs").glob(f"*/{name}"))


def rescored(folder: Path) -> object:
    """Return what rescoring came to."""
    found = json.loads(latest(folder, "rescored.json").read_text())
    return found["trials"], found["after"], found["flipped"]


def reported(folder: Path) -> object:
    """Return the length of the report: it holds times, so two are never the same."""
    return (folder / "report.md").read_text().count("\n")


def baseline(folder: Path) -> object:
    """Return the counts of the saved baseline."""
    found = json.loads((folder / ".agentmut" / "baselines" / "default.json").read_text())
    return [(one["passes"], one["trials"]) for one in found["scenarios"].values()]


def suite(folder: Path) -> object:
    """Return the scenarios of the project file."""
    return yaml.safe_load((folder / "scenarios.yaml").read_text())


BOTH = ("task", "process")
VERBS = (
    Verb("run", RUN, came_to=statuses, isolations=BOTH),
    Verb("resume", ("resume", "--trials", "1000"), (BUDGETED,), RUN, statuses, BOTH),
    Verb("rescore", ("rescore",), (RUN,), came_to=rescored),
    Verb("report", ("report", "--format", "markdown", "--output", "report.md"), (RUN,), came_to=reported),
    Verb("baseline save", ("baseline", "save", "--trials", "40", "--yes"), came_to=baseline, isolations=BOTH),
    Verb("suggest --apply", ("suggest", "--apply", "all"), (RUN, ("suggest",)), came_to=suite),
    Verb("import", ("import", "runs.json")),
    Verb("merge", ("merge", "shard1", "shard2"), SHARDS, came_to=statuses),
)


def started(folder: Path, arguments: tuple[str, ...]) -> int:
    """Begin a command in a process of its own, without importing everything again; return its id."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        for stream, file in ((1, "out.txt"), (2, "err.txt")):
            os.dup2(os.open(folder.parent / file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        agentmut(list(arguments))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 71
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for a command; return its exit code, negative for a signal."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"the command was at work for {LONGEST} s")


def done(folder: Path, arguments: tuple[str, ...]) -> None:
    """Carry a command out; one that finds the lock of a killed one, which is about to end, is given again."""
    for _ in range(100):
        code = ended(started(folder, arguments))
        if code in (0, 1, 3):
            return
        said = (folder.parent / "err.txt").read_text(errors="replace")
        if "another agentmut command is at work" not in said:
            raise AssertionError(f"{arguments} ended with {code}: {said[-1500:]}")
        time.sleep(0.1)
    raise AssertionError(f"{arguments}: the lock of the killed command is held on")


def write_project(folder: Path, isolate: str, store: str) -> None:
    """Write the project."""
    folder.mkdir(parents=True)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "prompt.md").write_text(PROMPT)
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    (folder / "agentmut.yaml").write_text(PROJECT % (isolate, store))
    (folder / "runs.json").write_text(RUNS)


class Case(NamedTuple):
    """What is killed: a verb with an isolation, on a store."""

    verb: Verb
    isolate: str
    store: KilledStore

    @property
    def name(self) -> str:
        """Return the first cells of the case's row."""
        return f"{self.verb.name} | {self.isolate} | {self.store.name}"

    def came_to(self, folder: Path) -> tuple[object, object]:
        """Return what the command came to, and the runs of other tools."""
        return self.verb.came_to(folder), self.store.imported(folder)


class Prepared(NamedTuple):
    """A project before a verb, how long the verb takes, and what it comes to."""

    folder: Path
    seconds: float
    outcome: tuple[object, object]
    trials: frozenset[Trial]
    """What was stored before the verb."""


def prepared(case: Case, folder: Path) -> Prepared:
    """Lay out the project before the verb, and carry the verb out once in a copy."""
    before, undisturbed = folder / "before", folder / "undisturbed"
    write_project(before, case.isolate, case.store.line)
    if case.verb.name == "merge":
        for number in (1, 2):
            write_project(before / f"shard{number}", case.isolate, case.store.line)
    case.store.make(before)
    if case.verb.name == "merge":
        done(before / "shard1", ("run", "--yes", "--baseline-only"))
        shutil.copytree(before / "shard1" / ".agentmut", before / "shard2" / ".agentmut")
    for arguments in case.verb.before:
        done(before, arguments)
    case.store.copy(before, undisturbed)
    begun = time.monotonic()
    done(undisturbed, case.verb.arguments)
    seconds = time.monotonic() - begun
    outcome = case.came_to(undisturbed)
    if case.verb.came_to is suite and outcome[0] == suite(before):
        raise AssertionError(f"{case.verb.name} changed nothing, so its kills would show nothing")
    case.store.remove(undisturbed)
    return Prepared(before, seconds, outcome, case.store.trials(before))


class Kill(NamedTuple):
    """What came of a kill."""

    case: str
    """The first cells of the case's row."""
    at_work: bool
    """Whether the command was still at work."""
    problems: tuple[str, ...]


def killed(case: Case, ready: Prepared, rng: random.Random) -> Kill:
    """Kill the verb at some moment, give it again, and return what is wrong then."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "project"
        case.store.copy(ready.folder, folder)
        before = suite(folder)
        child = started(folder, case.verb.arguments)
        time.sleep(rng.uniform(0, 1.1 * ready.seconds))
        os.kill(child, signal.SIGKILL)  # the command itself; what it has started ends with it
        _, status = os.waitpid(child, 0)
        try:
            problems = tuple(problems_after(case, ready, folder, before))
        finally:
            case.store.remove(folder)
        return Kill(case.name, os.WIFSIGNALED(status), problems)


def problems_after(case: Case, ready: Prepared, folder: Path, before: object) -> Iterator[str]:
    """Give the killed command again, and yield what is wrong then."""
    verb = case.verb
    if suite(folder) not in (before, ready.outcome[0]):
        yield "the suite is neither as before nor as after"
    kept = case.store.trials(folder)
    try:
        if suite(folder) == before:
            done(folder, verb.again or verb.arguments)
    except AssertionError as error:
        yield str(error)
        return
    if (came := case.came_to(folder)) != ready.outcome:
        yield f"it came to {came}, and to {ready.outcome} undisturbed"
    if gone := (kept | ready.trials) - case.store.trials(folder):
        yield f"{len(gone)} trials that were stored are gone"
    yield from case.store.unsound(folder)


def cases_on(stores: list[KilledStore]) -> list[Case]:
    """Return all cases."""
    return [
        Case(_for(store, verb), isolate, store)
        for store in stores
        for verb in VERBS
        for isolate in verb.isolations
    ]


def _for(store: KilledStore, verb: Verb) -> Verb:
    """Return the verb; shards that share a database are put together without their folders."""
    shared = verb.name == "merge" and isinstance(store, PostgresStore)
    return verb._replace(arguments=("merge",)) if shared else verb


def tried(ready: tuple[Case, Prepared], seed: str) -> Kill:
    """Kill a case at a moment that the seed chooses."""
    return killed(*ready, random.Random(seed))


def kills_of(
    number: int, seed: int, at_once: int, stores: list[KilledStore], scratch: Path
) -> Iterator[Kill]:
    """Kill so many commands, each case in turn, and yield what came of each."""
    cases = cases_on(stores)
    with ProcessPoolExecutor(at_once, multiprocessing.get_context("fork")) as pool:
        folders = [scratch / str(place) for place in range(len(cases))]
        ready = cycle(list(zip(cases, pool.map(prepared, cases, folders), strict=True)))
        try:
            yield from pool.map(tried, islice(ready, number), [f"{seed} {turn}" for turn in range(number)])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def main(number: int, seed: int, at_once: int) -> int:
    """Kill so many commands, each verb in turn; print a row for each verb, isolation and store."""
    runpy.run_path(str(ROOT / "tests" / "testdata" / "warm_cli.py"))["warm_up"]()
    gc.freeze()  # or the first collection of each fork copies everything
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    kills, at_work, wrong = Counter[str](), Counter[str](), Counter[str]()
    print(f"SIGKILL at {number} random moments, seed {seed}, commit {commit()}\n", flush=True)
    with ExitStack() as held, suppress(KeyboardInterrupt):  # what was done so far is printed
        scratch = Path(held.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        stores: list[KilledStore] = [SqliteStore()]
        if found := programs():
            stores.append(PostgresStore(held.enter_context(PostgresServer(found))))
        for came in kills_of(number, seed, at_once, stores, scratch):
            kills[came.case] += 1
            at_work[came.case] += came.at_work
            wrong[came.case] += bool(came.problems)
            for problem in came.problems:
                print(f"{came.case}: {problem}", file=sys.stderr, flush=True)
            if not kills.total() % 100:
                print(f"{kills.total()} kills, {wrong.total()} wrong", file=sys.stderr, flush=True)
    print(
        "| verb | isolation | store | kills | of them at work | wrong |\n| --- | --- | --- | ---: | ---: | ---: |"
    )
    for name, times in kills.items():
        print(f"| {name} | {times} | {at_work[name]} | {wrong[name]} |")
    print(f"| all | | | {kills.total()} | {at_work.total()} | {wrong.total()} |")
    return 1 if wrong.total() else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [NUMBER, 0, AT_ONCE][len(given) :])))
