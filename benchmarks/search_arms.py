"""What a search for scenarios exercises, beside requests for random tools.

`python -m benchmarks.search_arms` copies `examples/support_desk` with two scenarios, whose stored runs are the
start. Both arms have the same number of runs; the coverage is that of all runs that an arm made, with the suite's
own. It asks a simulated model in this process. `--full`: five seeds instead of one, and 500 runs too. `--runs N` and
`--seed N` take one number of runs, or one seed, for a part of it. `--beside` puts the words of a scenario of the suite
behind each random request, so that it has the numbers that a tool needs. Exit code 1 where the search is below the
random arm on any dimension. Paths are counted: their coverage is a share of an estimate that grows with what is seen.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agentmut.campaign import Session, open_session, register
from agentmut.insight.coverage.measure import measure
from agentmut.insight.coverage.nouns import Coverage, Dimension
from agentmut.insight.generate.proposals import Proposal
from agentmut.insight.search.search import Search
from agentmut.insight.search.search_preparation import search_of, start_of, what_is_stored
from agentmut.insight.search.trial_bench import WantedRuns
from agentmut.insight.search.trying import Trying
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


class Arms(NamedTuple):
    """The coverage that both arms reach with so many runs."""

    trials: int
    search: Coverage
    random: Coverage


def main(arguments: Sequence[str]) -> int:
    """Print a row for each number of runs and dimension."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="five seeds, and 500 runs too")
    parser.add_argument("--runs", type=int, action="append", help="only this number of runs; may be repeated")
    parser.add_argument("--seed", type=int, action="append", help="only this seed; may be repeated")
    parser.add_argument("--beside", action="store_true", help="random requests with the words of a scenario")
    asked = parser.parse_args(arguments)
    seeds = asked.seed or (range(1, 6) if asked.full else range(1, 2))
    sizes = asked.runs or (LARGE if asked.full else SMALL)
    print(f"seeds {[*seeds]}; the mean over them\n")
    print("| runs | dimension | search | random tools | |\n| ---: | --- | ---: | ---: | --- |")
    below = 0
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        os.environ |= simulator.environment
        for trials in sizes:
            found = [_both(Path(folder) / f"{trials}-{seed}", trials, seed, asked.beside) for seed in seeds]
            for name, ours, theirs in _rows(found):
                behind = ours < theirs - 1e-9
                below += behind
                print(
                    f"| {trials} | {name} | {ours:.2f} | {theirs:.2f} | {'below' if behind else ''} |",
                    flush=True,
                )
    print(f"\n{below} below the random arm")
    return 1 if below else 0


def _rows(found: Sequence[Arms]) -> Iterator[tuple[str, float, float]]:
    for row in found[0].search.dimensions:
        if row.dimension is Dimension.PATH:
            yield (
                "paths seen",
                _mean([_paths(arms.search) for arms in found]),
                _mean([_paths(arms.random) for arms in found]),
            )
            continue
        ours = [arms.search.of(row.dimension).value for arms in found]
        theirs = [arms.random.of(row.dimension).value for arms in found]
        if None not in ours and None not in theirs:
            yield row.dimension.value, _mean(ours), _mean(theirs)


def _paths(coverage: Coverage) -> float:
    return float(sum(item.dimension is Dimension.PATH for item in coverage.covered))


def _mean(values: Sequence[float | None]) -> float:
    return sum(value or 0.0 for value in values) / len(values)


def _both(folder: Path, trials: int, seed: int, beside: bool) -> Arms:
    coverages = []
    for arm in ("search", "random"):
        copied = folder / arm
        ignored = shutil.ignore_patterns(".agentmut", "__pycache__")
        shutil.copytree(ROOT / "examples" / "support_desk", copied, ignore=ignored)
        for file in (copied / "scenarios").iterdir():
            file.unlink()
        (copied / "scenarios" / "thin.yaml").write_text(THIN)
        check_suite(copied, method="fixed", trials=4)
        project = load_project(copied)
        with open_store(project) as store:
            how = arm if arm == "search" or not beside else "beside"
            coverages.append(_covered(open_session(project), store, trials, seed, how))
    return Arms(trials, *coverages)


def _covered(session: Session, store: Store, trials: int, seed: int, arm: str) -> Coverage:
    stored = what_is_stored(session, store)
    search = search_of(stored, start_of(stored), now=1.8e9, seed=seed, trials=trials)
    register(store, search.bench.plan)
    if arm == "search":
        search.run()
    else:
        _random_tools(search, trials, seed, beside=arm == "beside")
    return _coverage_of_all_runs(search, store)


def _random_tools(search: Search, trials: int, seed: int, *, beside: bool) -> None:
    rng, start = random.Random(seed), search.start
    trying = Trying(start, search.bench, search.killing, set())
    for first in range(0, trials, BATCH):
        wanted = []
        for repeat in range(first, min(first + BATCH, trials)):
            tool, base = rng.choice(start.config.tools), rng.choice(start.scenarios)
            words = f" {base.turns[0]}" if beside else ""
            proposal = Proposal((f"Please {tool.description}{words}",), base, "a random tool")
            wanted.append(WantedRuns(trying.scenario(proposal), None, repeat, repeat + 1))
        search.bench.run(wanted)


def _coverage_of_all_runs(search: Search, store: Store) -> Coverage:
    start = search.start
    before = start.coverage
    traces = {name: list(runs) for name, runs in start.traces.items()}
    for trial in store.trials_of(search.bench.plan.run_id, ""):
        if trial.execution.ending.outcome is None:
            traces.setdefault(trial.scenario, []).append(trial.execution.trace)
    context = replace(start.context, scenarios=(), calibrated=before.states)
    return measure(
        {name: tuple(runs) for name, runs in traces.items()}, start.config, start.settings, context
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
