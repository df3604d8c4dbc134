"""Every relation finds an agent that violates it, and leaves a correct one alone that talks a lot.

Agents are simulated here: the runs are those of a relation's examples, said at length and in any order. Comparison,
judgement and verdict are the real ones. The verb on real agents is tested in tests/relations.
"""

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import pytest

from agentmut.assessment.rules import Sprt
from agentmut.assessment.state import StoppingRule
from agentmut.campaign.preparation.tables import Tables
from agentmut.judging.facts.comparison import Comparison, comparison_for
from agentmut.nouns.relation import SAME_AGAIN, Expectation, FollowUp, Pair, Source
from agentmut.nouns.trace import AgentTrace, Check
from agentmut.relating.preparation import Level, comparison
from agentmut.seams.plugins import Catalogue, Group
from agentmut.seams.protocols.relation import HasExampleArgument, Relation, RelationExample
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.relation_report import Counts

LEVEL = Level(alpha=0.05, beta=0.2, delta=0.3, pairs=30, tolerance=0.1, margin=0.1)
FITTING, PAIRS, REPETITIONS = 15, 30, 4
FLAKY = 0.05
"""The correct agent makes the planted mistake in so many of all its runs, changed or not."""
SHORT = frozenset({"oracle.constraints", "oracle.format", "perturbation.added_constraint"})
"""Relations about length and form: there, saying more is a fault."""
CATALOGUE = Catalogue.from_group(Group.RELATIONS)
RELATIONS = sorted(CATALOGUE.names)
SMALL_TALK = [
    "Thank you for your patience!", "I hope this helps.", "Let me know if you have any further questions.",
    "Is there anything else that you would like to know?", "Have a lovely day.", "Thanks for reaching out.",
]  # fmt: skip


class Agent(NamedTuple):
    """A simulated agent: what it does with the source's request, and with what a relation makes of it."""

    source: Source
    """Of the example that it behaves as."""
    right: tuple[AgentTrace, ...]
    """Source runs that say the same, as paraphrases of each other."""
    follow_ups: tuple[AgentTrace, ...] = ()
    """What it does with what follows; nothing: the same as with the source's request."""
    wrong: tuple[AgentTrace, ...] = ()
    """What it does instead in `FLAKY` of all runs."""
    talks: bool = True

    def own(self, rng: random.Random) -> AgentTrace:
        wrong = bool(self.wrong) and rng.random() < FLAKY
        return self.said(rng, rng.choice(self.wrong if wrong else self.right))

    def after(self, rng: random.Random, runs: int) -> tuple[AgentTrace, ...]:
        if not self.follow_ups:
            return tuple(self.own(rng) for _ in range(runs))
        return tuple(self.said(rng, trace) for trace in self.follow_ups[:runs])

    def said(self, rng: random.Random, trace: AgentTrace) -> AgentTrace:
        outputs = (
            tuple(at_length(rng, str(output)) for output in trace.outputs) if self.talks else trace.outputs
        )
        return trace.model_copy(update={"outputs": outputs})


def at_length(rng: random.Random, text: str) -> str:
    """The text among up to two sentences that say nothing; its own sentences in any order."""
    own = text.split(". ")
    rng.shuffle(own)
    before, after = rng.sample(["", "", *SMALL_TALK], 2)
    return " ".join(filter(None, (before, ". ".join(part.rstrip(".") for part in own) + ".", after)))


def relation_of(name: str) -> Relation:
    kind = CATALOGUE.load(name)
    relation: Relation = kind(kind.example_argument if issubclass(kind, HasExampleArgument) else None)
    return relation


def examples_of(relation: Relation, holds: bool) -> list[RelationExample]:
    return [example for example in relation.examples() if example.holds is holds]


