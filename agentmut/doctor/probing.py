"""The harmless changes that show whether mutants arrive: one for each part of an agent."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.nouns import (
    ID_LENGTH,
    AgentConfig,
    Edit,
    Intent,
    Mutant,
    OperatorClass,
    Reach,
    RequestShape,
    prompt_edit,
)

SENTENCE = "Stay polite."
REMARK = "This page is up to date."
HINT = "Use it only when it is needed."
TEMPERATURES = (0.7, 0.6)
"""Two, so that one of them differs from what the agent sends already."""


class TriedChange(NamedTuple):
    """The change of one part."""

    part: str
    description: str
    edit: Edit

    @property
    def mutant(self) -> Mutant:
        """Return the change as a mutant."""
        return together([self])


def tried_parts(config: AgentConfig, sent: Iterable[RequestShape]) -> Iterator[TriedChange]:
    """Yield the changes that can be tried on this config; `sent` are the requests of the unchanged agent."""
    sent = list(sent)
    if config.prompt.strip():
        prompt = config.prompt.rstrip()
        edit = prompt_edit(config.prompt, len(prompt), len(prompt), f"\n\n{SENTENCE}")
        yield TriedChange("prompt", f'"{SENTENCE}" at the end of the prompt', edit)
    if config.context:
        document = config.context[0]
        end = len(document.text.rstrip())
        edit = Edit(
            pointer="/context/0/text",
            before=document.text[end:],
            after=f"\n\n{REMARK}",
            span=(end, len(document.text)),
        )
        yield TriedChange("document", f'"{REMARK}" at the end of the document {document.name}', edit)
    if config.tools:
        offered = {tool.name for shape in sent for tool in shape.tools}
        index = next((i for i, tool in enumerate(config.tools) if tool.name in offered), 0)
        tool = config.tools[index]
        after = f"{tool.description} {HINT}".strip()
        edit = Edit(pointer=f"/tools/{index}/description", before=tool.description, after=after)
        yield TriedChange("tool description", f'"{HINT}" at the end of what {tool.name} does', edit)
    yield _temperature(config, sent)


def together(tried: Iterable[TriedChange]) -> Mutant:
    """Return one mutant that makes several changes."""
    tried = list(tried)
    return Mutant(
        id=digest_of(["doctor", *(one.part for one in tried)])[:ID_LENGTH],
        operator="control.probe",
        version=1,
        operator_class=OperatorClass.CONTROL,
        intent=Intent.CONTROL,
        reach=Reach.SENT,
        description="; ".join(one.description for one in tried),
        edits=tuple(one.edit for one in tried),
    )


INSTRUCTIONS = ("prompt", "document")
"""Parts whose changes an agent is built from in one run: both are texts that the model reads."""


def in_runs(parts: Sequence[str]) -> int:
    """Return how many runs the changes of these parts take where an agent is built from them.

    >>> in_runs(["prompt", "document", "tool description", "model setting"])
    3
    """
    return len(parts) - all(part in parts for part in INSTRUCTIONS)


def in_groups(tried: Sequence[TriedChange]) -> list[list[TriedChange]]:
    """Return the changes that go into one run each where an agent is built from them."""
    texts = [one for one in tried if one.part in INSTRUCTIONS]
    others = [[one] for one in tried if one.part not in INSTRUCTIONS]
    return [texts, *others] if texts else others


def _temperature(config: AgentConfig, sent: Iterable[RequestShape]) -> TriedChange:
    known = {config.model.temperature, *(shape.temperature for shape in sent)}
    value = next((value for value in TEMPERATURES if value not in known), 0.65)
    edit = Edit(pointer="/model/temperature", before=config.model.temperature, after=value)
    return TriedChange("model setting", f"temperature {value:g}", edit)
