"""Values in documents are not the right ones."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentmut.language import (
    FactKind,
    Instruction,
    Other,
    Span,
    StatedFact,
    facts,
    parse,
    quoted,
    reads_as_english,
)
from agentmut.nouns import About, AgentConfig, Candidate, Document, Edit, Reach
from agentmut.operators.context.documents import document_example, of_document, text_edit
from agentmut.operators.context.metadata import is_metadata
from agentmut.operators.context.other_values import restated
from agentmut.operators.shared_edits import line_break
from agentmut.seams import OperatorOptions, operator

_MOST_CHANGES = 12
_BANNER = "Last updated: March 2021"
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class Stated(NamedTuple):
    """A fact of a document, its spans counted in the document, and the sentence that states it."""

    fact: StatedFact
    sentence: Instruction


def stated_facts(document: Document) -> Iterator[Stated]:
    """The facts in a document's sentences; those in code, links, quotations and tables are left out."""
    parsed = parse(document.text)
    for sentence in parsed.instructions:
        for found in facts(sentence.text):
            at = sentence.start
            span, value = (Span(s.start + at, s.end + at) for s in (found.span, found.value))
            if not parsed.protects(*span):
                yield Stated(StatedFact(found.kind, span, value), sentence)


def restating(config: AgentConfig, index: int, fact: StatedFact, other: Other) -> Edit:
    """The edit that gives a fact of the document at `index` another value."""
    (start, end), after = restated(config.context[index].text, fact, other)
    return text_edit(config, index, start, end, after)


@operator(
    "context.corrupt_value",
    why="Scans, conversions and typing errors put wrong figures into documents.",
    reach=Reach.CARRIED,
    examples=[document_example("Return it within 30 days.", "Return it within 31 days.")],
)
def corrupt_value(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Two mutants per fact (amount, quantity, date, time, identifier): a value near the right one, one far off.

    Facts are found in sentences; code, links, quotations and tables are left alone, and so is what a
    document says of itself ("Last updated", "Version", "Page").
    """
    for index, document in enumerate(config.context):
        for fact, sentence in stated_facts(document):
            if is_metadata(document.text, sentence):
                continue
            said = document.text[fact.span.start : fact.span.end]
            for other in (Other.NEAR, Other.FAR):
                edit = restating(config, index, fact, other)
                becomes = f": {edit.before} becomes {edit.after}"
                anchor = (sentence.text, said, other)
                yield of_document(document, (edit,), f"{quoted(said)} in", *anchor, then=becomes)


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
    """One mutant per document with facts: its first twelve have the values of an earlier version.

    Years are two less, in what it says of itself too; an English document that names no year gets a line that
    dates it. Identifiers stay.
    """
    for index, document in enumerate(config.context):
        changing = [s.fact for s in stated_facts(document) if s.fact.kind is not FactKind.IDENTIFIER]
        edits = [restating(config, index, fact, Other.OLDER) for fact in changing[:_MOST_CHANGES]]
        if not edits:
            continue
        about = tuple(About(pointer=edit.pointer, span=edit.span) for edit in edits)
        if not _YEAR.search(document.text) and reads_as_english(document.text):
            banner = _BANNER + line_break(document.text) * 2
            edits.insert(0, text_edit(config, index, 0, 0, banner))
        yield of_document(document, edits, "an older version of", about=about)
