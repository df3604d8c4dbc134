"""The trace test of survivors: what it calls changed, what it calls unchanged, and how often it errs."""

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
from scipy.stats import binom

from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest, share_noticed
from agentmut.insight.explain.gaps import first_block
from agentmut.insight.fingerprint import Feature, Fingerprint, Reference, fingerprint, in_words
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant_row import BehaviourChange
from agentmut.nouns.trace import AgentTrace, Step
from agentmut.stats.kill.rule import KillDesign, decision_table
from tests.insight.explain.campaigns import trace

WORDS = ("order", "parcel", "arrives", "soon", "today", "safely", "customer", "thanks", "waiting", "team")
Agent = Callable[[random.Random], Execution]


def answered(run: AgentTrace) -> Execution:
    return Execution(ending=Ending.ANSWERED, trace=run)


def usual(r: random.Random) -> Execution:
    calls: list[Any] = [("look", {"id": r.choice(["A-1", "A-2"]), "page": r.randint(1, 3)})]
    calls += ["check"] if r.random() < 0.3 else []
    said = " ".join(r.sample(WORDS, r.randint(4, 8)))
    ended = Ending.ANSWERED if r.random() < 0.95 else Ending.RAISED
    return Execution(ending=ended, trace=trace(*calls, answer=said + r.choice(["", " within 30 days"])))


def prints(agent: Agent, n: int, seed: int) -> list[Fingerprint]:
    rng = random.Random(seed)
    return [fingerprint(agent(rng)) for _ in range(n)]


def change(
    agents: Sequence[Agent], n0: int = 50, n: int = 11, seed: int = 1, original: Agent = usual
) -> BehaviourChange:
    """A mutant that behaves so on its scenarios, against the usual agent."""
    names = [f"s{i}" for i in range(len(agents))]
    test = TraceTest({name: prints(original, n0, 100 * seed + i) for i, name in enumerate(names)}, seed)
    runs = [prints(agent, n, 7000 + 100 * seed + i) for i, agent in enumerate(agents)]
    found = test.change("m", [ComparedRuns(name, block) for name, block in zip(names, runs, strict=True)])
    assert found is not None
    return found


def test_identical_agents_are_seldom_said_to_have_changed() -> None:
    """At most alpha: of 80 pairs at .05, more than 8 have a chance of 2 %."""
    found = [change([usual, usual], n0=21, seed=seed) for seed in range(40)]
    found += [change([usual], n0=21, seed=1000 + seed) for seed in range(40)]
    assert sum(one.changed is True for one in found) <= 8


def without_look(r: random.Random) -> Execution:
    return answered(trace("check", answer=" ".join(r.sample(WORDS, 6))))


def chatty(r: random.Random) -> Execution:
    run = usual(r)
    (said,) = run.trace.outputs
    return run.model_copy(
        update={"trace": run.trace.model_copy(update={"outputs": (f"{said} {said} {said}",)})}
    )


def test_a_tool_that_is_not_called_any_more_is_a_change_that_is_named() -> None:
    found = change([usual, without_look])
    assert (found.changed, found.scenario, found.visible) == (True, "s1", None)
    assert "look" in found.feature
    assert found.trials == 22


def test_longer_answers_are_a_change_that_is_named() -> None:
    found = change([chatty])
    assert found.changed
    assert found.feature in ("answers are longer", "answers state more figures")


def test_swapped_calls_are_a_change_though_all_counts_are_as_before() -> None:
    def order(first: str, second: str) -> Agent:
        return lambda r: answered(trace(first, second, "end", answer=" ".join(r.sample(WORDS, 6))))

    found = change([order("pay", "check")], original=order("check", "pay"))
    assert found.changed


def test_unchanged_behaviour_is_said_where_the_test_would_have_seen_a_change() -> None:
    found = change([usual], n0=100, seed=3)
    assert found.changed is False
    assert found.visible is not None
    assert 0.2 < found.visible <= 0.55


