"""Operators that put orders for assistants into a document."""

from collections.abc import Iterator, Mapping, Sequence

from agentmut._base import shipped
from agentmut.nouns import About, AgentConfig, Candidate, Reach
from agentmut.operators.context.documents import boundaries, document_example, of_document, text_edit
from agentmut.operators.shared_edits import line_break
from agentmut.seams import OperatorOptions, operator

_ORDERS: Mapping[str, Sequence[str]] = shipped("agentmut.operators.context", "added_texts")["orders"]
_PLAIN = "Refunds take a day."
_FIRST = _ORDERS["to ignore its rules"][1]


@operator(
    "context.embedded_instruction",
    why="Pages, mails and uploads come from strangers, and some carry orders for the model that reads them.",
    reach=Reach.CARRIED,
    examples=[document_example(_PLAIN, f"{_PLAIN}\n\n{_FIRST}")],
)
def embedded_instruction(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield three mutants per document: orders to ignore the rules (at the end), to reveal the prompt (in the
    middle, at the end of a line or sentence), and to recommend a competitor (at the end).

    Each is a paragraph of its own. An empty document has none.
    """
    for index, document in enumerate(config.context):
        if document.text.strip():
            for said, (place, order) in _ORDERS.items():
                yield _with_order(config, index, f"an order {said}", place, order)


def _with_order(config: AgentConfig, index: int, description: str, place: str, order: str) -> Candidate:
    document = config.context[index]
    text, end = document.text, len(document.text.rstrip())
    inner = boundaries(text) if place == "middle" else []
    at = min(inner, key=lambda offset: abs(offset - end // 2), default=end)
    gap = line_break(text) * 2
    said_before = len(text[:at].rstrip())
    added = f"{gap}{order}" if at == end else f"{gap}{order}{gap}"
    edit = text_edit(config, index, at, at, added)
    about = About(pointer=edit.pointer, span=(said_before, said_before))
    return of_document(document, (edit,), f"{description} in", description, about=(about,))
