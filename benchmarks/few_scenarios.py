"""What a small budget buys on some scenarios of a large suite, and on all of them: campaigns of coins.

`python -m benchmarks.few_scenarios [--campaigns N]` prints the table of docs/budgets.md. A suite of 60 scenarios
reaches every mutant. Half of 28 mutants are worse; the table tells what the whole suite could notice of them.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut._base import UsageError
from agentmut.campaign import CampaignState, Plan, Selection, Tables, make_mutants, make_plan, open_session
from agentmut.nouns import Status
from agentmut.project import load_project
from benchmarks.calibration.drift import PROJECT, Field, a_result

SCENARIOS, MUTANTS = 60, 28
BUDGETS = (300, 600, 1_200, 2_400)
SUBSETS = (5, 10, 20, SCENARIOS)
FIRST_SEED = 1001
KINDS: Mapping[str, tuple[int, int]] = {
    "one to three of 60 scenarios": (1, 3),
    "10 to 30 of 60 scenarios": (10, 30),
}
"""On how many scenarios a worse mutant loses .7 to 1 of the pass rate, at least and at most."""


class Bought(NamedTuple):
    """What a campaign has told when its budget was spent."""

    found: int
    """Worse mutants that are killed."""
    answered: int
    low: float
    high: float


def field(folder: Path, scenarios: int, trials: int) -> Field:
    """Write a project with so many scenarios and such a budget into an empty folder. Raise `UsageError` where the
    budget is too small for them.
    """
    (folder / "field_agent.py").write_text("async def run(config, input):\n    return 'yes'\n")
    (folder / "prompt.md").write_text("".join(f"- Never talk about subject {i}.\n" for i in range(MUTANTS)))
    (folder / "scenarios").mkdir()
    cases = (f"- name: s{i}\n  input: hello\n  evaluators: [contains: 'yes']\n" for i in range(scenarios))
    (folder / "scenarios" / "all.yaml").write_text("".join(cases))
    settings = f"budget: {{trials: {trials}}}\nstatistics: {{clear_on: all}}\nsuite: {{ci_runs: []}}\n"
    (folder / "agentmut.yaml").write_text(PROJECT + settings)
    session = open_session(load_project(folder))
    mutants = make_mutants(session, Selection())
    plan = make_plan(session, mutants, 1, 0.0)
    return Field(session, plan, Tables(None))


def play(on: Field, kind: tuple[int, int], trials: int, seed: int) -> Bought:
    """Play a campaign until its budget is spent. Its scenarios are a random part of the suite's."""
    rng = np.random.default_rng([seed, 29])
    rates = rng.uniform(0.94, 1, SCENARIOS)
    order = [on.plan.mutants[i].id for i in rng.permutation(MUTANTS)]
    worse = {id: _losses(rng, kind) for id in order[: MUTANTS // 2]}
    place = rng.permutation(SCENARIOS)
    plan: Plan = on.plan.model_copy(update={"seed": seed, "sample": tuple(rng.permutation(order).tolist())})
    state = CampaignState(plan, on.session.suite, on.session.tests.scenarios, on.tables)
    for spent in range(trials):
        launch = state.launch()
        if launch is None:
            break
        at = int(place[int(launch.scenario[1:])])
        rate = 0.0 if launch.mutant == plan.destroyed.id else rates[at]
        rate *= 1 - worse.get(launch.mutant, {}).get(at, 0.0)
        state.record(launch, a_result(launch, bool(rng.random() < rate), float(spent)))
    return _bought(state, worse)


def _losses(rng: np.random.Generator, kind: tuple[int, int]) -> dict[int, float]:
    least, most = kind
    where = rng.choice(SCENARIOS, int(rng.integers(least, most + 1)), replace=False)
    return {int(at): float(rng.uniform(0.7, 1)) for at in where}


def _bought(state: CampaignState, worse: Mapping[str, object]) -> Bought:
    statuses = {m.id: (state.status(m.id) or (Status.UNDECIDED, ""))[0] for m in state.plan.mutants}
    killed = [id for id, status in statuses.items() if status is Status.KILLED]
    answered = len(killed) + sum(status is Status.SURVIVED for status in statuses.values())
    score = state.score_so_far()
    bounds = (0.0, 1.0) if score.low is None or score.high is None else (score.low, score.high)
    return Bought(sum(id in worse for id in killed), answered, *bounds)


def row(kind: str, trials: int, scenarios: int, campaigns: int) -> str:
    """Return a row of the table: means over campaigns."""
    head = f"| {kind} | {trials:,} | {scenarios if scenarios < SCENARIOS else 'all'} |"
    with tempfile.TemporaryDirectory() as folder:
        try:
            on = field(Path(folder), scenarios, trials)
        except UsageError as error:
            if "too small" not in str(error):
                raise
            return f"{head} refused | | |"
        played = [play(on, KINDS[kind], trials, FIRST_SEED + i) for i in range(campaigns)]
    found, answered, low, high = np.mean(played, axis=0)
    return f"{head} {found:.1f} of {MUTANTS // 2} | {answered:.1f} of {MUTANTS} | {low:.2f} to {high:.2f} |"


def rows(campaigns: int) -> Iterator[str]:
    """Yield the table."""
    yield "| a worse mutant loses .7 to 1 on | trials | scenarios | found | answered | score, mean bounds |"
    yield f"|{' --- |' * 6}"
    for kind in KINDS:
        for trials in BUDGETS:
            for scenarios in SUBSETS:
                yield row(kind, trials, scenarios, campaigns)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=30)
    for line in rows(parser.parse_args().campaigns):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
