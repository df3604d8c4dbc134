"""Mutants of instruction files: operators see each file that the agent reads as a prompt."""

from collections.abc import Iterable, Iterator

from agentmut.language import front_matter
from agentmut.nouns import About, AgentConfig, Candidate, Document, Edit, OperatorClass
from agentmut.seams import Operator


def parts_for(operator: Operator, config: AgentConfig) -> Iterator[tuple[AgentConfig, int | None]]:
    """Yield the configs that an operator gets for `config`, each with the index of the document that is its prompt.

    The first is `config` itself, with None. For operators of the prompt one more follows for each file of the
    workspace. What front matter says is no instruction, so it is no part of the prompt.
    """
    yield config, None
    if operator.operator_class is not OperatorClass.PROMPT or not config.workspace:
        return
    for index, document in enumerate(config.context):
        if document.name in config.workspace:
            body = document.text[front_matter(document.text).start :]
            yield config.model_copy(update={"prompt": body, "context": (), "workspace": ()}), index


def in_file(candidates: Iterable[Candidate], config: AgentConfig, index: int) -> Iterator[Candidate]:
    """Yield candidates made from a file's text as changes of that file; edits of other parts stay."""
    document = config.context[index]
    start = front_matter(document.text).start
    for candidate in candidates:
        edits = (_edit(edit, document, index, start) for edit in candidate.edits)
        yield candidate.model_copy(
            update={
                "edits": tuple(edits),
                "about": tuple(_about(about, index, start) for about in candidate.about),
                "anchor": f"{document.name}\n{candidate.anchor}",
                "description": f"{candidate.description} in {document.name}",
            }
        )


def _edit(edit: Edit, document: Document, index: int, start: int) -> Edit:
    if edit.part != "prompt":
        return edit
    begin, end = edit.span or (0, len(document.text) - start)
    before, after = document.text[start + begin : start + end], edit.after
    return Edit(
        pointer=f"/context/{index}/text", before=before, after=after or "", span=(start + begin, start + end)
    )


def _about(about: About, index: int, start: int) -> About:
    if about.path != ("prompt",):
        return about
    span = about.span and (start + about.span[0], start + about.span[1])
    return About(pointer=f"/context/{index}/text", span=span)
