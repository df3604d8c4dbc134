"""What a large suite costs: 500 scenarios x 500 mutants, each figure beside its target.

`python benchmarks/scale.py [--scenarios N] [--mutants N] [--trials N] [--varied]` prints the processor time of a whole
campaign by stage, and its memory; exit code 1 where a target is missed. The agent answers at once by a rule, so that a
run repeats itself; with `--varied` each answer has other words, so that survivors take a permutation test. The trials
themselves (agent, executor, store) are told apart from what is done about them. `python benchmarks/scale.py --plan`
plans the same project, and runs nothing.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


from agentmut.campaign import (  # noqa: E402
    CampaignState,
    Selection,
    make_mutants,
    make_plan,
    open_session,
    register,
)
from agentmut.nouns import Result  # noqa: E402
from agentmut.project import load_project  # noqa: E402
from agentmut.report import render_as  # noqa: E402
from agentmut.usecases import campaigns, foresee, open_store  # noqa: E402
from benchmarks.commit import commit  # noqa: E402

SECONDS = 60.0
"""Processor time that everything but the trials may take."""
PLANNED = 20.0
"""Processor time that the plan alone may take."""
MEBIBYTES = 1024.0
"""Memory that it may take beyond what the process has at its start."""
SHARE = 0.10
"""The share of a campaign's processor time that the stage after the last trial may take."""
FORMS = ("terminal", "html", "json", "markdown", "junit")

AGENT = """
import random
from functools import cache

WORDS = [f"word{i}" for i in range(300)]


@cache
def lost_at(prompt):
    there = {int(line.split()[-1][:-1]) for line in prompt.splitlines() if line}
    return {i // 4 % SCENARIOS for i in range(RULES) if i % 4 == 0 and i not in there}


async def run(config, input):
    lost = int(input.split()[-1]) in lost_at(config.prompt)
    said = "yes" if config.prompt and not lost else "no"
    return said if not VARIED else " ".join([said, *random.choices(WORDS, k=random.randint(10, 40))])
"""
"""Every fourth rule is the only one that some scenario needs."""
PROJECT = """
version: 1
agent: {{adapter: python, run: "scale_agent:run", config: {{prompt: prompt.md}}}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{clear_on: all}}
budget: {{trials: {trials}}}
execution: {{concurrency: 16}}
"""


class Clock:
    """Adds up processor time by what it is spent on; what is timed inside of something else counts for both."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count the time of a block."""
        begun = time.process_time()
        try:
            yield
        finally:
            self.spent[name] += time.process_time() - begun

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time counted."""

        def call(*args: object, **named: object) -> Any:
            with self.of(name):
                return function(*args, **named)

        return call


def write_project(folder: Path, scenarios: int, mutants: int, trials: int, *, varied: bool = False) -> None:
    """Write a project with as many rules in its prompt as it shall have mutants."""
    head = f"SCENARIOS, RULES, VARIED = {scenarios}, {mutants}, {varied}\n"
    (folder / "scale_agent.py").write_text(head + AGENT)
    (folder / "prompt.md").write_text("".join(f"- Never talk about subject {i}.\n" for i in range(mutants)))
    (folder / "scenarios").mkdir()
    cases = (f"- name: s{i}\n  input: ask {i}\n  evaluators: [contains: 'yes']\n" for i in range(scenarios))
    (folder / "scenarios" / "all.yaml").write_text("".join(cases))
    (folder / "agentmut.yaml").write_text(PROJECT.format(trials=trials))


def campaign(folder: Path, clock: Clock) -> Result:
    """Plan, run and report the project of a folder."""
    with clock.of("load and generate"):
        project = load_project(folder)
        session = open_session(project)
        generation = make_mutants(session, Selection())
    with open_store(project) as store:
        with clock.of("agentmut plan"):
            foresee(session, store, generation)
        with clock.of("plan of the run"):
            plan = make_plan(session, generation, 1, time.time())
            register(store, plan)
        with clock.of("campaign"):
            result = campaigns.carry_out_campaign(session, plan, store)
    for form in FORMS:
        with clock.of("reports"):
            render_as(result, form)
    return result


def plan_alone(scenarios: int, mutants: int, trials: int) -> int:
    """Load and plan the project as `agentmut plan` does, and print what that takes; 1 when the target was missed."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, clock.of("all of it"):
        write_project(Path(folder), scenarios, mutants, trials)
        project = load_project(Path(folder))
        session = open_session(project)
        generation = make_mutants(session, Selection())
        with open_store(project) as store:
            foresee(session, store, generation)
    total = clock.spent["all of it"]
    print(f"commit {commit()}: {scenarios} scenarios x {mutants} mutants")
    kept = "ok  " if total <= PLANNED else "MISS"
    print(f"{kept}  planned, from the files on, in {total:.1f} s of processor time (target <= {PLANNED:g})")
    return int(total > PLANNED)


