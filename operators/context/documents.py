"""Changes of a document's text, and examples that show them."""

from collections.abc import Iterable

from agentmut.language import parse, quoted, splits
from agentmut.nouns import About, AgentConfig, Candidate, Document, Edit
from agentmut.seams import Example


def text_edit(config: AgentConfig, index: int, start: int, end: int, after: str) -> Edit:
    """Put `after` in the place of the characters `start` to `end` of the document at `index`."""
    before = config.context[index].text[start:end]
    return Edit(pointer=f"/context/{index}/text", before=before, after=after, span=(start, end))


def of_document(
    document: Document,
    edits: Iterable[Edit],
    description: str,
    *anchor: str,
    then: str = "",
    about: tuple[About, ...] = (),
) -> Candidate:
    """Return a mutant of this document, which its description names; `anchor` tells apart those of one operator."""
    return Candidate(
        edits=tuple(edits),
        description=f"{description} the document {quoted(document.name)}{then}",
        anchor="\n".join((document.name, *anchor)),
        subject=document.name,
        about=about,
    )


def document_example(before: str, after: str) -> Example:
    """Return an example of a config with nothing but one document of this text."""
    config, first = (AgentConfig(context=(Document(name="policy", text=text),)) for text in (before, after))
    return Example(config, first)


def boundaries(text: str) -> list[int]:
    """Return the ends of sentences and lines that have text before and after them, none inside code or a quote."""
    parsed = parse(text)
    lines, at = [], 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        lines.append(at)
    last = len(text.rstrip())
    ends = {*lines, *(instruction.end for instruction in parsed.instructions)}
    return sorted(
        end for end in ends if text[:end].strip() and end < last and not splits(parsed.protected, end)
    )
