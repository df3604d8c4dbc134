"""Operators that reorder or repeat documents."""

from collections.abc import Iterator

from agentmut.nouns import About, AgentConfig, Candidate, Document, Edit, Intent, Reach
from agentmut.operators.context.documents import of_document
from agentmut.seams import Example, OperatorOptions, operator

_ONE = Document(name="one", text="Refunds take a day.")
_TWO = Document(name="two", text="Returns are free.")


@operator(
    "context.permute",
    why="Ranking changes, and models read the middle of a long context least.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE, _TWO)), AgentConfig(context=(_TWO, _ONE)))],
)
def permute(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, with two documents or more: they are in reverse order."""
    if len(config.context) > 1:
        plain = [document.model_dump(mode="json") for document in config.context]
        description = "give the documents in reverse order"
        edit = Edit(pointer="/context", before=[*plain], after=plain[::-1])
        yield Candidate(edits=(edit,), description=description, anchor=description)


@operator(
    "context.duplicate_document",
    why="A file is indexed twice, or overlapping chunks are all retrieved.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE, _TWO)), AgentConfig(context=(_ONE, _ONE, _TWO)))],
)
def duplicate_document(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per document: it follows itself once more, under the same name."""
    for index, document in enumerate(config.context):
        copy = document.model_dump(mode="json")
        twin = Edit(pointer=f"/context/{index + 1}", before=None, after=copy)
        about = (About(pointer=f"/context/{index}"),)
        yield of_document(document, (twin,), "give", then=" twice", about=about)
