"""Careless writing: the same request with slips, another case, odd spacing and punctuation, fillers, emoji."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import ClassVar

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.language import BASE_VERBS, STOP_WORDS, Span, merged, splits, word_set
from agentmut.nouns import Family
from agentmut.relations.invariants import RewordedTurn, some_kinds
from agentmut.relations.turns import Change, Turn, lowered, said
from agentmut.seams import RelationExample, answer, example

_SHIPPED = shipped("agentmut.relations.perturbation", "wording")
_COMMON: Mapping[str, str] = _SHIPPED["slips"]
"""Slips of words that carry little of what is asked."""
_WORD = re.compile(r"(?<![\w'’@./-])[A-Za-z]{6,}(?![\w'’@/-])")
_SHORT = re.compile(r"(?<![\w'’@./-])[a-z]{3,10}(?![\w'’@/-])")
_DELICATE = re.compile(r"count|shift|pass|publ|assign|analy", re.I)  # a slip in these may make a rude word
_OTHER_WORDS = word_set(_SHIPPED["words_one_slip_apart"])
"""Words that are one slip from another word."""


def slips(turn: Turn) -> Iterator[Change]:
    """Yield every word of the turn that can be mistyped, one slip or two for each; fixed text is left alone."""
    for match in _SHORT.finditer(turn.text):
        mistyped = _COMMON.get(match.group())
        if mistyped and turn.may_change(*match.span()):
            yield _change(match, mistyped)
    for match in _WORD.finditer(turn.text):
        word = match.group()
        plain = word.lower() not in _OTHER_WORDS and not _DELICATE.search(word)
        if plain and word[1:].islower() and turn.may_change(*match.span()):
            yield from (_change(match, mistyped) for mistyped in _mistyped(word))


def _change(match: re.Match[str], mistyped: str) -> Change:
    return Change(*match.span(), mistyped, f"{said(match.group())} mistyped as {said(mistyped)}")


def _mistyped(word: str) -> Iterator[str]:
    """Yield slips of a word: two letters in its middle change places, or a vowel is doubled. None is a word."""
    for at in range(2, len(word) - 2):
        one, two = word[at], word[at + 1]
        if one != two and word[at - 1] != two and (one in "aeiou") != (two in "aeiou"):
            yield f"{word[:at]}{two}{one}{word[at + 2 :]}"
            break
    vowel = next(
        (
            at
            for at in range(1, len(word) - 1)
            if word[at] in "aiu" and word[at - 1 : at + 2].count(word[at]) == 1
        ),
        None,
    )
    if vowel:
        yield f"{word[:vowel]}{word[vowel]}{word[vowel:]}"


_BLANK = re.compile(r"(?<=\S) (?=\S)")
_OPEN_QUESTION = re.compile(
    r"(?:hi|hello|hey)?,? ?"
    r"(?:what|when|where|which|who|whose|why|how|until when|can|could|do|does|is|are|will|would)\b",
    re.I,
)
_APOSTROPHES = re.compile(r"\b(?:do|does|did|is|was|have|has|are|should|would|could)n['’]t\b", re.I)
_POLITE_COMMA = re.compile(r",(?= please\b)|(?<=\bplease),(?= )|(?<=^Hi),|(?<=^Hello),|(?<=^Hey),", re.I)
_GREETED = re.compile(
    r"\s*(?:hi|hello|hey|dear|good (?:morning|day|evening|afternoon)|um|so|well|ok)\b", re.I
)
_FILLERS = ("Um, ", "So, ", "Well, ", "Uh, ", "Hmm, ", "So basically, ", "So yeah, ")
"""Nothing that consents: after a question of the agent, "Okay" would be an answer."""
_PAUSES = ("uh", "um", "well", "you know")
_SUBJECT = re.compile(r"\b(?:I|we) (?:would|want|need|have|am|was|found|got)(?= [a-z])")
_SMILES = (
    "\N{SLIGHTLY SMILING FACE}", "\N{PERSON WITH FOLDED HANDS}", "\N{SMILING FACE WITH SMILING EYES}", ":)",
    "\N{SMILING FACE WITH OPEN MOUTH}",
)  # fmt: skip
_WAVE = "\N{WAVING HAND SIGN} "


_VALUE = re.compile(
    r"\b(?P<lead>(?:is|are|was|named|called|labelled|titled|as|word|term|phrase|function|method|class|variable|command"
    r"|user ?name|nickname|login|password|passphrase|status|file|folder|directory|branch|tag|label|key|field|column"
    r"|host|server|account|name|priority|mode|level|code)s?:?|to)(?=\s+(?P<value>[a-z][\w-]*))",
    re.I,
)
"""Words after which a word may be a value, such as a name or a state."""
_NO_CAPITALS = re.compile(r"(?<![\w'’])i(?![\w'’.-])|\A[^A-Z]*\Z")
"""A user who writes no capitals: a name looks like any other word then."""
_ITEM = re.compile(r"[ \t]*(?:[-*•]|\(?\w{1,2}[.)])(?:[ \t]|\Z)")


def _with_values_fixed(turn: Turn) -> Turn:
    """Return the turn with more that must stay: words that may be values."""
    found = [
        Span(*match.span("value"))
        for match in _VALUE.finditer(turn.text)
        if match["value"] not in STOP_WORDS
        and not (match["lead"].lower() == "to" and match["value"] in BASE_VERBS)
    ]
    return turn._replace(fixed=merged([*turn.fixed, *found]))


def _case(turn: Turn) -> Iterator[Change]:
    """Yield the turn in lower case, in upper case, and with single words that lost their capital. Fixed text stays."""
    everything = (str.lower, "all in small letters"), (str.upper, "all in capital letters")
    for change, what in everything:
        new = _outside(turn, change)
        if new != turn.text:
            yield Change(0, len(turn.text), new, what)
    for match in re.finditer(r"\bI\b(?!['’.-])|(?<![\w-])[A-Z](?=[a-z]+)", turn.text):
        if turn.may_change(*match.span()):
            word = re.compile(r"[\w'’]+").match(turn.text, match.start())
            yield Change(
                *match.span(), match.group().lower(), f"no capital in {said(word.group() if word else '')}"
            )


def _outside(turn: Turn, change: Callable[[str], str]) -> str:
    """Apply a change to all text that is not fixed."""
    edges = [0, *(edge for span in turn.fixed for edge in span), len(turn.text)]
    pieces = [turn.text[start:end] for start, end in pairwise(edges)]
    return "".join(piece if number % 2 else change(piece) for number, piece in enumerate(pieces))


def _spacing(turn: Turn) -> Iterator[Change]:
    for match in _BLANK.finditer(turn.text):
        if turn.may_change(*match.span()):
            yield Change(*match.span(), "  ", "a second blank")
    ends = [span.end for span in turn.sentences if span.end < len(turn.text)]
    yield from (
        Change(end, end + 1, "\n", "a line break after a sentence")
        for end in ends
        if turn.text[end] == " " and turn.may_change(end, end + 1)
    )
    yield Change(0, 0, " ", "a blank before it")
    yield Change(len(turn.text), len(turn.text), "  ", "blanks after it")


def _punctuation(turn: Turn) -> Iterator[Change]:
    for span in turn.sentences:
        end, text = span.end, turn.text[span.start : span.end]
        last = text[-1]
        if last not in ".!?" or not turn.may_change(end - 1, end) or text[-2:-1] in ".!?":
            continue
        final = end == len(turn.text.rstrip())
        if final and (last != "?" or _OPEN_QUESTION.match(text)):
            yield Change(end - 1, end, "", f"no {said(last)} at the end")
        more = {".": ("...", "!"), "!": ("!!", "."), "?": ("??", "?!")}[last]
        if turn.may_change(end - 2, end - 1):  # "A-1007..." may be read as another name
            yield from (Change(end - 1, end, other, f"{said(other)} for {said(last)}") for other in more)
    for match in _APOSTROPHES.finditer(turn.text):
        plain = match.group().replace("'", "").replace("’", "")
        if not splits(turn.document.protected, match.start() + 1):
            yield Change(*match.span(), plain, f"{said(plain)} without its apostrophe")
    for match in _POLITE_COMMA.finditer(turn.text):
        if turn.may_change(*match.span()):
            yield Change(*match.span(), "", "a comma less")


def _filler(turn: Turn) -> Iterator[Change]:
    for span in turn.sentences:
        text = turn.text[span.start : span.end]
        if _GREETED.match(text) or _is_item(turn, span) or turn.document.protects(span.start, span.start + 1):
            continue
        first = text.split()[0]
        for filler in _FILLERS:
            new = f"{filler}{lowered(first)}"
            yield Change(
                span.start, span.start + len(first), new, f"{said(filler.strip(' ,'))} before a sentence"
            )
    for match in _SUBJECT.finditer(turn.text):
        if turn.may_change(*match.span()):
            yield from (
                Change(match.end(), match.end(), f", {pause},", f"{said(pause)} in the middle")
                for pause in _PAUSES
            )


def _is_item(turn: Turn, span: Span) -> bool:
    """Return whether a sentence is, or stands in, an item of a list."""
    line = turn.text[turn.text.rfind("\n", 0, span.start) + 1 : span.end]
    return _ITEM.match(line) is not None


def _emoji(turn: Turn) -> Iterator[Change]:
    for span in turn.sentences:
        if not turn.document.protects(span.end - 1, span.end) and not _is_item(turn, span):
            yield from (Change(span.end, span.end, f" {smile}", "an emoji") for smile in _SMILES)
    if turn.number == 0:
        yield Change(0, 0, _WAVE, "a waving hand before it")


_KINDS: Mapping[str, Callable[[Turn], Iterator[Change]]] = MappingProxyType(
    {
        "typos": slips,
        "case": _case,
        "spacing": _spacing,
        "punctuation": _punctuation,
        "filler": _filler,
        "emoji": _emoji,
    }
)


_BY_LETTERS = ("typos", "case")
"""Kinds that change the letters of words."""


class Noise(RewordedTurn):
    """A turn is written carelessly. The argument is a kind of noise or a list of kinds; all when left out.

    Names, identifiers, figures, addresses, negations and quoted text stay as they are.
    """

    id: ClassVar[str] = "perturbation.noise"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "Users type carelessly, and the agent does something else for it."
    most: ClassVar[int] = 3
    nothing: ClassVar[str] = "no turn has anything that could be written carelessly in the ways asked for"

    def __init__(self, argument: JsonValue = None) -> None:
        self._kinds = some_kinds(argument, tuple(_KINDS), tuple(_KINDS))

    def changes(self, turn: Turn) -> Iterable[Sequence[Change]]:
        """Return one group for each kind of noise."""
        careful = _with_values_fixed(turn)
        names_told = not _NO_CAPITALS.search(turn.text)
        return [tuple(_KINDS[kind](careful)) for kind in self._kinds if names_told or kind not in _BY_LETTERS]

    def examples(self) -> Iterable[RelationExample]:
        """Yield a question with a fee for an answer."""
        question = "Please tell me which fee is open on my card R-4712."
        before = answer("A fee of 4 euros is open.")
        yield example(question, before, answer("There is an open fee of 4 euros."), True)
        yield example(question, before, answer("No fee is open."), False)
