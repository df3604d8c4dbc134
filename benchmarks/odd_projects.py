"""How 3,000 odd projects end: `python benchmarks/odd_projects.py [NUMBER]` prints how often each exit code was met.

Each project is run by `agentmut run --json`, or by `relations --json`, in a process that is forked from one with
everything imported, and beside decision tables that are there already: both are most of the time of such a short
command else. Ends with 1 where a command ended with another code than a documented one, or without one JSON document.
Hypothesis makes the projects.
"""

import gc
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
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from hypothesis import HealthCheck, given, settings

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.cli import main as agentmut  # noqa: E402
from benchmarks.commit import commit  # noqa: E402
from tests.cli.odd_projects import LIMIT, ODD_PROJECTS, Ended, OddProject, check  # noqa: E402

NUMBER = 3_000
AT_ONCE = 8
"""Commands at once: each waits a good deal."""


def forked(folder: Path, verb: str) -> Ended:
    """Run the verb with `--json` in a fork of this process."""
    said = [folder / "stdout.txt", folder / "stderr.txt"]
    child = os.fork()
    if not child:
        _be_command(folder, verb, said)
    until = time.monotonic() + LIMIT
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"the command was at work for {LIMIT} s: {said[1].read_bytes()[-2000:]!r}")
        time.sleep(0.002)
    return Ended(os.waitstatus_to_exitcode(status), *(path.read_bytes() for path in said))


def _be_command(folder: Path, verb: str, said: list[Path]) -> None:
    code: object = 70
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in enumerate(said, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
        sys.argv = ["agentmut", verb, "--yes", "--json"]
        random.seed()
        agentmut()
        code = 0
    except SystemExit as left:
        code = left.code
    finally:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 71)


def tried(project: OddProject, tables: Path) -> tuple[int, str]:
    """Return the exit code of a project's run, or -1 and what was wrong with its end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shutil.copytree(tables, Path(folder, ".agentmut", "tables"))
        try:
            return check(project, Path(folder), forked), ""
        except AssertionError as error:
            return -1, f"{project}: {error}"


def made(number: int) -> list[OddProject]:
    """Return so many different projects, the same ones each time."""
    found: dict[OddProject, None] = {}

    @given(ODD_PROJECTS)
    @settings(
        max_examples=2 * number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def take(project: OddProject) -> None:
        found[project] = None

    take()
    return list(found)[:number]


def main(number: int) -> int:
    """Run so many projects; print the exit codes."""
    runpy.run_path(str(ROOT / "tests" / "testdata" / "warm_cli.py"))["warm_up"]()
    gc.freeze()  # or the first collection of each fork copies everything
    met: Counter[int] = Counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        check(OddProject("def", ("pass",), "'hello'", only_mutants=True), Path(scratch), forked)
        one = partial(tried, tables=Path(scratch, ".agentmut", "tables"))
        with ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("fork")) as pool:
            for code, problem in pool.map(one, made(number)):
                met[code] += 1
                if problem:
                    print(problem, flush=True)
    used = os.times()
    spent = used.user + used.system + used.children_user + used.children_system
    codes = ", ".join(f"exit code {code}: {times}" for code, times in sorted(met.items()) if code >= 0)
    print(
        f"commit {commit()}: {met.total()} odd projects in {spent:.0f} s of processor time; {codes}; {met[-1]} wrong"
    )
    return 1 if met[-1] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER))
