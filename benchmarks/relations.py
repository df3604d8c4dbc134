"""docs/relations-study.md: how often relations find planted faults in real agents, and flag correct ones.

`make slow` runs it: the agents of tests/quality/faulty_agents, on the offline simulator, each through the whole check
as `agentmut relations` makes it, with another seed each time. New cases are added there, not here.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # the agents are those of the tests

from agentmut.simulator.service.background import Simulator  # noqa: E402
from agentmut.simulator.service.service_settings import Settings  # noqa: E402
from agentmut.stats.intervals.proportion import clopper_pearson  # noqa: E402
from agentmut.store.documents.relation_report import Finding  # noqa: E402
from tests.quality.faulty_agents.cases import STUDY, Agent, Case, check  # noqa: E402
from tests.quality.faulty_agents.registry import CASES  # noqa: E402

ALPHA = 0.05
CHUNK = 5
HEAD = """# Planted faults and correct agents

Made by `{command}` from commit {commit}; do not edit. Every agent is a real one around the OpenAI client that asks the
offline simulator over HTTP (`tests/quality/faulty_agents`). The faulty ones have a fault of their own code. The correct
ones answer at length, in other words and another order each time, with figures in words now and then and asides that
nobody asked for. Each check is the whole one of `agentmut relations`, at {sources} source runs, at most {pairs} pairs,
delta {delta} and alpha {alpha}; the seed is another one in every repetition. The simulator is no real model: read the
figures as a check of the relations, not as rates to expect.

*Found* is FAIL for the faulty agent, *flagged* FAIL for the correct one, *open* INCONCLUSIVE or not applicable.
Intervals are Clopper-Pearson, 95 %. A relation that flags a correct agent with a chance of alpha at most is seen to
flag it in more than {limit} of {correct} repetitions with a chance below one in a hundred. Where two faults are
planted in the same correct agent, that agent is tried once, and the second row names the fault of the first.
"""


class Task(NamedTuple):
    """Some repetitions of one agent of one case."""

    case: int
    faulty: bool
    first: int
    number: int


def findings(task: Task) -> list[Finding]:
    """Return the finding of each repetition, with a seed for the simulator too."""
    case = CASES[task.case]
    agent = case.faulty if task.faulty else case.correct
    return [_finding(case, agent, task.first + number) for number in range(task.number)]


def _finding(case: Case, agent: Agent, seed: int) -> Finding:
    with Simulator(Settings(seed=seed)) as simulator:
        os.environ.update(simulator.environment)
        rows = check(case, agent, seed=seed, size=STUDY).rows
    found = {row.finding for row in rows}
    order = (Finding.FAIL, Finding.INCONCLUSIVE, Finding.PASS, Finding.NOT_APPLICABLE)
    return next(one for one in order if one in found)


def main(arguments: Sequence[str]) -> int:
    """Print the page; 1 where a fault is missed in most repetitions, or a correct agent flagged too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of the names of the cases to take")
    parser.add_argument("--faulty", type=int, default=20, help="repetitions of each faulty agent")
    parser.add_argument("--correct", type=int, default=60, help="repetitions of each correct agent")
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args(arguments)
    chosen = [number for number, case in enumerate(CASES) if any(part in case.name for part in wanted.only)]
    tasks = list(_tasks(chosen, wanted.faulty, wanted.correct))
    with ProcessPoolExecutor(wanted.workers, get_context("spawn")) as pool:
        results = [_told(*done) for done in zip(tasks, pool.map(findings, tasks), strict=True)]
    counts: dict[tuple[int, bool], Counter[Finding]] = {}
    for task, found in zip(tasks, results, strict=True):
        counts.setdefault((task.case, task.faulty), Counter()).update(found)
    limit = _most_flagged(wanted.correct)
    command = " ".join(["python benchmarks/relations.py", *arguments])
    settings = {
        "sources": STUDY.sources,
        "pairs": STUDY.pairs,
        "delta": STUDY.delta,
        "alpha": ALPHA,
        "correct": wanted.correct,
    }
    print(HEAD.format(command=command, commit=_commit(), limit=limit, **settings))
    print("\n".join(_table(chosen, counts)))
    return 0 if _as_promised(counts, limit) else 1


def _told(task: Task, found: list[Finding]) -> list[Finding]:
    """Return the findings, which go to stderr as they come: the page takes a while."""
    print(CASES[task.case].name, "faulty" if task.faulty else "correct", task.first, *found, file=sys.stderr)
    return found


def _tasks(chosen: Sequence[int], faulty: int, correct: int) -> Iterator[Task]:
    """Try the correct agent of several faults once."""
    tried: set[object] = set()
    for number in chosen:
        yield from _chunks(number, True, faulty)
        if (key := _correct_key(CASES[number])) not in tried:
            tried.add(key)
            yield from _chunks(number, False, correct)


def _chunks(number: int, faulty: bool, repetitions: int) -> Iterator[Task]:
    for first in range(0, repetitions, CHUNK):
        yield Task(number, faulty, first, min(CHUNK, repetitions - first))


def _correct_key(case: Case) -> object:
    return case.relation, repr(case.argument), case.correct, repr(case.scenarios)


def _table(chosen: Sequence[int], counts: dict[tuple[int, bool], Counter[Finding]]) -> Iterator[str]:
    yield "| relation | planted fault | found | missed | flagged | passed | open |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    tried: dict[object, str] = {}
    for number in chosen:
        case = CASES[number]
        tried.setdefault(_correct_key(case), case.planted)
        faulty, correct = counts[number, True], counts.get((number, False))
        missed = faulty.total() - faulty[Finding.FAIL]
        cells = [f"`{case.relation}`", case.planted, _rate(faulty, Finding.FAIL), str(missed)]
        if correct is None:
            cells += [f"see “{tried[_correct_key(case)]}”", "", ""]
        else:
            unsure = correct[Finding.INCONCLUSIVE] + correct[Finding.NOT_APPLICABLE]
            cells += [_rate(correct, Finding.FAIL), str(correct[Finding.PASS]), str(unsure)]
        yield f"| {' | '.join(cells)} |"
    right: Counter[Finding] = sum((found for (_, wrong), found in counts.items() if not wrong), Counter())
    wrong: Counter[Finding] = sum((found for (_, wrong), found in counts.items() if wrong), Counter())
    yield f"| all | | {_rate(wrong, Finding.FAIL)} | {wrong.total() - wrong[Finding.FAIL]} | " \
          f"{_rate(right, Finding.FAIL)} | {right[Finding.PASS]} | " \
          f"{right[Finding.INCONCLUSIVE] + right[Finding.NOT_APPLICABLE]} |"  # fmt: skip


def _rate(found: Counter[Finding], what: Finding) -> str:
    interval = clopper_pearson(found[what], found.total())
    return f"{found[what]}/{found.total()} [{interval.low:.2f}, {interval.high:.2f}]"


def _most_flagged(repetitions: int) -> int:
    """Return the number that is exceeded with a chance below 0.01 where each is flagged with a chance of alpha."""
    from scipy.stats import binom

    return int(binom.ppf(0.99, repetitions, ALPHA))


def _as_promised(counts: dict[tuple[int, bool], Counter[Finding]], limit: int) -> bool:
    return all(
        2 * found[Finding.FAIL] > found.total() if faulty else found[Finding.FAIL] <= limit
        for (_, faulty), found in counts.items()
    )


def _commit() -> str:
    """Return the commit that is checked out."""
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
