"""Operators that return wrong documents, as a faulty retrieval does."""

import re
from collections.abc import Iterator

from agentmut._base import ends_in_common
from agentmut.language import Deviation, FactKind, quoted
from agentmut.mutation import another
from agentmut.nouns import AgentConfig, Candidate, Document, Edit, Reach
from agentmut.operators.context.documents import document_example, of_document, text_edit
from agentmut.operators.context.values import restated, stated_facts
from agentmut.seams import Example, OperatorOptions, operator

_TABLE_HEAD = re.compile(r"^[^\n|]*+\|[^\n]*+\n(?=[^\n]*--)[ \t:|-]*+\n", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t][^\n]*+\n+", re.MULTILINE)
_WORD = re.compile(r"\S+")
_ONE = Document(name="policy", text="Refunds take 10 days.\n")
_OLD = Document(name="policy (superseded)", text="Refunds take 5 days.\n")
_TWO = Document(name="hours", text="We open at nine.\n")


@operator(
    "context.keep_superseded",
    why="A page is replaced, and its old chunks stay in the index next to the new ones.",
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE,)), AgentConfig(context=(_OLD, _ONE)))],
    lack="no document states a figure",
    on_demand=True,
)
def keep_superseded(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each document with figures: an earlier version stands before it."""
    for index, document in enumerate(config.context):
        facts = [
            stated.fact for stated in stated_facts(document) if stated.fact.kind is not FactKind.IDENTIFIER
        ]
        older = document.text
        for fact in reversed(facts):
            (start, end), after = restated(document.text, fact, Deviation.OLDER)
            older = older[:start] + after + older[end:]
        if older != document.text:
            added = Document(name=f"{document.name} (superseded)", text=older).model_dump(mode="json")
            edit = Edit(pointer=f"/context/{index}", before=None, after=added)
            yield of_document(document, (edit,), "put an earlier version before")


@operator(
    "context.other_tenant",
    why="A filter by customer is lost, and another customer's page is found.",
    reach=Reach.CARRIED,
    examples=[document_example("Order A-1042 costs 189 euros.\n", "Order A-4375 costs 412 euros.\n")],
    lack="no document has numbers or identifiers",
    on_demand=True,
)
def other_tenant(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each document with numbers or identifiers: they are those of another customer."""
    for index, document in enumerate(config.context):
        if edits := tuple(_differences(config, index)):
            yield of_document(document, edits, "give another customer's version of")


def _differences(config: AgentConfig, index: int) -> Iterator[Edit]:
    """Yield the words of a document that are other ones for another customer, each without what stays of it."""
    for word in _WORD.finditer(config.context[index].text):
        other = another(word[0])
        head, tail = ends_in_common(word[0], other)
        if other != word[0]:
            yield text_edit(
                config, index, word.start() + head, word.end() - tail, other[head : len(other) - tail]
            )


@operator(
    "context.lose_structure",
    why="Documents are cut by length, so that rows lose their header and paragraphs their heading.",
    reach=Reach.CARRIED,
    examples=[document_example("# Fees\n\nA day.\n", "A day.\n")],
    lack="no document has a table with a header, or headings",
    on_demand=True,
)
def lose_structure(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each document with tables that have a header, or with headings: all of these are gone."""
    for index, document in enumerate(config.context):
        heads = list(_TABLE_HEAD.finditer(document.text)) or list(_HEADING.finditer(document.text))
        edits = tuple(text_edit(config, index, *head.span(), "") for head in heads)
        removed = sum(head.end() - head.start() for head in heads)
        if edits and removed < len(document.text.rstrip()):
            yield of_document(document, edits, "take headers and headings from")


@operator(
    "context.keep_first",
    why="The number of passages that a retrieval returns is cut to one.",
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE, _TWO)), AgentConfig(context=(_ONE,)))],
    lack="the agent has fewer than two documents",
    on_demand=True,
)
def keep_first(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant of an agent with several documents: it is given the first one only."""
    if len(config.context) > 1:
        edits = tuple(
            Edit(pointer=f"/context/{index}", before=document.model_dump(mode="json"), after=None)
            for index, document in enumerate(config.context)
            if index
        )
        description = f"give only the document {quoted(config.context[0].name)}"
        yield Candidate(edits=edits, description=description, anchor="first")
