"""A harder version of a request must not be answered better."""

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from random import Random
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import canonical_json, import_callable
from agentmut.judging import build_all
from agentmut.language import stems
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    EvaluatorSpec,
    Expectation,
    Family,
    FollowUp,
    FollowUpRun,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.perturbation.unrelated import CONDITIONS, TASKS, unrelated_remarks
from agentmut.relations.turns import Turn, lack_of_turns, turns_of, with_turn
from agentmut.seams import Evaluator, RelationExample, answer, example

Score = Callable[[Scenario, AgentTrace], float]
_RUNS = 4
_DISTRACTING = 6


class Difficulty:
    """A request is made harder: it asks for more, has a further condition, or follows a long digression.

    The score of a run is the share of the scenario's evaluators that pass; the argument `{score: module:function}`
    names another, called with scenario and trace, larger for better. Four harder versions follow each run. The
    relation is violated where every one of them scores better than the run itself: one run may well do better by
    chance, and of an agent that passes with probability p this happens in (1 - p) p^4 of the pairs when difficulty
    has no effect at all, which is never above 0.082.
    """

    id: ClassVar[str] = "perturbation.difficulty"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.DIRECTIONAL
    why: ClassVar[str] = (
        "The plain request is served worse than a harder one: the agent is tuned to odd cases."
    )

    def __init__(self, argument: JsonValue = None) -> None:
        self._score = _score_of(argument)

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no turn can be made harder, in a phrase; empty where one can."""
        return lack_of_turns(scenario)

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return four harder versions of one turn, drawn by chance."""
        turns = turns_of(source.scenario, source.config)
        if not turns:
            return None
        turn = source.rng.choice(turns)
        harder = source.rng.sample(_harder(turn, source), _RUNS)
        runs = tuple(
            FollowUpRun(turns=with_turn(source.scenario.turns, turn.number, text)) for _, text in harder
        )
        return FollowUp(runs=runs, description=f"made harder: {'; '.join(what for what, _ in harder)}")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the run scores at least as well as one of its harder versions."""
        score = self._score or _share_passed
        before = float(score(pair.scenario, pair.source))
        after = [float(score(pair.scenario, trace)) for trace in pair.traces]
        if not after:
            return None
        reason = f"scores {before:.3g}, and {', '.join(f'{s:.3g}' for s in after)} where it is made harder"
        return Check(evaluator=self.id, passed=before >= min(after), reason=reason)

    def examples(self) -> Iterable[RelationExample]:
        """Yield a question that is answered, and one that is answered only where it is harder."""
        expected = (EvaluatorSpec(name="contains", argument="4 euros"),)
        asked, good, bad = "Which fee is open?", answer("A fee of 4 euros."), answer("I cannot say.")
        yield example(asked, good, (good, bad, good, bad), True, evaluators=expected)
        yield example(asked, bad, (good, bad, good, good), True, evaluators=expected)
        yield example(asked, bad, (good,) * _RUNS, False, evaluators=expected)


def _harder(turn: Turn, source: Source) -> list[tuple[str, str]]:
    """Return harder versions of a turn, each with the change in words. The turn's own words all stay, in one piece."""
    text = turn.text.rstrip()
    closed = text if text[-1:] in (*".!?",) else f"{text}."
    tasks = {what: more for what, more in TASKS.items() if not stems(more) & stems(turn.text)}
    added = [(what, f"{closed} {more}") for what, more in (*tasks.items(), *CONDITIONS.items())]
    remarks = unrelated_remarks(source.scenario, source.config)
    if remarks:
        added.append(("a long digression before it", f"{_digression(remarks, source.rng)} {turn.text}"))
    return added


def _digression(remarks: tuple[str, ...], rng: Random) -> str:
    return " ".join(rng.sample(remarks, min(_DISTRACTING, len(remarks))))


def _score_of(argument: JsonValue) -> Score | None:
    if argument is None:
        return None
    named = argument.get("score") if isinstance(argument, dict) and len(argument) == 1 else None
    if not isinstance(named, str) or named.count(":") != 1:
        raise ValueError(f"expected {{score: module:function}}; got {argument!r}")
    score: Score = import_callable(named)
    return score


def _share_passed(scenario: Scenario, trace: AgentTrace) -> float:
    built = _built(canonical_json([spec.model_dump(mode="json") for spec in scenario.evaluators]))
    checks = [evaluator.evaluate(scenario, trace) for evaluator in built]
    return sum(check.passed for check in checks) / len(checks)


@lru_cache(maxsize=64)  # judged once for each run of each pair
def _built(specs: str) -> tuple[Evaluator, ...]:
    return build_all(EvaluatorSpec.model_validate(spec) for spec in json.loads(specs))
