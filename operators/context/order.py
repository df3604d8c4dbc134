"""Documents come in another order, with others among them, or twice."""

from collections.abc import Iterator

from agentmut.config import AgentConfig, Document
from agentmut.mutant import About, Candidate, Edit, Intent, Reach
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions

_IRRELEVANT = (
    Document(
        name="canteen-menu",
        text="Monday: lentil soup. Tuesday: pasta with mushrooms. Wednesday: rice and beans. "
        "Thursday: potato salad. Friday: fish or a vegetable pie.",
    ),
    Document(
        name="office-plants",
        text="Plants by the window are watered twice a week, ferns in the corridor three times. "
        "The large palm in the lobby is looked after by a gardener.",
    ),
)
_ONE = Document(name="one", text="Refunds take a day.")
_TWO = Document(name="two", text="Returns are free.")


@operator(
    "context.inject_noise",
    why="Retrieval returns passages that have nothing to do with the question.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE,)), AgentConfig(context=(_IRRELEVANT[0], _ONE)))],
)
def inject_noise(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Two mutants: an irrelevant document before all others, and one after them.

    An agent that is given no documents has none: there is no place where one would arrive.
    """
    places = ((0, "first"), (len(config.context), "last"))
    for (index, said), document in zip(places, _IRRELEVANT, strict=True):
        if config.context:
            added = document.model_dump(mode="json")
            yield Candidate(
                edits=(Edit(pointer=f"/context/{index}", before=None, after=added),),
                description=f"add the irrelevant document {quoted(document.name)} as the {said} one",
                anchor=said,
            )


@operator(
    "context.permute",
    why="Ranking changes, and models read the middle of a long context least.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE, _TWO)), AgentConfig(context=(_TWO, _ONE)))],
)
def permute(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant, with two documents or more: they are in reverse order."""
    if len(config.context) > 1:
        plain = [document.model_dump(mode="json") for document in config.context]
        said = "give the documents in reverse order"
        edit = Edit(pointer="/context", before=[*plain], after=plain[::-1])
        yield Candidate(edits=(edit,), description=said, anchor=said)


@operator(
    "context.duplicate_document",
    why="A file is indexed twice, or overlapping chunks are all retrieved.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE, _TWO)), AgentConfig(context=(_ONE, _ONE, _TWO)))],
)
def duplicate_document(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per document: it follows itself once more, under the same name."""
    for index, document in enumerate(config.context):
        copy = document.model_dump(mode="json")
        yield Candidate(
            edits=(Edit(pointer=f"/context/{index + 1}", before=None, after=copy),),
            description=f"give the document {quoted(document.name)} twice",
            anchor=document.name,
            subject=document.name,
            about=(About(pointer=f"/context/{index}"),),
        )
