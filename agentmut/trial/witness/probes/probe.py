"""The protocol of every probe, and how a probe finds the place of its edit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from agentmut._base import Path, at_path
from agentmut.nouns import AgentConfig, Edit, RequestShape

Shapes = Sequence[RequestShape]


class Probe(ABC):
    """Looks for one edit in the requests of one trial. There is at least one request, and one may be enough."""

    @property
    def by_absence(self) -> bool:
        """Return whether the probe looks for something removed: an agent that never had the part then looks mutated."""
        return False

    @abstractmethod
    def shows(self, shape: RequestShape) -> bool:
        """Return whether this request shows the edit. A removal needs further requests to compare with."""

    @abstractmethod
    def carries(self, shape: RequestShape) -> bool:
        """Return whether this request has the original form of the edited part."""

    def delivered(self, shapes: Shapes) -> bool:
        """Return whether the requests of a mutated trial show the edit."""
        return any(map(self.shows, shapes))

    def carried(self, shapes: Shapes) -> bool:
        """Return whether the requests of an original trial carry what the edit changes."""
        return any(map(self.carries, shapes))


class GoneProbe(Probe):
    """A probe for a removal: every request of a mutated trial has to lack the removed part."""

    @property
    def by_absence(self) -> bool:
        """Return true: absence is the sign of this edit."""
        return True

    def delivered(self, shapes: Shapes) -> bool:
        """Return whether no request carries what the edit removes."""
        return not self.carried(shapes)


@dataclass(frozen=True)
class OrderProbe(Probe):
    """A probe for a new order: of what is sent together, or of what an agent picks that goes by the place."""

    usual: tuple[int, ...] = field(default=(), kw_only=True)
    """Which of the things all requests of the original have, and in which order; empty where they differ."""

    @abstractmethod
    def picked(self, shape: RequestShape) -> tuple[int, ...]:
        """Return which of the items a request has, in its order, by their places before the edit."""

    def informed(self, originals: Shapes) -> Self:
        """Return a probe that knows what the original sends.

        An agent that sends the first thing alone shows no order, but another first thing. Only one that always picks
        the same is told by that: another may pick something else by itself.
        """
        known = {self.picked(shape) for shape in originals}
        return replace(self, usual=known.pop()) if len(known) == 1 else self

    def shuffles(self, firsts: Shapes) -> bool:
        """Return whether order proves nothing, as it varies among the original's first requests, `firsts`.

        An agent may select items by its input, so only requests with all items are compared.
        """
        return False

    def uninformed(self) -> Self:
        """Return a probe for requests of another kind than the original's, whose selections it cannot compare."""
        return replace(self, usual=())

    def picks_otherwise(self, shape: RequestShape) -> bool:
        """Return whether a request selects other items than every request of the original."""
        here = self.picked(shape)
        return bool(self.usual and here) and set(here) != set(self.usual)


def moved_path(edit: Edit, edits: Sequence[Edit]) -> Path:
    """Return the place of an edit's tool or document after earlier edits added or removed others."""
    index = edit.index
    if index is None:
        return edit.path
    others = [(e, e.index) for e in edits if e.part == edit.part and e.index is not None]
    come = sum(e.inserts_item and place <= index for e, place in others)
    gone = sum(e.removes_item and place < index for e, place in others)
    return (edit.part, str(index + come - gone), *edit.path[2:])


def shift(edit: Edit, edits: Sequence[Edit]) -> int:
    """Return how far earlier edits of the same text shift this edit."""
    assert edit.span is not None
    earlier = (e for e in edits if e.pointer == edit.pointer and e.span and e.span[0] < edit.span[0])
    return sum(len(str(e.after)) - len(str(e.before)) for e in earlier)


def text_at(config: AgentConfig, path: Path) -> str:
    """Return the text at a path of a config; an empty text if there is none."""
    value = at_path(config.model_dump(mode="json"), path)
    return value if isinstance(value, str) else ""


def text_of(value: Any) -> str:
    """Return the text that a whole value brings into a request: a document's text, or the prompt."""
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""