def correct(name: str) -> Agent:
    """Behaves as in the example that holds; where one run follows one, either way of saying it is as good."""
    relation = relation_of(name)
    good, bad = examples_of(relation, True)[0], examples_of(relation, False)[0]
    source, after = good.source.trace, good.traces
    alike = len(after) == 1 and len(after[0].outputs) == len(source.outputs)
    if relation.expectation is Expectation.INVARIANT and alike:
        return Agent(good.source, (source, *after), wrong=bad.traces)
    return Agent(good.source, (source,), after, talks=name not in SHORT)


def faulty(name: str) -> Agent:
    """Behaves as in the example that does not hold."""
    bad = examples_of(relation_of(name), False)[-1]
    return Agent(bad.source, (bad.source.trace,), bad.traces, talks=name not in SHORT)


def checks(
    relation: Relation, agent: Agent, rng: random.Random, runs: list[AgentTrace], found: Comparison
) -> Iterator[bool]:
    """What the relation says of a pair from each run."""
    for run in runs:
        source = agent.source._replace(trace=run, rng=rng)
        follow_up = relation.follow_up(source)
        if follow_up is not None:
            traces = agent.after(rng, len(follow_up.runs))
            yield from judged(relation, agent, run, follow_up, traces, found)


def judged(
    relation: Relation, agent: Agent, run: AgentTrace, follow_up: FollowUp, traces: tuple[AgentTrace, ...],
    found: Comparison,
) -> Iterator[bool]:  # fmt: skip
    pair = Pair(agent.source.scenario, agent.source.config, run, follow_up, traces, found)
    check: Check | None = relation.holds(pair)
    if check is not None:
        yield check.passed


@lru_cache
def tables() -> Tables:
    return Tables(None)


def rule(relation: Relation, identity: list[bool]) -> StoppingRule | None:
    """Return None, as the product does, where the relation says nothing of runs that should be alike."""
    if relation.expectation is not Expectation.INVARIANT:
        level = LEVEL
        design = SprtDesign(1 - level.tolerance, level.margin, level.alpha, level.beta, level.pairs)
        return Sprt(design, level.pairs)
    if not identity:
        return None
    return comparison(Counts(violations=identity.count(False), pairs=len(identity)), LEVEL, tables())


def verdict(name: str, agent: Agent, seed: int) -> Verdict:
    """What a check of the relation says of the agent: sources, control, pairs in order, up to the one that decides."""
    rng, relation = random.Random(f"{name} {seed}"), relation_of(name)
    runs = [agent.own(rng) for _ in range(FITTING + PAIRS)]
    found = comparison_for(agent.source.scenario, runs[:FITTING])
    rest = runs[FITTING:]
    same = [held for one, other in zip(rest[::2], rest[1::2], strict=True)
            for held in judged(relation, agent, one, SAME_AGAIN, (other,), found)]  # fmt: skip
    stopping, held = rule(relation, same), list[bool]()
    if stopping is None:
        return Verdict.INCONCLUSIVE
    for passed in checks(relation, agent, rng, rest, found):
        held.append(passed)
        if stopping.ended(held):
            break
    return stopping.judgement(held).verdict


@pytest.mark.parametrize("name", RELATIONS)
def test_an_agent_that_violates_a_relation_is_found(name: str) -> None:
    assert [verdict(name, faulty(name), seed) for seed in range(2)] == [Verdict.FAIL] * 2


def test_correct_agents_that_talk_a_lot_are_flagged_at_most_at_the_level_of_the_test() -> None:
    found = {name: [verdict(name, correct(name), seed) for seed in range(REPETITIONS)] for name in RELATIONS}
    flagged = {name: verdicts.count(Verdict.FAIL) for name, verdicts in found.items()}
    assert sum(flagged.values()) <= LEVEL.alpha * REPETITIONS * len(RELATIONS), flagged
    assert max(flagged.values()) <= 1, flagged
    passed = sum(verdicts.count(Verdict.PASS) for verdicts in found.values())
    assert passed >= 0.9 * REPETITIONS * len(RELATIONS), found
