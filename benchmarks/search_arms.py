"""What a search for scenarios exercises, beside requests for random tools or beside AgentDojo's own tasks.

`python -m benchmarks.search_arms` copies `examples/support_desk` with two scenarios, whose stored runs are the
start. Both arms have the same number of runs; the coverage is that of all runs that an arm made, with the suite's
own. It asks a simulated model in this process. `--full`: five seeds instead of one, and 500 runs too. `--runs N` and
`--seed N` take one number of runs, or one seed, for a part of it. `--beside` puts the words of a scenario of the suite
behind each random request, so that it has the numbers that a tool needs.

`--tasks banking` (or `workspace`) takes that agent of `examples/agentdojo` with its first two scenarios instead. The
other arm then runs AgentDojo's user tasks for it, in random order, all of them before any again.

Exit code 1 where the search is below the other arm on any dimension. Paths are counted: their coverage is a share of an
estimate that grows with what is seen.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut.campaign import Session, open_session, register
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.search.proposal_check import Trying
from agentmut.insight.search.search import Search
from agentmut.insight.search.search_preparation import search_of, start_of, what_is_stored
from agentmut.insight.search.search_start import Start
from agentmut.insight.search.trial_bench import Bench, SearchPlan, WantedRuns
from agentmut.nouns import Execution, Scenario
from agentmut.project import load_project
from agentmut.simulator import Simulator
from agentmut.store import Store
from agentmut.usecases import check_suite, open_store

ROOT = Path(__file__).resolve().parent.parent
SMALL, LARGE = (50, 150), (50, 150, 500)
BATCH = 10
THIN = """
- name: status
  input: "Where is order A-1042? My email is jon@example.com."
  evaluators: [{tool_called: lookup_order}]
- name: refund
  input: "I would like a refund for order A-1007. My email is jon@example.com."
  tools: {issue_refund: {returns: {refunded: 89.9, reference: RF-1}}}
  evaluators: [{contains: refund}]
