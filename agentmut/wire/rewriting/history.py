"""The earlier turns of the conversation in a request."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentmut.nouns import Body, Codec, History, Path, Role, Text


class Turns(NamedTuple):
    """Items of a conversation's list."""

    earlier: list[range]
    """Each of the earlier turns: what the user said, and what came of it."""
    last: int
    """Where the last turn begins."""


def turns(roles: Sequence[Role]) -> Turns:
    """Return the turns of a conversation. Consecutive user items begin one turn together."""
    starts = [
        index
        for index, role in enumerate(roles)
        if role is Role.USER and (index == 0 or _before(roles, index) is not Role.USER)
    ]
    if not starts:
        return Turns([], len(roles))
    return Turns([range(a, b) for a, b in pairwise(starts)], starts[-1])


def _before(roles: Sequence[Role], index: int) -> Role | None:
    """Return who spoke before an item, instructions aside."""
    return next((role for role in reversed(roles[:index]) if role is not Role.SYSTEM), None)


def altered(codec: Codec, body: Body, history: History | None, stays: Callable[[str], bool]) -> Body:
    """Return the request body with its earlier turns dropped, or with the speakers exchanged in them.

    The instructions stay, also where a user says them: `stays` tells of such a text.
    """
    key, roles = codec.roles(body)
    found = turns(roles)
    if not found.earlier or history not in (History.DROPPED, History.SWAPPED):
        return body
    texts = [text for text in codec.texts(body) if text.path[0] == key]
    kept = {text.path[1] for text in texts if text.role is Role.USER and stays(text.text)}
    if history is History.SWAPPED:
        return codec.with_texts(body, dict(_swapped(texts, found.earlier, kept)))
    items = body[key]
    stay = [index >= found.last or role is Role.SYSTEM or index in kept for index, role in enumerate(roles)]
    if all(stay):
        return body
    return {**body, key: [item for item, stays_here in zip(items, stay, strict=True) if stays_here]}


def _swapped(
    texts: Sequence[Text], earlier: Sequence[range], kept: set[str | int]
) -> Iterator[tuple[Path, str]]:
    """Exchange the user's text and the last answer in each turn."""
    for turn in earlier:
        spoken = [t for t in texts if t.path[1] in turn and t.path[1] not in kept and t.text]
        said = [text for text in spoken if text.role is Role.USER]
        answers = [text for text in spoken if text.role is Role.ASSISTANT]
        answered = [text for text in answers if text.path[1] == answers[-1].path[1]]
        if said and answered:
            yield from _saying(said, answered)
            yield from _saying(answered, said)


def _saying(texts: Sequence[Text], others: Sequence[Text]) -> Iterator[tuple[Path, str]]:
    yield texts[0].path, "\n".join(text.text for text in others)
    yield from ((text.path, "") for text in texts[1:])
