"""What the comparison of behaviour with a baseline does, next to what it promises and to pass/fail."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.random import Generator

from agentmut.insight.behaviour_comparison import compare_behaviour
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.stats.tests.proportions import fisher_test
from agentmut.stats.tests.significance import Alternative
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SEED = 24
BEFORE, NOW, ALL = 60, 30, 40
"""Runs of the baseline; of today where a change is to be found; of today where all four looks are taken."""
ALPHA = 0.05
SCENARIOS = 2
Agent = Callable[[Generator], Execution]


def run(
    rng: Generator, *, verifies: float = 0.95, words: float = 30, retries: float = 0.2, shuffled: float = 0.1
) -> Execution:
    """Return a run of an agent that looks up, verifies, perhaps searches again, and refunds; its pass is not decided
    by any of that.
    """
    steps = ["lookup_order"] * (1 + int(rng.poisson(retries)))
    steps += ["verify_identity"] if rng.random() < verifies else []
    steps += ["get_policy", "refund"]
    if rng.random() < shuffled:
        steps = [steps[i] for i in rng.permutation(len(steps))]
    answer = " ".join(["word"] * (1 + int(rng.poisson(words))))
    called = tuple(Step(action=Action.CALL_TOOL, tool=name) for name in steps)
    return Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=called, outputs=(answer,)))


def terse(rng: Generator) -> Execution:
    """Return a run of an agent whose runs differ in one thing: 95 of 100 verify."""
    steps = ["lookup_order", *(["verify_identity"] if rng.random() < 0.95 else []), "refund"]
    called = tuple(Step(action=Action.CALL_TOOL, tool=name) for name in steps)
    return Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=called, outputs=("Done.",)))


def section(*, thorough: bool) -> Section:
    """Type I error and power of the comparison of behaviour, beside Fisher's test of pass rates."""
    pairs = 500 if thorough else 40
    looks = 3000 if thorough else pairs
    how = (
        f"Simulated (seed {SEED}): {looks} comparisons of {SCENARIOS} scenarios (of fewer, where the error is larger), "
        f"{BEFORE} runs of the baseline and {NOW} of today on each, so that looks are at 5, 10 and 20. A run passes "
        "with chance 0.9 whatever it does; pass/fail is Fisher's test of the pass rates, one-sided, each scenario at "
        "half of alpha. Labellings that tie are called extreme together or not at all, so an agent whose runs differ "
        "in one thing is called changed less often than .05. Breaking ties by chance would use that up, and would now "
        "and then call the agent changed since one run of five left out what some runs of the baseline left out, too."
    )
    return Section("Behaviour", how, tuple(_figures(pairs, looks)))


def _figures(pairs: int, looks: int) -> Iterator[Figure]:
    rate, error = _changed(run, ALL, looks)
    yield Figure(f"type I, nothing changed, {ALL} runs", rate, ".04 to .06", 0.04, 0.06, error=error)
    fewer = max(20, pairs * 2 // 5)
    rate, error = _changed(terse, ALL, fewer)
    yield Figure(
        f"type I, runs that differ in one thing, {ALL} runs", rate, "at most .05", high=ALPHA, error=error
    )
    rate, error = _changed(run, NOW, fewer)
    yield Figure(
        f"type I, nothing changed, {NOW} runs",
        rate,
        "at most .0375: three of four looks",
        high=0.0375,
        error=error,
    )
    rate, error = _changed(run, None, fewer)
    yield Figure(
        "type I, runs end at the third one out of order", rate, "at most .05", high=ALPHA, error=error
    )
    for what, agent, least in (
        ("verify_identity called in 30 % of the runs", partial(run, verifies=0.3), 0.9),
        ("verify_identity never called", partial(run, verifies=0.0), 0.99),
        ("answers half as long", partial(run, words=15), 0.99),
        ("order shuffled in 60 %", partial(run, shuffled=0.6), 0.7),
    ):
        rate, error = _changed(agent, NOW, max(20, pairs // 8))
        yield Figure(f"power, {what}", rate, f"at least {least:g}", low=least, error=error)
    rate, error = simulated_rate(_by_pass_rates(np.random.default_rng([SEED, i])) for i in range(pairs))
    yield Figure("the same by pass/fail, whatever the change", rate, "at most .05", high=ALPHA, error=error)


def _changed(agent: Agent, n: int | None, pairs: int) -> tuple[float, float]:
    """Return the share of comparisons that call some scenario changed; the first scenario's runs are by `agent`."""
    return simulated_rate(_one(agent, n, pair) for pair in range(pairs))


def _one(agent: Agent, n: int | None, pair: int) -> bool:
    rng = np.random.default_rng([SEED, pair])
    names = [f"s{i}" for i in range(SCENARIOS)]
    unchanged = terse if agent is terse else run
    before = {name: [unchanged(rng) for _ in range(BEFORE)] for name in names}
    agents = [agent, *[unchanged] * (SCENARIOS - 1)]
    today = {name: list(_runs(each, n, rng)) for name, each in zip(names, agents, strict=True)}
    return bool(compare_behaviour("b", before, today, ALPHA, pair).changed)


def _runs(agent: Agent, n: int | None, rng: Generator) -> Iterator[Execution]:
    """Yield `n` runs; with None, up to the third whose calls are out of order, as a sequential test might."""
    odd = 0
    for _ in range(n or NOW):
        made = agent(rng)
        yield made
        odd += made.trace.tools_called[-1] != "refund"
        if n is None and odd == 3:
            return


def _by_pass_rates(rng: Generator) -> bool:
    level = ALPHA / SCENARIOS
    found = [
        fisher_test(
            int(rng.binomial(NOW, 0.9)), NOW, int(rng.binomial(BEFORE, 0.9)), BEFORE, Alternative.LESS
        )
        for _ in range(SCENARIOS)
    ]
    return any(test.p_value <= level for test in found)
