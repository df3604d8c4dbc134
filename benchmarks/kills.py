"""SIGKILL at random moments of every verb that writes: `python benchmarks/kills.py [NUMBER] [SEED]`, 1,000 by default.

Each kill gets a fresh copy of a project, a verb, an isolation, and a moment between the verb's begin and its usual end.
Afterwards the command is given again, as a user would do, to its end. It has to come to what an undisturbed command
comes to; the store has to be sound, with each trial once; and files of the user are whole, as before or as after.
Exits with 1 where that does not hold.
"""

import json
import os
import random
import runpy
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.cli import main as agentmut  # noqa: E402
from benchmarks.commit import commit  # noqa: E402

NUMBER = 1_000
LONGEST = 300
"""Seconds after which a command counts as one that never ends."""
AGENT = """
def run(config, input):
    hello = "hello, " if "hello" in config.prompt else ""
    return f"{hello}it is on its way{' to Kiel' if 'place' in config.prompt else ''}"
"""
PROJECT = """
version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: prompt.md}}
suite: {scenarios: "scenarios.yaml"}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 20, rounds: one, n_max: 20}
execution: {concurrency: 2, isolate: %s}
"""
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


class Verb(NamedTuple):
    """A command that may be killed, and what has happened before it."""

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    again: tuple[str, ...] = ()
    """What a user gives afterwards, where it is another command."""
    came_to: Callable[[Path], object] = lambda folder: None
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


def imported(folder: Path) -> object:
    """Return how many runs of another tool are in the store."""
    with closing(sqlite3.connect(folder / ".agentmut" / "store.db")) as store:
        return store.execute("select count(*), count(distinct digest) from imported").fetchone()


BOTH = ("task", "process")
VERBS = (
    Verb("run", RUN, came_to=statuses, isolations=BOTH),
    Verb("resume", ("resume",), (BUDGETED,), RUN, statuses, BOTH),
    Verb("rescore", ("rescore",), (RUN,), came_to=rescored),
    Verb("report", ("report", "--format", "markdown", "--output", "report.md"), (RUN,), came_to=reported),
    Verb("baseline save", ("baseline", "save", "--trials", "40", "--yes"), came_to=baseline, isolations=BOTH),
    Verb("suggest --apply", ("suggest", "--apply", "all"), (RUN, ("suggest",)), came_to=suite),
    Verb("import", ("import", "runs.json"), came_to=imported),
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


def write_project(folder: Path, isolate: str) -> None:
    """Write the project."""
    folder.mkdir(parents=True)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "prompt.md").write_text("- Always say hello.\n- Name the place.\n")
    (folder / "scenarios.yaml").write_text(SCENARIOS)
    (folder / "agentmut.yaml").write_text(PROJECT % isolate)
    (folder / "runs.json").write_text(RUNS)


class Prepared(NamedTuple):
    """A project before a verb, how long the verb takes, and what it comes to."""

    folder: Path
    seconds: float
    outcome: object


def prepared(verb: Verb, isolate: str, folder: Path) -> Prepared:
    """Lay out the project before the verb, and carry the verb out once in a copy."""
    write_project(folder / "before", isolate)
    if verb.name == "merge":
        for number in (1, 2):
            write_project(folder / "before" / f"shard{number}", isolate)
        done(folder / "before" / "shard1", ("run", "--yes", "--baseline-only"))
        shutil.copytree(
            folder / "before" / "shard1" / ".agentmut", folder / "before" / "shard2" / ".agentmut"
        )
    for arguments in verb.before:
        done(folder / "before", arguments)
    shutil.copytree(folder / "before", folder / "undisturbed")
    begun = time.monotonic()
    done(folder / "undisturbed", verb.arguments)
    return Prepared(folder / "before", time.monotonic() - begun, verb.came_to(folder / "undisturbed"))


def killed(verb: Verb, ready: Prepared, rng: random.Random) -> Iterator[str]:
    """Kill the verb at some moment, give it again, and yield what is wrong then."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "project"
        shutil.copytree(ready.folder, folder)
        before = suite(folder)
        child = started(folder, verb.arguments)
        time.sleep(rng.uniform(0, 1.1 * ready.seconds))
        os.kill(child, signal.SIGKILL)  # the command itself; what it has started ends with it
        os.waitpid(child, 0)
        if verb.name == "suggest --apply" and suite(folder) not in (before, ready.outcome):
            yield "the suite is neither as before nor as after"
        try:
            applied = suite(folder) != before
            if not applied:
                done(folder, verb.again or verb.arguments)
        except AssertionError as error:
            yield str(error)
            return
        if (came := verb.came_to(folder)) != ready.outcome:
            yield f"it came to {came}, and to {ready.outcome} undisturbed"
        yield from unsound(folder / ".agentmut" / "store.db")


def unsound(store: Path) -> Iterator[str]:
    """Yield what is wrong with a store: pages, and trials that a run has twice."""
    if not store.exists():
        return
    with closing(sqlite3.connect(store)) as connection:
        if (said := connection.execute("pragma integrity_check").fetchone()[0]) != "ok":
            yield f"integrity: {said}"
        once = "select 1 from trials where key != '' group by key, run having count(*) > 1"
        if twice := connection.execute(f"select count(*) from ({once})").fetchone()[0]:
            yield f"{twice} trials are stored twice"


def main(number: int, seed: int) -> int:
    """Kill so many commands, each verb in turn; print a row for each verb and isolation."""
    runpy.run_path(str(ROOT / "tests" / "testdata" / "warm_cli.py"))["warm_up"]()
    rng, kills, wrong = random.Random(seed), Counter[str](), Counter[str]()
    print(f"SIGKILL at {number} random moments, seed {seed}, commit {commit()}\n", flush=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        cases = [(verb, isolate) for verb in VERBS for isolate in verb.isolations]
        ready = {}
        for place, (verb, isolate) in enumerate(cases):
            ready[place] = prepared(verb, isolate, Path(scratch) / str(place))
        for turn in range(number):
            verb, isolate = cases[turn % len(cases)]
            name = f"{verb.name}, {isolate}"
            kills[name] += 1
            for problem in killed(verb, ready[turn % len(cases)], rng):
                wrong[name] += 1
                print(f"{name}: {problem}", file=sys.stderr, flush=True)
    print("| verb, isolation | kills | wrong |\n| --- | ---: | ---: |")
    for name, times in kills.items():
        print(f"| {name} | {times} | {wrong[name]} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [NUMBER, 0][len(given) :])))
