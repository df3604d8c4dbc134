"""The behaviour of today's runs against a baseline's: what is called changed, and in which words."""

import numpy as np
from scipy.stats import f

from agentmut.insight.behaviour_comparison import compare_behaviour
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step


def run(rng: np.random.Generator, verifies: float, words: int = 12) -> Execution:
    tools = ["lookup_order", *(["verify_identity"] if rng.random() < verifies else []), "refund"]
    steps = [Step(action=Action.CALL_TOOL, tool=name) for name in tools]
    answer = " ".join(["done"] * int(rng.poisson(words)))
    return Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=tuple(steps), outputs=(answer,)))


def runs(seed: int, n: int, verifies: float) -> list[Execution]:
    rng = np.random.default_rng(seed)
    return [run(rng, verifies) for _ in range(n)]


def test_a_call_that_is_mostly_left_out_is_named_with_its_counts() -> None:
    today = runs(2, 12, 0.25)
    before = {"a": runs(1, 100, 1.0), "b": runs(3, 100, 1.0)}
    found = compare_behaviour("good", before, {"a": today, "b": runs(4, 12, 1.0)}, 0.05, 1)
    (row,) = found.changed
    assert (row.scenario, row.level) == ("a", len(row.p_values) * 0.05 / 2 / 4)
    assert row.moved is not None
    told = {row.moved.words: row.moved, **{each.words: each for each in row.also}}
    calls = told["verify_identity is called less often"]
    kept = sum("verify_identity" in each.trace.tools_called for each in today[: row.runs])
    assert (calls.baseline_runs, calls.baseline_of, calls.runs, calls.of) == (row.baseline_runs,) * 2 + (
        kept,
        row.runs,
    )


def test_looks_stop_at_the_one_that_decides() -> None:
    found = compare_behaviour("good", {"a": runs(1, 100, 1.0)}, {"a": runs(2, 40, 0.0)}, 0.05, 1)
    assert (len(found.changed[0].p_values), found.changed[0].runs) == (1, 5)


def test_nothing_changed_is_no_finding_after_all_looks() -> None:
    found = compare_behaviour("good", {"a": runs(1, 100, 0.9)}, {"a": runs(2, 45, 0.9)}, 0.05, 1)
    (row,) = found.scenarios
    assert (row.change, len(row.p_values), row.runs, row.moved) == ("not shown", 4, 40, None)


def test_t2_and_its_p_value_belong_together() -> None:
    found = compare_behaviour("good", {"a": runs(1, 100, 0.9)}, {"a": runs(2, 40, 0.9)}, 0.05, 1)
    (row,) = found.scenarios
    assert row.hotelling_t2 is not None
    assert row.hotelling_p is not None
    d = row.effective_dimension
    scaled = row.hotelling_t2 * (140 - d - 1) / ((140 - 2) * d)
    assert abs(f.sf(scaled, d, 140 - d - 1) - row.hotelling_p) < 1e-5


def test_too_few_runs_on_either_side_are_said() -> None:
    few = compare_behaviour("good", {"a": runs(1, 9, 1)}, {"a": runs(2, 5, 1)}, 0.05, 1).scenarios[0]
    assert few.note.startswith("the baseline has 9 runs")
    short = compare_behaviour("good", {"a": runs(1, 10, 1)}, {"a": runs(2, 4, 1)}, 0.05, 1).scenarios[0]
    assert short.note.startswith("4 runs of today")
    assert (short.change, short.p_values) == ("continue", ())
