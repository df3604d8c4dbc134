"""The earlier turns that a turn of a conversation gets."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import History


@dataclass(frozen=True)
class Conversation:
    """The links between the turns of one run.

    Dropped: each turn begins anew, and so does the agent's thread where a checkpointer keeps one. Swapped: it
    does so too, and is given the earlier turns and answers with their roles exchanged. Tool calls and results,
    which no user makes, are not among them. Turns that are a graph's own state are passed as they are.
    """

    history: History | None
    checkpointed: bool
    """Whether the graph keeps its messages itself."""

    @property
    def altered(self) -> bool:
        """Return whether some turn gets the earlier turns in a changed form."""
        return self.history in (History.DROPPED, History.SWAPPED)

    def shows_in(self, turn: JsonValue) -> bool:
        """Return whether the change of the earlier turns changes a later turn."""
        return not isinstance(turn, dict) or (self.checkpointed and self.history is History.DROPPED)

    def graph_input(
        self,
        turn: JsonValue,
        turns: Sequence[JsonValue],
        outputs: Sequence[JsonValue],
        messages: Sequence[Any],
    ) -> Any:
        """Return a graph's input for `turn`, after `turns` with their `outputs` and `messages`."""
        if isinstance(turn, dict):  # a graph with its own state: the scenario gives the state itself
            return turn
        return {"messages": [*self._earlier(turns, outputs, messages), _message("user", turn)]}

    def _earlier(
        self, turns: Sequence[JsonValue], outputs: Sequence[JsonValue], messages: Sequence[Any]
    ) -> Iterator[Any]:
        if self.history is History.SWAPPED:
            for said, answered in zip(turns, outputs, strict=True):
                yield from () if isinstance(said, dict) else _swapped(said, answered)
        elif not self.altered and not self.checkpointed:
            yield from messages


def _swapped(answer: JsonValue, answered: JsonValue) -> Iterator[dict[str, str]]:
    yield _message("assistant", answer)
    yield _message("user", answered)


def _message(role: str, content: JsonValue) -> dict[str, str]:
    return {"role": role, "content": content if isinstance(content, str) else json.dumps(content)}
