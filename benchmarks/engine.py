"""What the campaign engine costs and how often it errs, each figure beside its target.

`python benchmarks/engine.py [--quick]` prints one line per figure and exits with 1 when a target is missed.
The full study takes some minutes, `--quick` less than one; both are seeded, so the error rates repeat.
"""

import argparse
import asyncio
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.campaign import register  # noqa: E402
from agentmut.campaign.decision.state import CampaignState  # noqa: E402
from agentmut.campaign.preparation.plans import make_plan  # noqa: E402
from agentmut.campaign.preparation.session import Session, open_session  # noqa: E402
from agentmut.campaign.preparation.tables import Tables  # noqa: E402
from agentmut.campaign.running.loop import Loop  # noqa: E402
from agentmut.campaign.running.ports import Ports  # noqa: E402
from agentmut.campaign.running.work import Stop  # noqa: E402
from agentmut.campaign.selection.choosing import make_mutants  # noqa: E402
from agentmut.campaign.selection.selection import Selection  # noqa: E402
from agentmut.nouns.execution import Ending, Execution  # noqa: E402
from agentmut.nouns.footprints import Footprint  # noqa: E402
from agentmut.nouns.mutant import Status  # noqa: E402
from agentmut.nouns.result import Result  # noqa: E402
from agentmut.nouns.trace import AgentTrace  # noqa: E402
from agentmut.project import load_project  # noqa: E402
from agentmut.store.store import Store  # noqa: E402
from agentmut.trial.executor import TrialRequest  # noqa: E402
from agentmut.usecases import carry_out_campaign, open_store  # noqa: E402
from benchmarks.figure import Figure, printed  # noqa: E402
from benchmarks.start_up import start_up  # noqa: E402

SCENARIOS = 10
RATE = 0.9
DROP = 0.4

AGENT = """
import asyncio

flying = most = 0


async def run(config, input):
    global flying, most
    flying += 1
    most = max(most, flying)
    if LATENCY:
        await asyncio.sleep(LATENCY)
    flying -= 1
    return "yes" if config.prompt else "no"
"""
PROJECT = """
version: 1
agent: {{adapter: python, run: "{module}:run", config: {{prompt: prompt.md}}}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{rounds: one, baseline: {baseline}}}
budget: {{trials: {budget}}}
execution: {{concurrency: {concurrency}}}
"""


def write_project(
    folder: Path, rules: int, baseline: int, concurrency: int, latency: float, *, only_baseline: bool = True
) -> None:
    """Write a project of ten scenarios; `rules` is the number of mutants."""
    module = "bench_" + hashlib.sha256(str(folder).encode()).hexdigest()[:10]
    (folder / f"{module}.py").write_text(f"LATENCY = {latency}\n{AGENT}")
    (folder / "prompt.md").write_text("".join(f"- Never talk about subject {i}.\n" for i in range(rules)))
    (folder / "scenarios").mkdir()
    cases = (f"- name: s{i}\n  input: hello\n  evaluators: [contains: 'yes']\n" for i in range(SCENARIOS))
    (folder / "scenarios" / "all.yaml").write_text("".join(cases))
    budget = baseline * SCENARIOS if only_baseline else 1_000_000
    text = PROJECT.format(module=module, baseline=baseline, concurrency=concurrency, budget=budget)
    (folder / "agentmut.yaml").write_text(text)


class Timed(NamedTuple):
    """A run of which only the baseline is looked at: how far it was, and when."""

    result: Result
    points: list[tuple[int, float, float]]
    """Trials finished, time on the clock, and processor time of this process."""

    def milliseconds(self, first: int, last: int, *, processor: bool = False) -> list[float]:
        """Per trial, for the trials from `first` to `last`: those of one batch share its time evenly."""
        costs: list[float] = []
        for before, after in pairwise(self.points):
            if first <= before[0] and after[0] <= last:
                trials = after[0] - before[0]
                costs += [1000 * (after[1 + processor] - before[1 + processor]) / trials] * trials
        return costs


def timed_run(folder: Path, seed: int) -> Timed:
    """Return one campaign through the real loop, store and executor."""
    project = load_project(folder)
    points: list[tuple[int, float, float]] = []

    def progress(state: CampaignState) -> None:
        if not points or state.spend.trials > points[-1][0]:
            points.append((state.spend.trials, time.perf_counter(), time.process_time()))

    with open_store(project) as store:
        session = open_session(project)
        plan = make_plan(session, make_mutants(session, Selection()), seed, time.time())
        register(store, plan)
        return Timed(carry_out_campaign(session, plan, store, progress=progress), points)