def watch(clock: Clock) -> None:
    """Time the parts of a campaign that are no trials."""
    parts: tuple[tuple[Any, str, str], ...] = (
        (CampaignState, "launch", "decisions"),
        (CampaignState, "record", "decisions"),
        (campaigns, "run_work", "until the last trial"),
        (campaigns, "summarise", "result"),
        (campaigns, "with_gaps", "explanations"),
    )
    for owner, name, told in parts:
        setattr(owner, name, clock.timed(told, getattr(owner, name)))


def memory() -> float:
    """Return the most memory that the process has held so far, in MiB."""
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kibibytes / (1024 * 1024 if sys.platform == "darwin" else 1024)


def figures(clock: Clock, beyond: float) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value with its target, and whether the target is kept."""
    spent = clock.spent
    trials = spent["until the last trial"] - spent["decisions"]
    after = spent["campaign"] - spent["until the last trial"]
    rest = sum(spent[name] for name in ("load and generate", "agentmut plan", "plan of the run", "reports"))
    total = rest + spent["campaign"] - trials
    for name in ("load and generate", "agentmut plan", "plan of the run", "decisions"):
        yield name, f"{spent[name]:.1f} s", True
    yield "result, until result.json is there", f"{spent['result']:.1f} s", True
    yield "explanations", f"{spent['explanations']:.1f} s", True
    yield f"reports ({', '.join(FORMS)})", f"{spent['reports']:.1f} s", True
    yield "all of that", f"{total:.1f} s (target <= {SECONDS:g})", total <= SECONDS
    share = after / spent["campaign"]
    yield "after the last trial, of the campaign", f"{share:.1%} (target <= {SHARE:.0%})", share <= SHARE
    yield "memory beyond the start", f"{beyond:.0f} MiB (target <= {MEBIBYTES:g})", beyond <= MEBIBYTES
    yield "the trials themselves", f"{trials:.1f} s", True


def main() -> int:
    """Print every figure; 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=500)
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--trials", type=int, default=30_000)
    parser.add_argument("--varied", action="store_true", help="Each run's answer has other words.")
    parser.add_argument("--plan", action="store_true", help="Plan, and run nothing.")
    asked = parser.parse_args()
    if asked.plan:
        return plan_alone(asked.scenarios, asked.mutants, asked.trials)
    clock, before = Clock(), memory()
    watch(clock)
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), asked.scenarios, asked.mutants, asked.trials, varied=asked.varied)
        result = campaign(Path(folder), clock)
    score = result.score
    print(f"{asked.scenarios} scenarios x {asked.mutants} mutants, {result.cost.trials:,} trials:")
    print(
        f"{score.killed} killed, {score.survived} survived, {score.undecided} undecided, {score.not_drawn} not drawn"
    )
    found = list(figures(clock, memory() - before))
    for name, value, kept in found:
        print(f"{'ok  ' if kept else 'MISS'}  {name:<40} {value}")
    return int(not all(kept for *_, kept in found))


if __name__ == "__main__":
    sys.exit(main())
