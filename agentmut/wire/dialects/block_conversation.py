"""The conversation as codecs with content blocks read it, before it becomes the normal form."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from agentmut.nouns import Body, Message, Path, Role, Text, ToolCall
from agentmut.wire import bodies

ROLES: Mapping[str, Role] = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
"""Who speaks, in the words of Anthropic's and Amazon's services."""


class SpokenBlock(NamedTuple):
    """One block of the instructions or of an item of the conversation."""

    role: Role
    item: Path
    """The place of the item; of instructions the place of the block, as each is a message of its own."""
    pieces: Sequence[tuple[Path, str]] = ()
    """Its texts and where they stand; none in an image."""
    call: ToolCall | None = None
    call_id: str | None = None
    """The call that a tool's result answers."""
    tool: str | None = None
    """The name of the tool whose result this is."""

    @property
    def text(self) -> str:
        """Return all text of the block."""
        return "\n".join(text for _, text in self.pieces)


def messages(spoken: Iterable[SpokenBlock]) -> Iterator[Message]:
    """Yield blocks as messages: one message for each tool result, and one for each other row of blocks in an item."""
    for (role, _, call_id), group in groupby(spoken, lambda block: (block.role, block.item, block.call_id)):
        blocks = list(group)
        if role is Role.TOOL:
            yield from (Message(role=role, text=block.text, tool_call_id=call_id) for block in blocks)
        elif role is not Role.SYSTEM or any(block.pieces for block in blocks):
            between = "" if role is Role.ASSISTANT else "\n"  # a model's answer may come in parts
            text = between.join(block.text for block in blocks if block.pieces)
            yield Message(role=role, text=text, tool_calls=tuple(b.call for b in blocks if b.call))


def texts(spoken: Iterable[SpokenBlock]) -> list[Text]:
    """Return the texts of blocks, in order."""
    return [
        Text(path, block.role, text, block.call_id, block.tool)
        for block in spoken
        for path, text in block.pieces
    ]


def roles(body: Body, key: str, read: Callable[[Body], Iterable[SpokenBlock]]) -> tuple[str, Sequence[Role]]:
    """Return the key of the conversation's list, and the role of each item; a tool result makes it `Role.TOOL`.

    ("", ()) where there is no list.
    """
    items = body.get(key)
    if not isinstance(items, list):
        return "", ()
    heard: list[set[Role]] = [set() for _ in items]
    for block in read(body):
        if block.item[0] == key and isinstance(block.item[-1], int):
            heard[block.item[-1]].add(block.role)
    return key, [_speaker(spoke) for spoke in heard]


def continued(body: Body, content: Any, results: Sequence[Any]) -> Body:
    """Return the body with a reply's content and the blocks of its calls' results added to its messages."""
    before = bodies.listing(body.get("messages"), "messages")
    answers = [{"role": "user", "content": list(results)}] if results else []
    return {**body, "messages": [*before, {"role": "assistant", "content": content}, *answers]}


def _speaker(roles: set[Role]) -> Role:
    """Return the speaker of a message; results of tools continue a turn."""
    return Role.TOOL if Role.TOOL in roles else next(iter(roles), Role.USER)


def turns(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Yield messages without instructions, those together that make one item: results of tools, and what the user
    says after them."""
    results: list[Message] = []
    for message in messages:
        if message.role is Role.TOOL:
            results.append(message)
        elif message.role is Role.USER:
            yield [*results, message]
            results = []
        elif message.role is Role.ASSISTANT:
            yield from [results] if results else []
            yield [message]
            results = []
    if results:
        yield results