def fill(folder: Path, trials: int) -> None:
    """Copy stored trials under keys of their own until there are `trials` more."""
    import sqlite3

    columns = "run, mutant, scenario, repeat, ending, reason, trace, footprint, attempts, abandoned"
    columns += ", tokens, usd, finished"
    with sqlite3.connect(folder / ".agentmut" / "store.db") as connection:
        count = connection.execute("select count(*) from trials").fetchone()[0]
        for _ in range(-(-trials // count)):
            connection.execute(
                f"insert into trials (key, {columns}) select hex(randomblob(32)), {columns} "
                f"from trials order by id limit {count}"
            )


def quartile(costs: list[float]) -> float:
    """Return the lower quartile: what else the machine does only ever adds to a cost."""
    return statistics.quantiles(costs, n=4)[0]


def overhead(folder: Path, trials: int, stored: int) -> Iterator[Figure]:
    """Framework overhead per trial on a no-op agent, durable store included."""
    write_project(folder, 1, trials // SCENARIOS, 16, 0.0)
    run = timed_run(folder, 1)
    costs = run.milliseconds(0, trials, processor=True)
    median, by_clock = statistics.median(costs), statistics.median(run.milliseconds(0, trials))
    yield Figure(
        f"overhead per trial, processor time, median of {trials:,}",
        f"{median:.3f} ms (90 %: {statistics.quantiles(costs, n=10)[-1]:.3f}; by the clock {by_clock:.3f})",
        "<= 0.5 ms",
        median <= 0.5,
    )
    ends = ((0, 1000), (trials - 1000, trials))
    first, last = (quartile(run.milliseconds(*end, processor=True)) for end in ends)
    yield Figure(
        "first and last thousand of that run, processor time",
        f"{first:.3f} ms, {last:.3f} ms (lower quartiles)",
        "last <= 1.25 x first",
        last <= 1.25 * first,
    )
    fill(folder, stored)
    again = timed_run(folder, 2)
    empty_cpu, full_cpu = (quartile(r.milliseconds(0, trials, processor=True)) for r in (run, again))
    yield Figure(
        f"the same with {stored:,} trials stored before",
        f"{full_cpu:.3f} ms, empty {empty_cpu:.3f} (lower quartiles)",
        "<= 0.5 ms, <= 1.25 x empty",
        full_cpu <= 0.5 and full_cpu <= 1.25 * empty_cpu,
    )


def throughput(folder: Path, rounds: int, runs: int) -> Iterator[Figure]:
    """Agents that wait 50 ms, sixteen at a time; and bare sleeps, which show what else the machine does."""
    write_project(folder, 1, rounds, 16, 0.05)
    trials = rounds * SCENARIOS
    shares = [_share_of_ideal(timed_run(folder, seed), trials) for seed in range(1, runs + 1)]
    bare = asyncio.run(_bare_sleeps(20))
    yield Figure(
        f"throughput, latency 50 ms, concurrency 16, best of {runs} x {trials}",
        f"{max(shares):.1%} of 320 a second (median {statistics.median(shares):.1%}, bare sleeps {bare:.1%})",
        ">= 90 %",
        max(shares) >= 0.9,
    )


def _share_of_ideal(run: Timed, trials: int) -> float:
    points = [point for point in run.points if point[0] < trials]  # with the last, decisions are prepared
    seconds = points[-1][1] - points[0][1]
    return (points[-1][0] - points[0][0]) / seconds / (16 / 0.05)


async def _bare_sleeps(rounds: int) -> float:
    async def sleeper() -> None:
        for _ in range(rounds):
            await asyncio.sleep(0.05)

    begun = time.perf_counter()
    await asyncio.gather(*(sleeper() for _ in range(16)))
    return rounds * 0.05 / (time.perf_counter() - begun)


def in_flight(folder: Path) -> Iterator[Figure]:
    """Yield a thousand agents that wait a second."""
    write_project(folder, 1, 200, 1000, 1.0)
    begun = time.perf_counter()
    run = timed_run(folder, 1)
    baseline = next(at for trials, at, _ in run.points if trials >= 2000) - begun
    module = next(name for name in sys.modules if name.startswith("bench_") and _folder_of(name) == folder)
    most = sys.modules[module].most
    yield Figure(
        "1,000 in flight at 1 s latency",
        f"{most} at once, 2,000 trials in {baseline:.1f} s",
        "1,000 at once, all pass",
        most == 1000 and all(row.passes == row.trials == 200 for row in run.result.baseline),
    )


def _folder_of(module: str) -> Path:
    return Path(sys.modules[module].__file__ or "").parent


class CoinExecutor:
    """Answers at once; passes with a rate that depends on mutant and scenario, by a hash of the trial's id."""

    def __init__(self, rate: Callable[[str, str], float]) -> None:
        self._rate = rate
        self._footprint = Footprint(reads=("prompt",))

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Nothing to set up."""
        yield

    async def execute(self, request: TrialRequest) -> Execution:
        """Toss the coin of this trial."""
        mutant = request.mutant.id if request.mutant else ""
        passed = int(request.id, 16) / 16**16 < self._rate(mutant, request.scenario)
        trace = AgentTrace(outputs=("yes" if passed else "no",))
        return Execution(ending=Ending.ANSWERED, trace=trace, footprint=self._footprint)


class Verdicts(NamedTuple):
    """What one campaign said: share killed and mean trials, of the unchanged and of the worse mutants."""

    false_kills: float
    kills: float
    trials_unchanged: float
    trials_worse: float
    beside: float
    """Mean trials of the original that confirm a kill, for each of the worse mutants."""
    failed: bool


def coin_campaign(session: Session, tables: Tables, seed: int, folder: Path) -> Verdicts:
    """Return a campaign of its own baseline; half of the mutants are as good as the original."""
    plan = make_plan(session, make_mutants(session, Selection()), seed, time.time())
    ids = [mutant.id for mutant in plan.mutants]
    unchanged, worse = ids[::2], {id_: f"s{i % SCENARIOS}" for i, id_ in enumerate(ids[1::2])}

    def rate(mutant: str, scenario: str) -> float:
        if mutant == plan.destroyed.id:
            return 0.0
        return RATE - DROP if worse.get(mutant) == scenario else RATE

    state = CampaignState(plan, session.suite, session.tests.scenarios, tables)
    store = Store(folder / f"{seed}.db")
    try:
        register(store, plan)
        ports = Ports(CoinExecutor(rate), store, session.tests, time.time, lambda: None)
        stop = asyncio.run(Loop(state, ports).run())
    finally:
        store.close()
        for path in folder.glob(f"{seed}.db*"):
            path.unlink()

    def told(group: Iterable[str]) -> tuple[float, float, float]:
        arms = [state.arms[id_] for id_ in group]
        killed = statistics.mean(arm.status is Status.KILLED for arm in arms)
        own = statistics.mean(arm.trials.own for arm in arms)
        return killed, own, statistics.mean(arm.trials.consumed for arm in arms) - own

    (false, spent, _), (true, spent_worse, beside) = told(unchanged), told(worse)
    return Verdicts(false, true, spent, spent_worse, beside, stop is Stop.FAILED)


def error_rates(folder: Path, campaigns: int, mutants: int) -> Iterator[Figure]:
    """Measure false kills and power over campaigns with fresh baselines."""
    write_project(folder, 2 * mutants, 50 if mutants <= 10 else 100, 16, 0.0, only_baseline=False)
    session, tables = open_session(load_project(folder)), Tables(None)
    found = [coin_campaign(session, tables, seed, folder) for seed in range(1, campaigns + 1)]
    held = [verdicts for verdicts in found if not verdicts.failed]
    false = [verdicts.false_kills for verdicts in held]
    quartiles = statistics.quantiles(false, n=4)
    many = f"{campaigns} campaigns x {mutants} mutants"
    yield Figure(
        f"false kills, ten scenarios at {RATE}, {many}",
        f"{statistics.mean(false):.2%} (sd {statistics.stdev(false):.2%}, quartiles "
        f"{quartiles[0]:.0%}-{quartiles[2]:.0%}, most {max(false):.0%})",
        "mean <= 5 %",
        statistics.mean(false) <= 0.05,
    )
    kills, trials = (statistics.mean(v[i] for v in held) for i in (1, 3))
    yield Figure(f"killed, one scenario worse by {DROP}", f"{kills:.1%}", ">= 95 %", kills >= 0.95)
    beside = statistics.mean(v.beside for v in held)
    yield Figure(
        "trials of such a mutant, mean",
        f"{trials:.1f}, and {beside:.1f} of the original that confirm the kill",
        "<= 60",
        trials <= 60,
    )
    yield Figure(
        "trials for an unchanged mutant, mean",
        f"{statistics.mean(v.trials_unchanged for v in held):.0f}",
        "(none)",
        True,
    )
    broken = len(found) - len(held)
    yield Figure(
        "campaigns whose identity control failed",
        f"{broken} of {campaigns}",
        "<= 1 %",
        broken <= 0.01 * campaigns,
    )


def figures(quick: bool, scratch: Path) -> Iterator[Figure]:
    """Yield all figures, as they are measured."""

    def folder(name: str) -> Path:
        made = scratch / name
        made.mkdir()
        return made

    yield from start_up(3 if quick else 10)
    yield from overhead(folder("overhead"), 5_000 if quick else 10_000, 50_000)
    yield from throughput(folder("throughput"), 48 if quick else 96, 3 if quick else 5)
    yield from in_flight(folder("in_flight"))
    yield from error_rates(folder("errors"), 40, 4 if quick else 25)


def main() -> int:
    """Print every figure; 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller samples, less than a minute")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as scratch:
        return printed(figures(quick, Path(scratch)))


if __name__ == "__main__":
    sys.exit(main())