def test_what_is_said_to_be_visible_is_noticed_about_as_often_as_is_said() -> None:
    """A phrase in that share of the runs and never in the original's: noticed with a chance of .9."""
    visible = change([usual], n0=100, seed=3).visible
    assert visible is not None

    def sometimes(r: random.Random) -> Execution:
        run = usual(r)
        calls = ["refund"] if r.random() < visible else []
        return run.model_copy(update={"trace": trace("look", *calls, answer=run.trace.text)})

    def never(r: random.Random) -> Execution:
        return answered(trace("look", answer=usual(r).trace.text))

    noticed = sum(change([sometimes], 100, seed=s, original=never).changed is True for s in range(20))
    assert noticed >= 15  # of 20 at .9, fewer have a chance of 1 %


def test_few_runs_show_neither() -> None:
    found = change([usual], n0=12, n=5)
    assert found.changed is None


def test_without_runs_enough_there_is_no_verdict() -> None:
    test = TraceTest({"s": prints(usual, 30, 1)}, 1)
    assert test.change("m", [ComparedRuns("s", prints(usual, 3, 2))]) is None
    assert test.change("m", [ComparedRuns("other", prints(usual, 11, 2))]) is None


def test_the_same_seed_gives_the_same_verdict() -> None:
    assert change([usual, chatty], seed=5) == change([usual, chatty], seed=5)


@pytest.mark.parametrize(("n", "needed"), [*product((5, 11, 40), (1, 3, 5))])
def test_the_share_that_is_noticed_is_where_the_binomial_tail_is_nine_tenths(n: int, needed: int) -> None:
    assert binom.sf(needed - 1, n, share_noticed(needed, n)) == pytest.approx(0.9)


def test_the_first_block_is_the_least_number_of_runs_with_which_one_survives() -> None:
    table = decision_table(0, 50, KillDesign())
    n = first_block(table)
    assert table.survive_at[n] >= 0 > table.survive_at[n - 1]


def test_load_prices_and_the_length_of_the_prompt_leave_no_trace_in_a_fingerprint() -> None:
    plain = trace("look", answer="Fine.")
    slow = plain.model_copy(update={"seconds": 99.0, "steps": tuple(map(slowed, plain.steps))})
    assert fingerprint(answered(slow)) == fingerprint(answered(plain))


def slowed(step: Step) -> Step:
    usage = step.usage.model_copy(update={"input_tokens": 9999})
    return step.model_copy(update={"seconds": 9.0, "started": 3.0, "usd": 1.0, "usage": usage})


def test_a_fingerprint_counts_what_was_done() -> None:
    run = fingerprint(answered(trace(("pay", {"amount": 20}), "look", "look", answer="Paid 20 euros. More?")))
    wanted = {
        Feature("calls", ("look",)): 2, Feature("calls", ("pay",)): 1, Feature("tool calls"): 3,
        Feature("tools"): 2, Feature("first tool", ("pay",)): 1, Feature("last tool", ("look",)): 1,
        Feature("argument value", ("pay", "amount")): 20, Feature("argument", ("pay", "amount")): 1,
        Feature("words"): 4, Feature("questions"): 1, Feature("states", ("20 euros",)): 1,
        Feature("output tokens"): 36, Feature("model calls"): 4, Feature("failed"): 0,
    }  # fmt: skip
    assert wanted.items() <= run.features.items()


def test_every_column_can_be_put_into_words() -> None:
    rng = random.Random(1)
    runs = [fingerprint(usual(rng)) for _ in range(12)]
    runs += [fingerprint(answered(trace("look", answer={"team": "a", "n": i}))) for i in range(3)]
    for feature, up, spread in product(
        Reference(runs[:8]).columns(runs[8:]).features, (True, False), (True, False)
    ):
        said = in_words(feature, up=up, spread=spread)
        assert said
        assert "{" not in said
    assert in_words(Feature("pair", ("look", "pay")), up=True) == "pay is called right after look more often"
    assert (
        in_words(Feature("argument value", ("pay", "amount")), up=False)
        == "pay is called with a smaller amount"
    )
