"""Split text into sentences, as spans of the original text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from agentmut.language.prompt.spans import Span, splits

_ABBREVIATIONS = """
e.g i.e eg ie cf vs viz approx incl excl min max no nos fig figs sec secs ch eq vol pp par para ver
mr mrs ms dr prof st jr sr gen col sgt rev hon dept est tel ext resp ca
jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat
z.b d.h u.a bzw usw ggf
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""Never end a sentence. Without their last full stop, in lower case."""

CLOSING_ABBREVIATIONS = frozenset(["etc", "inc", "ltd", "co", "corp", "p.m", "a.m", "u.s", "u.k", "al"])
"""May end a sentence: they do unless the next word is in lower case or a number."""

_ENDING = re.compile(r"[.!?](?=[\s\"'”’)\]}*_`])")
_WIDE_ENDING = re.compile(r"[。！？｡؟।]+[”’」』）)\"]*")
_CLOSERS = re.compile(r"[*_`\"')\]}”’»」』]*(?=\s|$)")
_TAG_ENDING = re.compile(
    r"(?<=[.!?])(?:</[^<>]{1,80}>|\{%[^%{}]{1,80}%\})(?=\s)|</[^<>]{1,80}>(?=\s*<[A-Za-z])"
)
_ENUMERATOR = re.compile(r"\s*\(?(?:\d{1,2}|[a-z])[.)]\s*$")
_FIRST_NUMBER = re.compile(r"[:;]\s*\(?\d{1,2}[.)]$")
_DAY = re.compile(r"(?<!\d)[0-3]?\d\.$")
_GERMAN_MONTH = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_GOES_ON = re.compile(r"(?:AND|OR|BUT|NOR|WHEN|IF|TO|IN|AT|AS|FOR)\b")  # in a prompt in capitals
_UNFINISHED = re.compile(
    r"(?:^|\s)(?:and|or|the|an|of|with|from|by|und|oder|sowie|der|die|das|dem|den|des|eine?[mnrs]?|im|am|vom|zum|zur|für|"
    r"y|el|los|las|una?|del|al|por|para|con|et|ou|le|les|du|aux?|avec|pour)\s*$",
    re.IGNORECASE,
)
"""The end of a line after which the sentence goes on, even with the capital letter of a German noun."""
_LAST_WORD = re.compile(r"\S+$")
_SEAM = re.compile(r"[^\W\d_],? (?=[^\W\d_])")
_CHUNK = 4_000
_NARROWEST_WRAP, _WIDEST_WRAP = 60, 120


class _Tokenizer(Protocol):
    def span_tokenize(self, text: str) -> Iterable[tuple[int, int]]:
        """Yield start and end of each sentence of a text, in characters."""


def sentence_spans(text: str, block: Span, protected: Sequence[Span]) -> tuple[Span, ...]:
    """Return the sentences of `text[block.start:block.end]` in order, without blanks around them.

    A cut is never inside a protected span. Where lines are not simply wrapped at a margin, a line break
    before a capital ends a sentence too.
    """
    body = text[block.start : block.end]
    cuts = sorted({*_punkt_cuts(body), *_wide_cuts(body), *_line_cuts(body), *_tag_cuts(body)})
    allowed = [cut for cut in cuts if not splits(protected, block.start + cut) and _is_real(body, cut)]
    return tuple(_trimmed(text, block, allowed))


def _trimmed(text: str, block: Span, cuts: Iterable[int]) -> Iterator[Span]:
    start = block.start
    for end in (*(block.start + cut for cut in cuts), block.end):
        piece = text[start:end]
        left = len(piece) - len(piece.lstrip())
        if piece.strip() and not _ENUMERATOR.fullmatch(piece):
            yield Span(start + left, start + len(piece.rstrip()))
            start = end


def _punkt_cuts(body: str) -> Iterator[int]:
    if not _ENDING.search(body):  # most bullets; Punkt is slow to import
        return
    for start, end in _chunks(body):
        last = len(body[start:end].rstrip())
        for _, cut in _tokenizer().span_tokenize(body[start:end]):
            if cut < last or end == len(body):
                closers = _CLOSERS.match(body, start + cut)
                yield closers.end() if closers else start + cut


def _chunks(body: str) -> Iterator[tuple[int, int]]:
    """Yield pieces for Punkt, which slows down sharply on long paragraphs and gives up on very long ones.

    They end between two words, where no sentence does, or anywhere in text that has no such place.
    """
    start = 0
    while start < len(body):
        seam = _SEAM.search(body, start + _CHUNK, start + 2 * _CHUNK)
        end = seam.end() if seam else min(start + 2 * _CHUNK, len(body))
        yield start, end
        start = end


def _wide_cuts(body: str) -> Iterator[int]:
    return (match.end() for match in _WIDE_ENDING.finditer(body))


def _tag_cuts(body: str) -> Iterator[int]:
    return (match.end() for match in _TAG_ENDING.finditer(body))


def _line_cuts(body: str) -> Iterator[int]:
    lines = body.split("\n")
    if len(lines) == 1 or _is_wrapped(lines):
        return
    offset = -1
    for line, following in pairwise(lines):
        offset += len(line) + 1
        begins = following.lstrip()[:1]
        goes_on = line.rstrip()[-1:] in tuple(",;-–(") or _UNFINISHED.search(line)
        if begins and not begins.islower() and not goes_on:
            yield offset


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Return whether every line breaks where the next word would not have fitted."""
    width = max(_NARROWEST_WRAP, *(len(line) for line in lines))
    return width <= _WIDEST_WRAP and all(
        len(line.rstrip()) + 1 + len(following.split(maxsplit=1)[0] if following.strip() else "") > width
        for line, following in pairwise(lines)
    )


def _is_real(body: str, cut: int) -> bool:
    """Return whether a sentence ends at a cut; none ends at "etc.", "5 p.m." or inside a quotation."""
    rest = body[cut : cut + 40].lstrip()
    before = body[max(cut - 40, 0) : cut]
    if not rest or rest[0] in ",;:)" or _FIRST_NUMBER.search(before) or _is_german_day(before, rest):
        return False
    last = _LAST_WORD.search(before)
    word = last.group().strip("(\"'*_").rstrip(")").lower() if last else ""
    if word.removesuffix(".") in CLOSING_ABBREVIATIONS and word.endswith("."):
        return not (rest[0].islower() or rest[0].isdigit())
    closes = before[-1:] in tuple("\"'”’»)")
    return not (closes and (rest[0].islower() or _GOES_ON.match(rest)))


def _is_german_day(before: str, rest: str) -> bool:
    """Return whether a cut is within a day of a German month.

    >>> _is_german_day("bis zum 31.", "März des Jahres"), _is_german_day("Es sind 31.", "Mehr nicht.")
    (True, False)
    """
    return _DAY.search(before) is not None and _GERMAN_MONTH.match(rest) is not None


@lru_cache(maxsize=1)
def _tokenizer() -> _Tokenizer:
    from nltk.tokenize.punkt import (  # type: ignore[import-untyped]  # slow, so not at start-up
        PunktParameters,
        PunktSentenceTokenizer,
    )

    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    tokenizer: _Tokenizer = PunktSentenceTokenizer(parameters)
    return tokenizer
