"""Mutants that check the campaign itself: one that changes nothing, and one that leaves nothing."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from pydantic import JsonValue

from agentmut._base import digest_of
from agentmut.nouns import ID_LENGTH, AgentConfig, Edit, Intent, Mutant, OperatorClass, Reach, prompt_edit


class Identity(StrEnum):
    """A way to make a copy of an agent without a change."""

    UNTOUCHED = "untouched"
    WHITESPACE = "whitespace"
    """A blank line more in the prompt."""
    COMMENT = "comment"
    """A comment more at the end of the prompt, that asks for nothing."""


COMMENT = "<!-- reviewed -->"


def identity_mutant(config: AgentConfig, kind: Identity = Identity.UNTOUCHED) -> Mutant:
    """Return an unchanged agent that takes the path of a mutant. A campaign that kills it is wrong.

    Without a prompt, every kind leaves the agent untouched.
    """
    prompt = config.prompt
    place = prompt.find("\n") + 1 or len(prompt)
    edits: Mapping[Identity, tuple[Edit, ...]] = {
        Identity.UNTOUCHED: (),
        Identity.WHITESPACE: (prompt_edit(prompt, place, place, "\n"),),
        Identity.COMMENT: (prompt_edit(prompt, len(prompt), len(prompt), f"\n\n{COMMENT}\n"),),
    }
    description = "leave the agent as it is"
    if kind is Identity.UNTOUCHED or not prompt:
        return _control("control.identity", description, ())
    return _control("control.identity", f"{description}, but for a {kind} more", edits[kind], kind)


def destroyed_mutant(
    config: AgentConfig, cannot_express: Callable[[Mutant], str] = lambda mutant: ""
) -> Mutant:
    """Return the agent without prompt, tools and documents. A suite that lets it pass tests nothing.

    It has no edits when the config has none of the three, or when the agent cannot be run without all that it has of
    them, as its service keeps some: then there is nothing that could be destroyed, and the description says why.
    """
    description = "empty the prompt, the tools and the context"
    made = _control("control.destroyed", description, tuple(_emptied(config)))
    if not made.edits:
        return _control(
            "control.destroyed", "the config has no prompt, tools or context that could be destroyed", ()
        )
    reason = cannot_express(made)
    return _control("control.destroyed", reason, ()) if reason else made


def _emptied(config: AgentConfig) -> Iterator[Edit]:
    whole = config.model_dump(mode="json", include={"prompt", "tools", "context"})
    nothing: dict[str, JsonValue] = {"prompt": "", "tools": [], "context": []}
    for name, after in nothing.items():
        if whole[name]:
            yield Edit(pointer=f"/{name}", before=whole[name], after=after)


def _control(operator: str, description: str, edits: tuple[Edit, ...], kind: str = "") -> Mutant:
    return Mutant(
        id=digest_of(f"{operator}{kind}")[:ID_LENGTH],  # the same in every campaign
        operator=operator,
        version=1,
        operator_class=OperatorClass.CONTROL,
        intent=Intent.CONTROL,
        reach=Reach.SENT,
        description=description,
        edits=edits,
    )
