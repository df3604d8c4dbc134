"""Relations on the order of questions and of options in a request."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import ClassVar

from agentmut.language import Span, splits
from agentmut.nouns import AgentConfig, Family, FollowUp, Scenario, Source
from agentmut.relations.invariants import Invariant, reworded
from agentmut.relations.refers_back import refers_back
from agentmut.relations.turns import Change, Turn, lack_of_turns, turns_of
from agentmut.seams import RelationExample, answer, example

_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|him|her|his|hers|there|then|ones?|same|other|others"
    r"|another|also|else|too|instead|otherwise|so|such|either|both|neither|first|second|third|last|next|finally"
    r"|previous|former|latter|again|still|yet|why not|how come|if so|if not|what about|how about)\b"
    r"|^(?:and|or|but|plus|because|since)\b",
    re.I,
)
_CHOICE = re.compile(
    r"\b(?:which|choose|pick|select|options?|prefer|recommend|either|better|best|one of)\b", re.I
)
_IN_ORDER = re.compile(r"\b(?:first|last|second|third|top|bottom|order|in turn|steps?|rank)\b", re.I)
_PLACED = re.compile(
    r"\b(?:first|last|second|third|former|latter|then|next|after(?:wards)?|before|order|in turn|respectively|preference"
    r"|preferably|ideally|priority|prefer(?:red)? (?:them|these|those)|rank\w*|top|in that|as (?:listed|given)"
    r"|(?:one|option|choice) (?:on|at) the|otherwise|if not|failing)\b",
    re.I,
)
"""Words by which the place of an option may be meant. "The next week" too: it is better to leave it."""
_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[A-Za-z])[.)])[ \t]+\S[^\n]*$", re.M)
_LABEL_SPOKEN_OF = re.compile(r"\b(?:above|below|previous|former|latter|first|last|next|then)\b", re.I)
_TOKEN = r"(?:(?!I\b)[A-Z][\w-]*|\"[^\"\n]{1,40}\"|'[^'\n]{1,40}')"
_OF_LONGER = re.compile(r"\b[A-Z][\w-]* $")
_LISTED = re.compile(rf"(?<![\w-]){_TOKEN}(?:, {_TOKEN}){{0,50}},? or {_TOKEN}(?=[.,;:?!)]|\s*$)")
_TOKENS = re.compile(_TOKEN)
_DETERMINED = re.compile(
    r"\b(?P<det>the|a|an|my) [a-z-]+(?: [a-z-]+)?(?:, (?P=det) [a-z-]+(?: [a-z-]+)?){0,50}"
    r",? or (?P=det) [a-z-]+(?: [a-z-]+)?(?=[.,;:?!)]|\s*$)"
)
_IDIOM = re.compile(r"\b(?:day|hour|week|minute|month|couple|moment|not|so|more|less|later|two)\b", re.I)
_VERBISH = re.compile(
    r"\b(?:i|you|we|they|is|are|was|do|does|have|has|can|will|to|for|of|with|in|on|at)\b", re.I
)


class IndependentQuestions(Invariant):
    """Several questions of one turn that do not refer to each other come in another order."""

    id: ClassVar[str] = "permutation.question_order"
    family: ClassVar[Family] = Family.PERMUTATION
    why: ClassVar[str] = (
        "Of several questions the agent answers those in a certain place: the others go under."
    )

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the order cannot change, in a phrase; empty if it can."""
        if why := lack_of_turns(scenario):
            return why
        return "" if any(_questions(turn) for turn in _turns(scenario, config)) else (
            "no turn asks several questions that are sure to be independent of each other"
        )  # fmt: skip

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the questions of one turn in another order."""
        found = [(t, spans) for t in _turns(source.scenario, source.config) if (spans := _questions(t))]
        if not found:
            return None
        turn, spans = source.rng.choice(found)
        return _permuted(source, turn, spans, "questions")

    def examples(self) -> Iterable[RelationExample]:
        """Yield two questions that change places."""
        asked = "When do you open on Mondays? What does a new card cost?"
        source_answer = answer("We open at 9:00. A new card costs 5 euros.")
        yield example(asked, source_answer, answer("A new card costs 5 euros, and we open at 9:00."), True)
        yield example(asked, source_answer, answer("A new card costs 5 euros."), False)


class OptionOrder(Invariant):
    """Options that the user lists come in another order."""

    id: ClassVar[str] = "permutation.option_order"
    family: ClassVar[Family] = Family.PERMUTATION
    why: ClassVar[str] = "The agent picks an option for its place: the first one, or the last."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the order cannot change, in a phrase; empty if it can."""
        if why := lack_of_turns(scenario):
            return why
        listed = any(_option_lists(turn) for turn in _turns(scenario, config))
        return "" if listed else "no turn lists options to choose from"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return one list of options in another order. A line of a list keeps its number or letter."""
        found = [(t, lists) for t in _turns(source.scenario, source.config) if (lists := _option_lists(t))]
        if not found:
            return None
        turn, lists = source.rng.choice(found)
        return _permuted(source, turn, source.rng.choice(lists), "options")

    def examples(self) -> Iterable[RelationExample]:
        """Yield a choice between plans."""
        asked = "Which plan includes the export: Basic, Pro or Enterprise?"
        source_answer = answer("The export costs 20 euros a month and needs the plan Pro.")
        yield example(asked, source_answer, answer("Take Pro: the export is 20 euros a month."), True)
        yield example(asked, source_answer, answer("Take Basic: the export is 5 euros a month."), False)


def _turns(scenario: Scenario, config: AgentConfig) -> Iterator[Turn]:
    """Yield the turns after which no turn refers to places: "The first one, please"."""
    for turn in turns_of(scenario, config):
        if not any(_PLACED.search(str(later)) for later in scenario.turns[turn.number + 1 :]):
            yield turn


def _permuted(source: Source, turn: Turn, spans: Sequence[Span], items_named: str) -> FollowUp:
    texts = [turn.text[span.start : span.end] for span in spans]
    after = _shuffled(texts, source.rng)
    moved = [
        Change(span.start, span.end, new, f"{items_named} in another order")
        for span, old, new in zip(spans, texts, after, strict=True)
        if old != new
    ]
    return reworded(source.scenario, turn, moved)


def _shuffled(texts: list[str], rng: Random) -> list[str]:
    order = texts
    while order == texts:
        order = rng.sample(texts, len(texts))
    return order


def _questions(turn: Turn) -> tuple[Span, ...]:
    """Return the questions of a turn that may change places; empty if fewer than two are independent."""
    instructions = turn.document.instructions
    spans = [Span(one.start, one.end) for one in instructions if one.text.rstrip().endswith("?")]
    texts = [turn.text[span.start : span.end] for span in spans]
    if len(spans) < 2 or len(set(texts)) < 2 or any(len(text.split()) < 3 for text in texts):
        return ()
    others = [one.text for one in instructions if not one.text.rstrip().endswith("?")]
    contiguous = not any(
        spans[0].end <= one.start < spans[-1].start for one in instructions if one.text in others
    )
    after = [one.text for one in instructions if one.start > spans[-1].start]
    if not contiguous or any(_POINTS.search(text) for text in (*texts, *after)):
        return ()
    if any(splits(turn.document.protected, edge) for span in spans for edge in span):
        return ()
    return (
        () if any(refers_back(text, _but(texts, index)) for index, text in enumerate(texts)) else tuple(spans)
    )


def _but(texts: Sequence[str], index: int) -> list[str]:
    return [text for number, text in enumerate(texts) if number != index]


def _option_lists(turn: Turn) -> list[tuple[Span, ...]]:
    """Return lists of two options or more, each as the spans that may change places."""
    return [*_in_lines(turn), *_in_a_sentence(turn)]


def _in_lines(turn: Turn) -> Iterator[tuple[Span, ...]]:
    runs: list[list[Span]] = []
    for match in _ITEM_LINE.finditer(turn.text):
        span = Span(*match.span())
        follows = bool(runs) and turn.text[runs[-1][-1].end : span.start] in ("\n", "\r\n")
        runs[-1].append(span) if follows else runs.append([span])
    for run in runs:
        texts = [turn.text[span.start : span.end] for span in run]
        ordered = any(_LABEL_SPOKEN_OF.search(text) for text in texts)
        around = turn.text[: run[0].start] + turn.text[run[-1].end :]
        # Lines keep their labels: out of order, they say the same to a reader who chooses by what they say.
        if len(set(texts)) > 1 and not ordered and _CHOICE.search(around) and not _IN_ORDER.search(around):
            yield tuple(run)


def _in_a_sentence(turn: Turn) -> Iterator[tuple[Span, ...]]:
    if _PLACED.search(turn.text):
        return
    for match in _LISTED.finditer(turn.text):
        spans = [
            Span(match.start() + m.start(), match.start() + m.end()) for m in _TOKENS.finditer(match.group())
        ]
        begin = match.start()
        if not _OF_LONGER.search(turn.text, max(0, begin - 60), begin):  # "New York, Paris or Rome"
            yield from _unchanged(turn, match, spans)
    for match in _DETERMINED.finditer(turn.text):
        if not _IDIOM.search(match.group()) and not _VERBISH.search(match.group()):
            yield from _unchanged(turn, match, list(_parts(match)))


def _parts(match: re.Match[str]) -> Iterator[Span]:
    text, at = match.group(), match.start()
    edges = [(0, 0), *(m.span() for m in re.finditer(r",? or |, ", text)), (len(text), len(text))]
    for (_, start), (end, _) in pairwise(edges):
        yield Span(at + start, at + end)


def _unchanged(turn: Turn, match: re.Match[str], spans: Sequence[Span]) -> Iterator[tuple[Span, ...]]:
    texts = {turn.text[span.start : span.end] for span in spans}
    cut = any(splits(turn.document.protected, edge) for edge in match.span())
    if len(texts) == len(spans) > 1 and not cut:
        yield tuple(spans)
