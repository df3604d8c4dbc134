"""Operators that change values in documents."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.language import (
    MONTH,
    Deviation,
    FactKind,
    Instruction,
    Span,
    StatedFact,
    facts,
    is_unit,
    measure,
    other_number,
    parse,
    plural_of,
    quoted,
    reads_as_english,
)
from agentmut.nouns import About, AgentConfig, Candidate, Document, Edit, Reach
from agentmut.operators.context.documents import document_example, of_document, text_edit
from agentmut.operators.shared_edits import line_break
from agentmut.seams import OperatorOptions, operator

_MOST_CHANGES = 12
_BANNER = "Last updated: March 2021"
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class LocatedFact(NamedTuple):
    """A fact of a document, its spans counted in the document, and the sentence that states it."""

    fact: StatedFact
    sentence: Instruction


def stated_facts(document: Document) -> Iterator[LocatedFact]:
    """Yield the facts in a document's sentences; those in code, links, quotations and tables are left out."""
    parsed = parse(document.text)
    for sentence in parsed.instructions:
        for found in facts(sentence.text):
            at = sentence.start
            span, value = (Span(s.start + at, s.end + at) for s in (found.span, found.value))
            if not parsed.protects(*span):
                yield LocatedFact(StatedFact(found.kind, span, value), sentence)


def restating(config: AgentConfig, index: int, fact: StatedFact, other: Deviation) -> Edit:
    """Return the edit that gives a fact of the document at `index` another value."""
    (start, end), after = restated(config.context[index].text, fact, other)
    return text_edit(config, index, start, end, after)


@operator(
    "context.corrupt_value",
    why="Scans, conversions and typing errors put wrong figures into documents.",
    reach=Reach.CARRIED,
    examples=[document_example("Return it within 30 days.", "Return it within 31 days.")],
)
def corrupt_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants per fact (amount, quantity, date, time, identifier): a value near the right one, one far off.

    Facts are found in sentences; code, links, quotations and tables are left alone, and so is what a
    document says of itself ("Last updated", "Version", "Page").
    """
    for index, document in enumerate(config.context):
        for fact, sentence in stated_facts(document):
            if is_metadata(document.text, sentence):
                continue
            value = document.text[fact.span.start : fact.span.end]
            for other in (Deviation.NEAR, Deviation.FAR):
                edit = restating(config, index, fact, other)
                becomes = f": {edit.before} becomes {edit.after}"
                anchor = (sentence.text, value, other)
                yield of_document(document, (edit,), f"{quoted(value)} in", *anchor, then=becomes)


@operator(
    "context.stale_version",
    why="An index is not rebuilt after a change, or an old copy of a page stays in it.",
    reach=Reach.CARRIED,
    examples=[
        document_example(
            "Refunds take 10 days.\n",
            "Last updated: March 2021\n\nRefunds take 5 days.\n",
        )
    ],
)
def stale_version(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per document with facts: its first twelve have the values of an earlier version.

    Years are two less, in what it says of itself too; an English document that names no year gets a line that
    dates it. Identifiers stay.
    """
    for index, document in enumerate(config.context):
        changing = [s.fact for s in stated_facts(document) if s.fact.kind is not FactKind.IDENTIFIER]
        edits = [restating(config, index, fact, Deviation.OLDER) for fact in changing[:_MOST_CHANGES]]
        if not edits:
            continue
        about = tuple(About(pointer=edit.pointer, span=edit.span) for edit in edits)
        if not _YEAR.search(document.text) and reads_as_english(document.text):
            banner = _BANNER + line_break(document.text) * 2
            edits.insert(0, text_edit(config, index, 0, 0, banner))
        yield of_document(document, edits, "an older version of", about=about)


_YEARS = {"near": 1, "far": -10, "older": -2}
_HOURS = {"near": 1, "far": 6, "older": -1}
_SAFE_DAY = 28


def restated(text: str, fact: StatedFact, other: Deviation) -> tuple[Span, str]:
    """Return what to put in the place of which characters, so that the fact has another value.

    The span is the value alone, or with its unit where "1 day" becomes "2 days".
    """
    value = text[fact.value.start : fact.value.end]
    if fact.kind not in (FactKind.QUANTITY, FactKind.AMOUNT):
        return fact.value, _other(fact.kind, value, other)
    changed = other_number(value, measure(text, *fact.value), other)
    unit = re.search(r"[A-Za-z]+$", text[fact.value.end : fact.span.end])
    if value.lower() in ("1", "one") and unit and is_unit(unit.group()):
        between = text[fact.value.end : fact.span.end - len(unit.group())]
        return Span(fact.value.start, fact.span.end), f"{changed}{between}{plural_of(unit.group())}"
    return fact.value, changed


def _other(kind: FactKind, value: str, other: Deviation) -> str:
    if kind is FactKind.IDENTIFIER:
        return _identifier(value, other)
    if kind is FactKind.TIME:
        hour, _, minute = value.partition(":")
        return f"{(int(hour) + _HOURS[other]) % 24:0{len(hour)}d}:{minute}"
    return _date(value, other)


def _identifier(value: str, other: Deviation) -> str:
    """Return the identifier of another thing: the last digit differs, or every digit where `far`."""
    if other is Deviation.FAR:
        return re.sub(r"\d", lambda digit: str((int(digit.group()) + 5) % 10), value)
    return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 1) % 10), value)


def _date(value: str, other: Deviation) -> str:
    if len(value) <= 2:
        return str(_day(int(value), other))
    if "-" not in value:
        return str(int(value) + _YEARS[other])
    year, month, day = map(int, value.split("-"))
    if other is Deviation.OLDER:
        return f"{year + _YEARS[other]}-{month:02d}-{min(day, _SAFE_DAY):02d}"
    if other is Deviation.FAR:
        return f"{year}-{(month + 5) % 12 + 1:02d}-{min(day, _SAFE_DAY):02d}"
    return f"{year}-{month:02d}-{_day(day, other):02d}"


def _day(day: int, other: Deviation) -> int:
    if other is Deviation.FAR:
        return (day + 13) % _SAFE_DAY + 1
    back = day >= _SAFE_DAY or (other is Deviation.OLDER and day > 1)
    return day - 1 if back else day + 1


_THEN = rf"[\s*_]*(?::|\bv?\d|\b(?:{MONTH}|on|in|as\s+of|date|from|since|by)\b)"
_ITSELF = re.compile(
    rf"[^\w©(]*(?:(?:(?:last\s+)?(?:updated|modified|revised|reviewed)|version|effective|page){_THEN}"
    r"|©|copyright\b|\(c\)\s*(?:copyright\b|(?:19|20)\d\d))",
    re.IGNORECASE,
)
_OPENS_LINE = re.compile(r"[^\w©(]*(?:\(c\)\s*)?", re.IGNORECASE)
_CLAUSE = re.compile(r",\s+[a-z]|\b(?:is|are|was|were|has|have|must|may|can|will|should)\b")
_MOST_WORDS = 12


def is_metadata(text: str, sentence: Instruction) -> bool:
    """Return whether a sentence is a line such as "Last updated: 3 March 2026" or "Page 2 of 5".

    Not one that begins alike and goes on to state something: "Version 2 has 5 ports."
    """
    line = text.rfind("\n", 0, sentence.start) + 1
    if not _OPENS_LINE.fullmatch(text, line, sentence.start):
        return False
    line_text = text[line : sentence.end]
    return (
        bool(_ITSELF.match(line_text))
        and len(line_text.split()) <= _MOST_WORDS
        and not _CLAUSE.search(line_text)
    )
