"""Mutants that check the campaign itself: one that changes nothing, and one that leaves nothing."""

from collections.abc import Iterator

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.frozen import digest_of
from agentmut.mutant import ID_LENGTH, Edit, Intent, Mutant, OperatorClass, Reach


def identity_mutant() -> Mutant:
    """The agent as it is, through the same path as any mutant. A campaign that kills it is wrong."""
    return _control("control.identity", "leave the agent as it is", ())


def destroyed_mutant(config: AgentConfig) -> Mutant:
    """The agent without prompt, tools and documents. A suite that lets it pass tests nothing.

    It has no edits when the config has none of the three: then there is nothing that could be destroyed.
    """
    said = "empty the prompt, the tools and the context"
    return _control("control.destroyed", said, tuple(_emptied(config)))


def _emptied(config: AgentConfig) -> Iterator[Edit]:
    whole = config.model_dump(mode="json", include={"prompt", "tools", "context"})
    nothing: dict[str, JsonValue] = {"prompt": "", "tools": [], "context": []}
    for name, after in nothing.items():
        if whole[name]:
            yield Edit(pointer=f"/{name}", before=whole[name], after=after)


def _control(operator: str, description: str, edits: tuple[Edit, ...]) -> Mutant:
    return Mutant(
        id=digest_of(operator)[:ID_LENGTH],  # the same in every campaign
        operator=operator,
        version=1,
        operator_class=OperatorClass.CONTROL,
        intent=Intent.CONTROL,
        reach=Reach.SENT,
        description=description,
        edits=edits,
    )
