"""Looking at many candidates proposes nothing where there is no difference, however many are looked at."""

import random
from collections.abc import Callable, Mapping

from agentmut.campaign.running.stored import StoredCampaign
from agentmut.insight.explain.candidates import candidate
from agentmut.insight.explain.family import Family, family_of
from agentmut.insight.explain.mining import mine
from agentmut.insight.explain.stored_runs import Run, Runs, StoredRuns
from agentmut.insight.explain.views import View
from agentmut.nouns.trace import AgentTrace
from tests.insight.explain.campaigns import trace

Campaign = Callable[..., StoredCampaign]
WORDS = (
    *("order", "parcel", "arrives", "soon", "today", "safely", "customer", "thanks", "waiting", "team"),
    *("refund", "money", "bank", "card", "days", "policy", "item", "broken", "label", "ship"),
)
SCENARIOS = ("a", "b", "c", "d", "e")


def unsteady(rng: random.Random) -> AgentTrace:
    """An agent that says each of many words in seven runs of eight."""
    return trace("look", answer=" ".join(word for word in WORDS if rng.random() < 0.88))


def runs(rng: random.Random, n: int) -> list[AgentTrace]:
    return [unsteady(rng) for _ in range(n)]


class Drawn(StoredRuns):
    """Runs of mutants that behave like the original, which no store has seen."""

    seed = 0

    def runs(self, mutant: str) -> Mapping[str, Runs]:
        if mutant not in self._runs:
            rng, n = random.Random(f"{self.seed} {mutant}"), 12 if mutant else 44
            self._runs[mutant] = {
                name: tuple(Run(View(run), True, True) for run in runs(rng, n)) for name in SCENARIOS
            }
        return self._runs[mutant]


def test_an_assertion_is_proposed_for_at_most_alpha_of_the_mutants_that_do_not_differ(
    campaign: Campaign,
) -> None:
    """Sixty of them, five scenarios each, against six baselines; at .05 seven or more have a chance of 3 %."""
    made = campaign({"": dict.fromkeys(SCENARIOS, runs(random.Random(), 1))})
    proposing = 0
    for seed in range(6):
        stored = Drawn(made)
        stored.seed = seed
        proposing += sum(bool(mine(made, f"m{i}", others=[], stored=stored)) for i in range(10))
    assert proposing <= 6


def test_a_survivor_that_does_not_differ_is_hardly_ever_said_to_be_killed_too(campaign: Campaign) -> None:
    rng = random.Random(1)
    others = [f"m{i}" for i in range(40)]
    traces = {"": {"a": runs(rng, 50)}, **{id: {"a": runs(rng, 15)} for id in others}}
    found = mine(
        campaign(traces | {"worse": {"a": [trace("look", answer="order") for _ in range(15)]}}),
        "worse",
        others=others,
    )
    assert found
    assert len({id for one in found for id in one.mutants[1:]}) <= 5  # at .05 more have a chance of 1 %


def test_which_candidates_are_looked_at_does_not_hang_on_whose_runs_are_whose(campaign: Campaign) -> None:
    """The held-out half of the original's runs and the mutant's change places."""
    rng = random.Random(3)
    found, held_out = runs(rng, 12), runs(rng, 12)
    other = [trace("pay", answer=f"No guarantee. {rng.choice(WORDS)} 2026-01-31") for _ in range(12)]

    def looked_at(second: list[AgentTrace], mutant: list[AgentTrace]) -> set[str]:
        original = [run for pair in zip(found, second, strict=True) for run in pair]
        family = family_of(StoredRuns(campaign({"": {"a": original}, "m": {"a": mutant}})), "m", "a")
        assert family is not None
        return {str(one.spec) for equals in family.candidates.values() for one in equals}

    specs = looked_at(held_out, other)
    assert any("guarantee" in spec for spec in specs)
    assert specs == looked_at(other, held_out)


def test_what_holds_in_too_few_runs_to_show_anything_takes_no_share_of_the_level() -> None:
    """Four runs against four: 4 : 0 has 1/70, and 2 : 0 has 6/28, which can never be at .05."""
    run = Run(View(trace("look")), True, True)
    one = (candidate("contains", "x", "", 0.5, lambda view: True),)
    yes, no = (True,), (False,)
    strong = [4 * yes + 4 * no, 3 * yes + no + yes + 3 * no]
    weak = [2 * yes + 6 * no, no + 2 * yes + 5 * no, 2 * no + 2 * yes + 4 * no]
    family = Family((run,) * 4, (run,) * 4, 0.05, dict.fromkeys([*strong, *weak], one))
    assert family.level == 0.025
    assert [(str(held_out), str(mutant)) for _, held_out, mutant in family.clear()] == [("4/4", "0/4")]
