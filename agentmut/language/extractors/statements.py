"""Read from answers what they affirm and what they deny."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut.language.extractors.figures import leaf_texts
from agentmut.language.extractors.leaves import leaves
from agentmut.language.extractors.stability import MOST_NEW, NEARLY_ALL
from agentmut.language.extractors.value_facts import is_free
from agentmut.language.vocabulary.predicates import Statement, statements
from agentmut.nouns import AgentTrace, Extractor, Fact, Scenario

FEWEST_MENTIONS = 2
"""The fewest original runs that must say a word before its contrary is news."""
_SHOWN = 3
Word = tuple[str, str]
"""The tool in whose call a word stands (empty for answers), and the word's stem."""


class Assertions(NamedTuple):
    """What a run affirms and denies."""

    named: frozenset[tuple[Word, bool]]
    """Every word, and whether it is affirmed."""
    firm: Mapping[tuple[Word, bool], str]
    """The words that state something -> the word as it is written."""


class UsualAssertions(NamedTuple):
    """What runs of the unchanged agent affirm and deny."""

    mentions: Mapping[tuple[Word, bool], int]
    """The number of runs that affirm or deny each word."""
    enough: int
    """The number of runs that must agree on a word before its contrary is news."""
    settled: frozenset[Word] = frozenset()
    """Words that nearly all runs affirm or deny, and no run does both."""

    def is_news(self, word: Word, holds: bool) -> bool:
        """Return whether no run says this, and enough runs say the contrary."""
        return not self.mentions.get((word, holds)) and self.mentions.get((word, not holds), 0) >= self.enough


class Statements:
    """`statements`: what one run affirms and the other denies, word by word: *has shipped, has not shipped*.

    Only a contradiction makes a difference, never a word that is missing. A contrary that the unchanged agent's own
    runs never say is one where enough of those runs say the opposite: as many as it takes for at most 5 % of these
    runs to contradict the others.
    """

    name: ClassVar[str] = "statements"

    def __init__(self, argument: JsonValue = None, usual: UsualAssertions | None = None) -> None:
        if argument is not None:
            raise ValueError(f"takes no argument, got {argument!r}; write `- {self.name}`")
        self.usual = usual

    @property
    def says_something(self) -> bool:
        """Return whether the contrary of some word would make a difference."""
        return self.usual is None or any(count >= self.usual.enough for count in self.usual.mentions.values())

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return no facts: a statement counts only against its contrary."""
        return frozenset()

    def calibrated(self, scenario: Scenario, sources: tuple[AgentTrace, ...]) -> Extractor:
        """Return the extractor, calibrated with what these runs affirm and deny."""
        return Statements(usual=_usual([assertions(trace) for trace in sources]))

    def difference(self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace) -> str:
        """Return what the follow-up contradicts, in words."""
        before, after = assertions(source), assertions(follow_up)
        new = {key: text for key, text in after.firm.items() if key not in before.named}
        usual = self.usual or _alone(before, after)
        found = [_phrase(text, key) for key, text in sorted(new.items()) if usual.is_news(*key)]
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        return ", ".join((*found[:_SHOWN], *more))

    def contradictions(self, trace: AgentTrace, other: AgentTrace) -> tuple[str, ...]:
        """Return what one run affirms and the other denies, among the words that every usual run settles."""
        first, second = assertions(trace).firm, assertions(other).firm
        settled = self.usual.settled if self.usual else frozenset()
        return tuple(
            _phrase(second[word, not holds], (word, not holds))
            for word, holds in sorted(first)
            if word in settled and (word, not holds) in second
        )


def assertions(trace: AgentTrace) -> Assertions:
    """Return what a run affirms and denies in its answers, and in the longer texts that it gives to tools."""
    found = [((place, one.word), one) for place, text in _texts(trace) for one in _statements(text)]
    return Assertions(
        frozenset((word, one.holds) for word, one in found),
        {(word, one.holds): one.written for word, one in found if one.firm},
    )


def _texts(trace: AgentTrace) -> Iterator[tuple[str, str]]:
    for text in leaf_texts(trace):
        yield "", text
    for step in trace.tool_calls:
        for _, value in leaves(step.arguments or {}):
            if isinstance(value, str) and is_free(value):
                yield step.tool or "", value


@lru_cache(maxsize=512)  # every relation reads the same source runs again
def _statements(text: str) -> tuple[Statement, ...]:
    return tuple(statements(text))


def _usual(runs: Sequence[Assertions]) -> UsualAssertions:
    mentions = Counter(one for run in runs for one in run.named)
    against = [_contradicted(run, mentions) for run in runs]
    most = int(MOST_NEW * len(runs))
    enough = sorted(against, reverse=True)[most] + 1
    return UsualAssertions(mentions, max(FEWEST_MENTIONS, enough), frozenset(_settled(runs)))


def _settled(runs: Sequence[Assertions]) -> Iterator[Word]:
    both = {word for run in runs for word, holds in run.named if (word, not holds) in run.named}
    spoken = Counter(word for run in runs for word in {word for word, _ in run.named})
    return (word for word, count in spoken.items() if count >= NEARLY_ALL * len(runs) and word not in both)


def _contradicted(run: Assertions, mentions: Mapping[tuple[Word, bool], int]) -> int:
    """Return how many runs say the contrary of something that only this run says, at most."""
    alone = (key for key in run.firm if mentions[key] == 1)
    return max((_contraries(word, holds, run, mentions) for word, holds in alone), default=0)


def _contraries(word: Word, holds: bool, run: Assertions, mentions: Mapping[tuple[Word, bool], int]) -> int:
    return mentions.get((word, not holds), 0) - ((word, not holds) in run.named)


def _alone(source: Assertions, follow_up: Assertions) -> UsualAssertions:
    """Return what is usual when no other runs are known: whatever the source says and the follow-up does not."""
    return UsualAssertions(Counter(source.named - follow_up.named), 1)


def _phrase(text: str, key: tuple[Word, bool]) -> str:
    (tool, _), holds = key
    where = f" to {tool}" if tool else ""
    return f"{text!r} is {'affirmed' if holds else 'denied'}{where} only in the follow-up"
