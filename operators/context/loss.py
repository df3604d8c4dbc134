"""Operators that remove a document or a part of it."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from agentmut.nouns import AgentConfig, Candidate, Document, Edit, Reach
from agentmut.operators.context.documents import boundaries, of_document, text_edit
from agentmut.seams import Example, OperatorOptions, operator

_FRACTIONS: Mapping[str, float] = MappingProxyType({"half": 1 / 2, "quarter": 1 / 4})
_WHOLE = Document(name="policy", text="Refunds take a day. Returns are free. Gifts are final. Ask us.")
_OTHER = Document(name="hours", text="We open at nine.")
_CUT = Document(name="policy", text="Refunds take a day.")


@operator(
    "context.truncate",
    why="Context windows overflow, and chunkers and previews cut documents short.",
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_WHOLE,)), AgentConfig(context=(_CUT,)))],
)
def truncate(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants per document: only its first half, and only its first quarter, is left.

    The cut is at the last end of a sentence or line within that length, or at the first one after it; a
    document with a single sentence has no mutants.
    """
    for index, document in enumerate(config.context):
        ends = boundaries(document.text)
        last = None
        for share, fraction in _FRACTIONS.items():
            cut = _nearest_end(ends, fraction * len(document.text))
            if cut is not None and cut != last:
                edit = text_edit(config, index, cut, len(document.text), "")
                yield of_document(document, (edit,), f"keep the first {share} of", share)
            last = cut


def _nearest_end(ends: list[int], target: float) -> int | None:
    before = [end for end in ends if end <= target]
    return before[-1] if before else next(iter(ends), None)


@operator(
    "context.drop_document",
    why="An index is rebuilt without a file, or a filter of the retrieval leaves it out.",
    reach=Reach.CARRIED,
    examples=[Example(AgentConfig(context=(_WHOLE, _OTHER)), AgentConfig(context=(_OTHER,)))],
)
def drop_document(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per document: the agent does not get it."""
    for index, document in enumerate(config.context):
        plain = document.model_dump(mode="json")
        gone = Edit(pointer=f"/context/{index}", before=plain, after=None)
        yield of_document(document, (gone,), "drop")
