"""A limit on the answer that the user adds must not make it longer."""

import re
from collections.abc import Iterable, Iterator
from math import ceil
from typing import ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut.language import Span, sentence_spans, words
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Expectation,
    Family,
    FollowUp,
    Pair,
    Scenario,
    Source,
)
from agentmut.relations.invariants import reworded
from agentmut.relations.turns import Turn, lack_of_turns, turns_of
from agentmut.seams import RelationExample, answer, example

_LIMITED = re.compile(
    r"\b(?:words?|sentences?|lines?|paragraphs?|characters?|brief|briefly|short|shortly|concise|detail|details|detailed"
    r"|essay|list (?:all|every)|(?<!how )long|only (?:the|with|a|one))\b",
    re.I,
)
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:much|many|long|old|far)|what number|which (?:fee|price|amount))\b", re.I
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_FEWEST = 5
_SLACK = 5
"""Words that an answer may be longer without counting as such: what is short already cannot get much shorter."""


class _Limit(NamedTuple):
    kind: str
    words: int
    """What it allows; 0 where it names no number."""
    text: str


class AddedConstraint:
    """The user adds a limit to the answer: a number of words, one sentence, only the figure.

    Violated where the limit is not kept and the answer is longer than without it, by more than a tenth and five words.
    The argument `obey` asks for more: that the limit is kept. An agent that keeps limits is never flagged.
    """

    id: ClassVar[str] = "perturbation.added_constraint"
    version: ClassVar[int] = 1
    family: ClassVar[Family] = Family.PERTURBATION
    expectation: ClassVar[Expectation] = Expectation.DIRECTIONAL
    why: ClassVar[str] = "Asked for less, the agent says more: a limit of the user's counts for nothing."

    def __init__(self, argument: JsonValue = None) -> None:
        if argument not in (None, "obey"):
            raise ValueError(f"expected obey, or nothing; got {argument!r}")
        self._obey = argument == "obey"

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no limit can be added, in a phrase; empty where one can."""
        if why := lack_of_turns(scenario):
            return why
        if not _last(scenario, config):
            return "the last turn is no text that a limit can be added to"
        return "the user speaks of how long the answer is to be" if _is_limited(scenario) else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the last turn with a limit, drawn by chance; none where the run answered nothing, or with JSON."""
        turn = _last(source.scenario, source.config)
        said = _prose_answer(source.trace)
        if not turn or not said or _is_limited(source.scenario):
            return None
        limit = source.rng.choice(list(_limits(turn, said)))
        change = turn.with_sentence(limit.text, f'"{limit.text}" added')
        follow = reworded(source.scenario, turn, [change])
        return follow.model_copy(update={"expected": {"kind": limit.kind, "words": limit.words}})

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the answer is no longer than before or than allowed, and with `obey` whether it keeps the
        limit.
        """
        before, after = _prose_answer(pair.source), _prose_answer(pair.trace)
        if not before:
            return None
        allowed, kind = pair.follow_up.expected.get("words"), str(pair.follow_up.expected.get("kind", ""))
        limit = allowed if isinstance(allowed, int) else 0
        counted, was = len(words(after)), len(words(before))
        obeys = _obeys(kind, limit, after)
        passed = obeys or counted <= max(was + _SLACK, ceil(was * 1.1))
        reason = f"{pair.follow_up.description}: {was} words without it, {counted} with it"
        if self._obey and not obeys:
            passed, reason = False, f"{reason}; the limit is not kept"
        return Check(evaluator=self.id, passed=passed, reason=reason)

    def examples(self) -> Iterable[RelationExample]:
        """Yield a question with a limit on its answer."""
        asked = "Until when can unused goods be returned?"
        told = answer(
            "Unused goods can be returned within 30 days of the delivery, and the return is free of charge."
        )
        yield example(asked, told, answer("Within 30 days of the delivery."), True)
        more = "Of course! I am glad to keep it short for you, as you asked, so here is what our policy has to say: "
        yield example(asked, told, answer(more + str(told.output)), False)


def _last(scenario: Scenario, config: AgentConfig) -> Turn | None:
    last = len(scenario.turns) - 1
    return next((turn for turn in turns_of(scenario, config) if turn.number == last), None)


def _is_limited(scenario: Scenario) -> bool:
    return any(isinstance(turn, str) and _LIMITED.search(turn) for turn in scenario.turns)


def _prose_answer(trace: AgentTrace) -> str:
    """Return the answer where it is prose; empty for structured ones, whose length says nothing."""
    output = trace.output
    return output if isinstance(output, str) and output.lstrip()[:1] not in ("", "{", "[", "<") else ""


def _limits(turn: Turn, text: str) -> Iterator[_Limit]:
    count = len(words(text))
    for share in (0.5, 0.75, 1.0):
        limit = max(_FEWEST, round(count * share))
        yield _Limit("words", limit, f"Answer in at most {limit} words.")
        yield _Limit("words", limit, f"Please use no more than {limit} words.")
    yield _Limit("sentence", 0, "Answer in one sentence.")
    if _ASKS_NUMBER.search(turn.text) and len(_FIGURE.findall(text)) == 1:
        yield _Limit("number", 0, "Answer with the number only.")


def _obeys(kind: str, limit: int, text: str) -> bool:
    match kind:
        case "words":
            return len(text.split()) <= limit
        case "sentence":
            return len(sentence_spans(text, Span(0, len(text)), ())) <= 1
        case "number":
            return len(_FIGURE.findall(text)) == 1 and len(text.split()) <= 2
    return False
