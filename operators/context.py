"""Operators on the documents that an agent is given."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from agentmut.config import AgentConfig, Document
from agentmut.mutant import Candidate, Edit, Intent, OperatorClass, Reach
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions
from agentmut.text import parse
from agentmut.text.spans import splits

_FRACTIONS: Mapping[str, float] = MappingProxyType({"half": 1 / 2, "quarter": 1 / 4})


class Truncate:
    """Two mutants per document: only its first half, and only its first quarter, is left.

    The cut is at the last end of a sentence or line within that length, or at the first one after it; a
    document with a single sentence has no mutants.
    """

    id: ClassVar[str] = "context.truncate"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.CONTEXT
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.CARRIED
    why: ClassVar[str] = "Context windows overflow, and chunkers and previews cut documents short."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the documents, the longer remainder first."""
        for index, document in enumerate(config.context):
            ends = _boundaries(document.text)
            for said, fraction in _FRACTIONS.items():
                cut = _nearest_end(ends, fraction * len(document.text))
                if cut is not None:
                    yield _truncated(index, document, cut, said)

    def examples(self) -> Iterable[Example]:
        """The later sentences are lost."""
        whole = Document(name="policy", text="Refunds take a day. Returns are free. Gifts are final. Ask us.")
        cut = Document(name="policy", text="Refunds take a day.")
        yield Example(AgentConfig(context=(whole,)), AgentConfig(context=(cut,)))


def _truncated(index: int, document: Document, cut: int, said: str) -> Candidate:
    span = (cut, len(document.text))
    return Candidate(
        edits=(Edit(pointer=f"/context/{index}/text", before=document.text[cut:], after="", span=span),),
        description=f"keep the first {said} of the document {quoted(document.name)}",
        anchor=f"{document.name}\n{said}",
        subject=document.name,
    )


def _boundaries(text: str) -> list[int]:
    """Ends of sentences and lines with something before and after them, none inside code or a quote."""
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


def _nearest_end(ends: list[int], target: float) -> int | None:
    before = [end for end in ends if end <= target]
    return before[-1] if before else next(iter(ends), None)


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


class InjectNoise:
    """Two mutants: an irrelevant document before all others, and one after them.

    An agent that is given no documents has none: there is no place where one would arrive.
    """

    id: ClassVar[str] = "context.inject_noise"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.CONTEXT
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.CARRIED
    why: ClassVar[str] = "Retrieval returns passages that have nothing to do with the question."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In front first."""
        places = ((0, "first"), (len(config.context), "last"))
        for (index, said), document in zip(places, _IRRELEVANT, strict=True):
            if config.context:
                added = document.model_dump(mode="json")
                yield Candidate(
                    edits=(Edit(pointer=f"/context/{index}", before=None, after=added),),
                    description=f"add the irrelevant document {quoted(document.name)} as the {said} one",
                    anchor=said,
                )

    def examples(self) -> Iterable[Example]:
        """The canteen's menu stands in front of the policy."""
        policy = Document(name="policy", text="Refunds take a day.")
        yield Example(AgentConfig(context=(policy,)), AgentConfig(context=(_IRRELEVANT[0], policy)))


class Permute:
    """One mutant: the documents in reverse order."""

    id: ClassVar[str] = "context.permute"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.CONTEXT
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.CARRIED
    why: ClassVar[str] = "Ranking changes, and models read the middle of a long context least."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Needs two documents."""
        if len(config.context) > 1:
            plain = [document.model_dump(mode="json") for document in config.context]
            said = "give the documents in reverse order"
            edit = Edit(pointer="/context", before=[*plain], after=plain[::-1])
            yield Candidate(edits=(edit,), description=said, anchor=said)

    def examples(self) -> Iterable[Example]:
        """Last one first."""
        one, two = (
            Document(name="one", text="Refunds take a day."),
            Document(name="two", text="Returns are free."),
        )
        yield Example(AgentConfig(context=(one, two)), AgentConfig(context=(two, one)))
