"""Operators that add irrelevant documents."""

from collections.abc import Iterator

from agentmut._base import shipped
from agentmut.language import quoted, reads_as_english
from agentmut.nouns import AgentConfig, Candidate, Document, Edit, Intent, Reach
from agentmut.seams import Example, OperatorOptions, operator

_IRRELEVANT = tuple(
    Document(**plain)
    for plain in shipped("agentmut.operators.context", "added_texts")["irrelevant_documents"]
)
_ONE = Document(name="one", text="Refunds take a day.")


@operator(
    "context.inject_noise",
    why="Retrieval returns passages that have nothing to do with the question.",
    intent=Intent.PRESERVE,
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_ONE,)), AgentConfig(context=(_IRRELEVANT[0], _ONE)))],
)
def inject_noise(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants of an agent with an English prompt: an irrelevant document first, and one last.

    An agent that is given no documents has none: there is no place where one would arrive.
    """
    places = ((0, "first"), (len(config.context), "last"))
    for (index, noise), document in zip(places, _IRRELEVANT, strict=True):
        if config.context and reads_as_english(config.prompt):
            added = document.model_dump(mode="json")
            yield Candidate(
                edits=(Edit(pointer=f"/context/{index}", before=None, after=added),),
                description=f"add the irrelevant document {quoted(document.name)} as the {noise} one",
                anchor=noise,
            )
