"""Campaigns that are long, and what they take at their end: `python benchmarks/soak.py [SHARE]`.

Three shapes: 100,000 trials of ten scenarios, 100,000 of 1,000 scenarios, and 200 scenarios by 300 mutants. SHARE (1 by
default) makes all of them smaller. Memory, open handles, bytes of the store a trial and processor time a trial in the
last tenth are compared with those of the second tenth; where mutants are tried, of the trials after the baseline.

Each campaign runs three times, each time in a new process. Other jobs of a machine change the time of a trial from one
second to the next, so that one run alone can show a growth that the next does not. The table has the run whose growth
is between those of the other two, and all three growths. Exits with 1 where that run has grown by more than a tenth.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut._base import __version__  # noqa: E402
from agentmut.campaign import Selection, make_mutants, make_plan, open_session, register  # noqa: E402
from agentmut.campaign.decision.state import CampaignState  # noqa: E402
from agentmut.project import load_project  # noqa: E402
from agentmut.usecases import carry_out_campaign, open_store  # noqa: E402
from benchmarks.commit import commit  # noqa: E402

GROWTH = 0.10
"""How much more than in the second tenth of a run the last tenth may take."""
RUNS = 3
AGENT = "async def run(config, input):\n    return 'yes, at once' if config.prompt else 'no'\n"
PROJECT = """
version: 1
agent: {{adapter: python, run: "{module}:run", config: {{prompt: prompt.md}}}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{baseline: {baseline}, rounds: one, n_max: {n_max}}}
budget: {{trials: {budget}}}
execution: {{concurrency: 16}}
"""


class Shape(NamedTuple):
    """A campaign: how many scenarios, mutants and trials it has at most."""

    name: str
    scenarios: int
    mutants: int
    baseline: int
    trials: int
    """Where it is no more than the baseline takes, the baseline alone is looked at; else the trials after it."""

    @property
    def first(self) -> int:
        """Return the trials before those that are looked at: trials of mutants take more decisions than others."""
        before = self.baseline * self.scenarios
        return before if self.trials > before else 0


class Figure(NamedTuple):
    """What is looked at, in the second tenth of a run and in the last."""

    name: str
    before: float
    after: float

    @property
    def growth(self) -> float:
        """Return how much more the last tenth takes than the second, as a share."""
        return self.after / self.before - 1


class Sample(NamedTuple):
    """What this process and its store had taken once so many trials were done."""

    trials: int
    seconds: float
    """Processor time."""
    memory: int
    handles: int
    stored: int
    pace: float
    """Processor time that a fixed piece of work takes now: on a busy machine all things take longer at times."""


def shapes(share: float) -> tuple[Shape, ...]:
    """Return the campaigns, as large as the share says."""
    few, many, some, grid = (max(2, round(n * share)) for n in (10_000, 1_000, 200, 300))
    return (
        Shape("many trials", 10, 1, few, 10 * few),
        Shape("many scenarios", many, 1, 100, 100 * many),
        Shape("scenarios by mutants", some, grid, 20, 20 * some + 200 * grid),
    )


def soaked(shape: Shape, folder: Path) -> list[Sample]:
    """Carry a campaign out; return what it had taken, from batch to batch."""
    module = f"soak_{abs(hash(folder)):x}"
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "prompt.md").write_text(
        "".join(f"- Never talk about subject {i}.\n" for i in range(shape.mutants))
    )
    (folder / "scenarios").mkdir()
    cases = (
        f"- {{name: s{i}, input: hello, evaluators: [contains: 'yes']}}\n" for i in range(shape.scenarios)
    )
    (folder / "scenarios" / "all.yaml").write_text("".join(cases))
    text = PROJECT.format(module=module, baseline=shape.baseline, n_max=100, budget=shape.trials)
    (folder / "agentmut.yaml").write_text(text)
    project, samples = load_project(folder), list[Sample]()

    def progress(state: CampaignState) -> None:
        if not samples or state.spend.trials >= samples[-1].trials + shape.trials // 200:
            samples.append(_sample(state.spend.trials, folder))

    with open_store(project) as store:
        session = open_session(project)
        plan = make_plan(session, make_mutants(session, Selection()), 1, time.time())
        register(store, plan)
        carry_out_campaign(session, plan, store, progress=progress)
    return samples


def _sample(trials: int, folder: Path) -> Sample:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = (folder / ".agentmut").glob("store.db*")
    return Sample(
        trials,
        time.process_time(),
        pages * os.sysconf("SC_PAGE_SIZE"),
        sum(1 for _ in Path("/proc/self/fd").iterdir()),
        sum(file.stat().st_size for file in files),
        _pace(),
    )


def _pace() -> float:
    begun = time.process_time()
    for number in range(2000):
        json.loads(json.dumps({"number": number, "texts": ["a", "b"]}))
    return time.process_time() - begun


def figures(samples: list[Sample], first: int) -> Iterator[Figure]:
    """Yield what a run has taken; `first` trials of it are not looked at."""
    length = samples[-1].trials - first
    shares = ((0.1, 0.2), (0.9, 1))
    parts = [[s for s in samples if low <= (s.trials - first) / length <= high] for low, high in shares]
    early, late = parts
    yield Figure("memory, MB", median(s.memory / 1e6 for s in early), median(s.memory / 1e6 for s in late))
    yield Figure("open handles", median(s.handles for s in early), median(s.handles for s in late))
    grown = [part[-1].stored / part[-1].trials for part in parts]
    yield Figure("bytes of the store a trial", grown[0], grown[1])
    usual = median(sample.pace for sample in samples)
    times = [_time_of_a_trial(part, usual) for part in parts]
    yield Figure("processor time a trial, ms", times[0], times[1])


def _time_of_a_trial(part: list[Sample], usual: float) -> float:
    """Return the median over pieces of a part, in milliseconds at the usual pace of the machine."""
    pieces = ((a, b) for a, b in pairwise(part) if b.trials > a.trials)
    times = [
        (b.seconds - a.seconds - a.pace) / (b.trials - a.trials) * 2 / (a.pace + b.pace) for a, b in pieces
    ]
    return 1000 * usual * median(times)


def run_once(shape: Shape) -> tuple[int, list[Figure]]:
    """Carry a campaign out in a folder of its own; return its trials and what it has taken."""
    with tempfile.TemporaryDirectory() as folder:
        samples = soaked(shape, Path(folder))
    return samples[-1].trials, list(figures(samples, shape.first))


def runs_of(shape: Shape) -> Iterator[tuple[int, list[Figure]]]:
    """Yield each run of a campaign. A process that has run one before keeps its memory, so each has a new process."""
    context = multiprocessing.get_context("spawn")
    for _ in range(RUNS):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            yield pool.submit(run_once, shape).result()


def main(share: float) -> int:
    """Soak every shape; print a row for each figure."""
    print(f"agentmut {__version__}, commit {commit()}, share {share:g}\n")
    print("| campaign | trials | what | second tenth | last tenth | growth | growth of each run |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    grown = False
    for shape in shapes(share):
        runs = list(runs_of(shape))
        for repeats in zip(*(figures for _, figures in runs), strict=True):
            usual = sorted(repeats, key=lambda figure: figure.growth)[RUNS // 2]
            grown |= usual.growth > GROWTH
            print(_row(shape, runs[0][0], usual, repeats), flush=True)
    return 1 if grown else 0


def _row(shape: Shape, trials: int, usual: Figure, repeats: tuple[Figure, ...]) -> str:
    each = ", ".join(f"{figure.growth:+.0%}" for figure in repeats)
    cells = (
        shape.name,
        f"{trials:,}",
        usual.name,
        f"{usual.before:,.4g}",
        f"{usual.after:,.4g}",
        f"{usual.growth:+.0%}",
        each,
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
