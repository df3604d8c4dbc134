"""`python -m benchmarks.watched_scenarios [REFERENCES]`: how soon `agentmut watch` notices, over many scenarios.

A simulated agent answers 2 or 50 scenarios in turn; each has tools and a length of answer of its own. In every second
scenario it verifies the customer in 95 of 100 runs, and then in none. Printed is the median number of further runs to
the first alarm of the charts on behaviour, over so many references (9), or that most have none within 1,000 runs.
"""

import sys
from statistics import median

import numpy as np
from numpy.random import Generator

from agentmut.insight import ScenarioRun, scenario_run, scorer_of
from agentmut.nouns import Action, AgentTrace, Step
from agentmut.stats import DriftState, cusum_for
from agentmut.usecases.watch_charts import CHARTS, MORE_UNUSUAL, page_hinkley_on_scores, usual_up_to

EACH = 1000.0 * CHARTS
"""Runs to a false alarm of one chart, as `--in-control 1000` asks."""
HORIZON = 1000


def run(scenario: int, rng: Generator, verifies: float) -> ScenarioRun:
    """Return a run of the agent."""
    names = ["verify_identity"] if scenario % 2 and rng.random() < verifies else []
    names += ["lookup"] * (1 + scenario % 5 + int(rng.poisson(0.2))) + [f"do_{scenario}"]
    steps = tuple(Step(action=Action.CALL_TOOL, tool=name) for name in names)
    answer = " ".join(["word"] * (10 + 4 * (scenario % 7) + int(rng.poisson(5))))
    return scenario_run(f"s{scenario}", AgentTrace(steps=steps, outputs=(answer,)))


def first_alarm(scenarios: int, reference: int, verifies: float, rng: Generator) -> float:
    """Return after how many runs a chart on behaviour alarms; infinite where none does."""
    scorer = scorer_of([run(i % scenarios, rng, 0.95) for i in range(reference)])
    limit, rate = usual_up_to(scorer.reference)
    cusum = cusum_for(rate, MORE_UNUSUAL, EACH).chart
    page, _ = page_hinkley_on_scores(scorer.reference, EACH, 1)
    one, other = DriftState(), DriftState()
    for i in range(HORIZON):
        score = scorer.score(run(i % scenarios, rng, verifies))
        if score is None:
            continue
        one, other = cusum.update(one, score <= limit), page.update(other, score)
        if one.alarm_at or other.alarm_at:
            return i + 1
    return float("inf")


def main(references: int) -> None:
    """Print a line for each number of scenarios, reference and change."""
    for scenarios, reference in ((2, 50), (50, 50), (50, 300)):
        for verifies in (0.95, 0.0):
            found = [
                first_alarm(scenarios, reference, verifies, np.random.default_rng([7, i]))
                for i in range(references)
            ]
            typical = median(found)
            said = f"{typical:.0f} runs" if typical < HORIZON else f"none within {HORIZON:,} runs"
            print(
                f"{scenarios} scenarios, reference {reference}, verifies in {verifies:.0%} of runs: {said}; "
                f"{sum(each > HORIZON for each in found)} of {references} without an alarm",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
