"""The conditions of instructions: "if the lamp is broken or ...", "more than 30 days", "unless ..."."""

import re
from functools import lru_cache
from typing import NamedTuple, Protocol

from agentmut.simulator.mind.facts import Fact
from agentmut.simulator.mind.language import Topics, Weights, negated, ramp, topics

# Verbs of saying and wanting, and words like "already", tell nothing about the matter:
# "if somebody mentions a lamp" is about lamps.
_IDLE = topics(
    "mention says said ask asks want wants request report claim threaten tell state write need wish like user"
    " already yet someone somebody anyone anybody everyone everybody person people something anything else case"
    " concern regard"
)
_ABOVE = (
    r"over|above|more than|exceed(?:s|ing)?|greater than|higher than|older than|longer than|at least|after"
    r"|beyond"
)
_BELOW = r"under|below|less than|fewer than|lower than|cheaper than|within|at most|up to|before|no more than"
_COMPARISON = re.compile(
    rf"\b(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW}))\s+[$€£]?\s?(?P<number>\d+(?:\.\d+)?)[$€£]?",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    rf"(?<!\s)\s*+\b(?:{_ABOVE}|{_BELOW})\s+[$€£]?\s?\d+(?:\.\d+)?.*?(?=(?<!\s)\s++(?:to|with|by|via|from|and|or)\b|[,;]|$)",
    re.IGNORECASE,
)
_OR = re.compile(r"(?:,|(?<!\s))\s++or\s+|,\s+", re.IGNORECASE)
_AND = re.compile(r"(?:,|(?<!\s))\s++and\s+", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"\b(?:in doubt|unsure|uncertain|not (?:sure|certain|covered|know)|(?:don['’]t|do not|cannot|can['’]t) "
    r"(?:know|answer|find (?:an|the) answer|help)|no (?:answer|information)|unable to (?:answer|help))\b",
    re.IGNORECASE,
)
_LOW, _HIGH = 0.2, 0.5  # share of a condition's topics that must be in the conversation


class Evidence(Protocol):
    """The evidence for judging a condition."""

    @property
    def weights(self) -> Weights:
        """Return how telling topics are."""
        ...

    @property
    def numbers(self) -> tuple[Fact, ...]:
        """Return the known quantities."""
        ...

    @property
    def known(self) -> Topics:
        """Return what the conversation is about."""
        ...

    @property
    def puzzled(self) -> bool:
        """Return whether no known fact fits the last message."""
        ...

    def done(self, phrase: str) -> bool | None:
        """Return whether the step in `phrase` was carried out; None if it names no known step."""
        ...


class Comparison(NamedTuple):
    """A number that some quantity lies above or below."""

    above: bool
    number: float
    topics: Topics

    def holds(self, numbers: tuple[Fact, ...]) -> bool:
        """Return whether the most similar quantity satisfies the comparison; False if none is known."""
        overlaps = [(len(self.topics & fact.topics), index) for index, fact in enumerate(numbers)]
        best, index = max(overlaps, default=(0, 0))
        number = numbers[index].number if best else None
        return number is not None and (number > self.number if self.above else number < self.number)


class Test(NamedTuple):
    """One part of a condition."""

    topics: Topics
    negated: bool = False
    comparison: Comparison | None = None
    done: str | None = None
    """A step that must have been carried out, where it is known; otherwise the topics count."""
    unknown: bool = False
    """The answer must be lacking: "if you are not sure"."""

    def degree(self, evidence: Evidence) -> float:
        """Return how surely the part holds, from 0 to 1."""
        if self.unknown:
            return float(evidence.puzzled)
        done = None if self.done is None else evidence.done(self.done)
        if done is not None:
            return float(done)
        if self.comparison is not None:
            return float(self.comparison.holds(evidence.numbers))
        found = ramp(evidence.weights.share(self.topics, evidence.known), _LOW, _HIGH)
        return 1.0 - found if self.negated else found


class Condition(NamedTuple):
    """Alternatives; each is a list of tests that must all hold."""

    text: str
    alternatives: tuple[tuple[Test, ...], ...]
    inverted: bool = False

    def degree(self, evidence: Evidence) -> float:
        """Return how surely the condition holds, between 0 and 1."""
        degrees = (min(test.degree(evidence) for test in tests) for tests in self.alternatives)
        held = max(degrees, default=0.0)
        return 1.0 - held if self.inverted else held


@lru_cache(maxsize=4_096)
def condition(words: str, *, inverted: bool = False, done: bool = False) -> Condition:
    """Return the condition in these words; with `done`, it waits for a step to be carried out.

    >>> [len(tests) for tests in condition("the lamp is old and dim, or broken").alternatives]
    [2, 1]
    """
    alternatives = (_tests(part, done) for part in _OR.split(words) if part.strip())
    return Condition(words, tuple(tests for tests in alternatives if tests), inverted)


def comparison_in(words: str) -> Comparison | None:
    """Return the first comparison with a number in a text."""
    match = _COMPARISON.search(words)
    if match is None:
        return None
    around = f"{words[: match.start()]} {words[match.end() :]}"
    return Comparison(match["above"] is not None, float(match["number"]), _about(around))


def without_comparison(words: str) -> str:
    """Return a step without the quantity in its condition.

    >>> without_comparison("hand claims above 90 lumen a lamp to somebody else")
    'hand claims to somebody else'
    """
    return _QUANTITY.sub("", words)


def _tests(words: str, done: bool) -> tuple[Test, ...]:
    tests = (
        Test(_about(part), unknown=True)
        if _UNKNOWN.search(part)
        else Test(_about(part), negated(part), comparison_in(part), part if done else None)
        for part in _AND.split(words)
    )
    return tuple(test for test in tests if test.topics or test.comparison or test.unknown)


def _about(words: str) -> Topics:
    return topics(words) - _IDLE