"""


Requests = Callable[[Start, random.Random], Iterator[Proposal]]
"""The requests of the other arm, without an end."""


class Agent(NamedTuple):
    """An agent that both arms know by two scenarios."""

    folder: str
    """In `examples`."""
    file: str
    scenarios: str
    """The name of its file of scenarios."""
    thin: str
    """The two scenarios."""


class NotingBench(Bench):
    """Notes the scenarios that are run: what a user says counts for the coverage of rules."""

    def __init__(self, session: Session, store: Store, plan: SearchPlan) -> None:
        super().__init__(session, store, plan)
        self.scenarios: dict[str, Scenario] = {}

    def run(self, wanted: Sequence[WantedRuns]) -> list[tuple[Execution, ...]]:
        """Run what is wanted."""
        self.scenarios |= {each.scenario.name: each.scenario for each in wanted}
        return super().run(wanted)


class Arms(NamedTuple):
    """The coverage that both arms reach with so many runs."""

    trials: int
    search: Coverage
    other: Coverage


def main(arguments: Sequence[str]) -> int:
    """Print a row for each number of runs and dimension."""
    asked = _parser().parse_args(arguments)
    seeds = asked.seed or (range(1, 6) if asked.full else range(1, 2))
    sizes = asked.runs or (LARGE if asked.full else SMALL)
    agent, requests = _compared(asked.tasks, asked.beside)
    other = "AgentDojo's tasks" if asked.tasks else "random tools"
    print(f"seeds {[*seeds]}; the mean over them\n")
    print(f"| runs | dimension | search | {other} | |\n| ---: | --- | ---: | ---: | --- |")
    below = 0
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        os.environ |= simulator.environment
        for trials in sizes:
            found = [
                _both(Path(folder) / f"{trials}-{seed}", agent, requests, trials, seed) for seed in seeds
            ]
            for name, ours, theirs in _rows(found):
                behind = ours < theirs - 1e-9
                below += behind
                print(
                    f"| {trials} | {name} | {ours:.2f} | {theirs:.2f} | {'below' if behind else ''} |",
                    flush=True,
                )
    print(f"\n{below} below the other arm")
    return 1 if below else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="five seeds, and 500 runs too")
    parser.add_argument("--runs", type=int, action="append", help="only this number of runs; may be repeated")
    parser.add_argument("--seed", type=int, action="append", help="only this seed; may be repeated")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--beside", action="store_true", help="random requests with the words of a scenario")
    other.add_argument("--tasks", choices=("banking", "workspace"), help="AgentDojo's tasks of this suite")
    return parser


def _compared(suite: str | None, beside: bool) -> tuple[Agent, Requests]:
    """Return the agent, and the requests of the other arm."""
    if suite is None:
        return Agent("support_desk", "agentmut.yaml", "thin.yaml", THIN), partial(_tools, beside=beside)
    scenarios = (ROOT / "examples" / "agentdojo" / "scenarios" / f"{suite}.yaml").read_text()
    thin = yaml.safe_dump(yaml.safe_load(scenarios)[:2], sort_keys=False)
    return Agent("agentdojo", f"{suite}.yaml", f"{suite}.yaml", thin), partial(_tasks, suite=suite)


def _tools(start: Start, rng: random.Random, *, beside: bool) -> Iterator[Proposal]:
    """Ask for a random tool by its description; `beside` puts the words of a random scenario behind it."""
    while True:
        tool, base = rng.choice(start.config.tools), rng.choice(start.scenarios)
        words = f" {base.turns[0]}" if beside else ""
        yield Proposal((f"Please {tool.description}{words}",), base, "a random tool")


def _tasks(start: Start, rng: random.Random, *, suite: str) -> Iterator[Proposal]:
    """Ask what the user tasks of AgentDojo ask, all of them in random order before any again."""
    from agentdojo.task_suite.load_suites import get_suite  # takes seconds; the other arm needs none of it

    prompts = [task.PROMPT for task in get_suite("v1.2.2", suite).user_tasks.values()]
    while True:
        rng.shuffle(prompts)
        yield from (Proposal((prompt,), start.scenarios[0], "a task of AgentDojo") for prompt in prompts)


def _rows(found: Sequence[Arms]) -> Iterator[tuple[str, float, float]]:
    for row in found[0].search.dimensions:
        if row.dimension is Dimension.PATH:
            yield (
                "paths seen",
                _mean([_paths(arms.search) for arms in found]),
                _mean([_paths(arms.other) for arms in found]),
            )
            continue
        ours = [arms.search.of(row.dimension).value for arms in found]
        theirs = [arms.other.of(row.dimension).value for arms in found]
        if None not in ours and None not in theirs:
            yield row.dimension.value, _mean(ours), _mean(theirs)


def _paths(coverage: Coverage) -> float:
    return float(sum(item.dimension is Dimension.PATH for item in coverage.covered))


def _mean(values: Sequence[float | None]) -> float:
    return sum(value or 0.0 for value in values) / len(values)


def _both(folder: Path, agent: Agent, requests: Requests, trials: int, seed: int) -> Arms:
    coverages = []
    for arm in ("search", "other"):
        copied = folder / arm
        ignored = shutil.ignore_patterns(".agentmut", "__pycache__")
        shutil.copytree(ROOT / "examples" / agent.folder, copied, ignore=ignored)
        for file in (copied / "scenarios").iterdir():
            file.unlink()
        (copied / "scenarios" / agent.scenarios).write_text(agent.thin)
        check_suite(copied / agent.file, method="fixed", trials=4)
        project = load_project(copied / agent.file)
        with open_store(project) as store:
            asked = None if arm == "search" else requests
            coverages.append(_covered(open_session(project), store, trials, seed, asked))
    return Arms(trials, *coverages)


def _covered(session: Session, store: Store, trials: int, seed: int, requests: Requests | None) -> Coverage:
    stored = what_is_stored(session, store)
    search = search_of(stored, start_of(stored), now=1.8e9, seed=seed, trials=trials)
    bench = NotingBench(session, store, search.bench.plan)
    search = replace(search, bench=bench)
    register(store, bench.plan)
    if requests is None:
        search.run()
    else:
        _ask(search, requests(search.start, random.Random(seed)), trials)
    return _coverage_of_all_runs(search, store, bench.scenarios)


def _ask(search: Search, requests: Iterator[Proposal], trials: int) -> None:
    """Run the requests once each, so many of them."""
    trying = Trying(search.start, search.bench, search.killing, set())
    for first in range(0, trials, BATCH):
        repeats = range(first, min(first + BATCH, trials))
        asked = zip(repeats, requests, strict=False)
        search.bench.run([WantedRuns(trying.scenario(one), None, at, at + 1) for at, one in asked])


def _coverage_of_all_runs(search: Search, store: Store, scenarios: Mapping[str, Scenario]) -> Coverage:
    start = search.start
    before = start.coverage
    traces = {name: list(runs) for name, runs in start.traces.items()}
    for trial in store.trials_of(search.bench.plan.run_id, ""):
        if trial.execution.ending.outcome is None:
            traces.setdefault(trial.scenario, []).append(trial.execution.trace)
    suite = (*start.scenarios, *scenarios.values())
    context = replace(start.context, scenarios=suite, calibrated=before.states)
    return measure(
        {name: tuple(runs) for name, runs in traces.items()}, start.config, start.settings, context
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
