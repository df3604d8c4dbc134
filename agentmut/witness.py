"""Did the mutation arrive? Read off what a trial sent to the model, or which parts of its config it read.

Without this, mutants that never reached the agent would be counted as survivors.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from agentmut.config import AgentConfig
from agentmut.frozen import Frozen
from agentmut.mutant import Edit, Mutant
from agentmut.tools import ToolSpec
from agentmut.wire.footprint import Footprint, RequestShape

WINDOW = 40
"""Characters of unchanged text on each side of an edit that must be found with it."""
PIECE = 120
"""Characters of a whole text that are looked for."""
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{[^{}\s]*\}")


class Route(StrEnum):
    """Where a witness was taken."""

    SENT = "sent"
    """In a request that left for a model service."""
    READ = "read"
    """In the agent's reads of its config; used when no model request is visible."""


class Witness(Frozen):
    """Proof that a trial ran with its mutation: `seen` of `edits` edits arrived."""

    route: Route
    seen: int
    edits: int


class Detector:
    """Looks for one mutant's edits in footprints of trials."""

    def __init__(self, mutant: Mutant, base: AgentConfig) -> None:
        self._edits = mutant.edits
        mutated = mutant.apply(base)
        self._before = _Side(base, mutant.edits, moved=False)
        self._after = _Side(mutated, mutant.edits, moved=True)
        self._base = base
        self._changed = {tool.name: tool for tool in mutated.tools if tool not in base.tools}

    def witness(self, seen: Footprint) -> Witness | None:
        """What a mutated trial with this footprint proves; None when no edit arrived.

        A mutant without edits (identity) is witnessed by any activity.
        """
        route = Route.SENT if seen.requests else Route.READ
        if not self._edits:
            return Witness(route=route, seen=0, edits=0) if seen.requests or seen.reads else None
        arrived = [self._arrived(edit, index, seen) for index, edit in enumerate(self._edits)]
        return Witness(route=route, seen=sum(arrived), edits=len(arrived)) if any(arrived) else None

    def carried(self, seen: Footprint) -> bool:
        """Whether a run of the original with this footprint carried the part that the mutant changes."""
        if not self._edits:
            return bool(seen.requests or seen.reads)
        if not seen.requests:
            return any(_was_read(edit, seen.reads) for edit in self._edits)
        return any(self._carries(e, i, shape) for i, e in enumerate(self._edits) for shape in seen.requests)

    def _arrived(self, edit: Edit, index: int, seen: Footprint) -> bool:
        if not seen.requests:
            return _was_read(edit, seen.reads)
        return any(self._delivered(edit, index, shape) for shape in seen.requests)

    def _delivered(self, edit: Edit, index: int, shape: RequestShape) -> bool:
        """The shape shows the value after the edit, and not the value before it."""
        part, *rest = edit.path
        if part == "tools":
            return self._tool_delivered(edit, rest, shape)
        if part == "model":
            return _model_value(shape, rest[0]) == edit.after
        if part == "context" and not rest and edit.after:
            return _in_order(self._after.documents, shape.text)
        before, after = self._before.windows[index], self._after.windows[index]
        gone = before in after or not _shows(
            before, shape.text
        )  # text added at an end leaves the old text whole
        return gone and _shows(after, shape.text)

    def _carries(self, edit: Edit, index: int, shape: RequestShape) -> bool:
        part, *rest = edit.path
        if part == "tools":
            return bool(shape.tools) if not rest else self._tool_name(rest) in _names(shape)
        if part == "model":
            return _model_value(shape, rest[0]) == edit.before
        if edit.before is None or (part == "context" and not rest):
            return bool(shape.text)
        return _shows(self._before.windows[index], shape.text)

    def _tool_delivered(self, edit: Edit, rest: list[str], shape: RequestShape) -> bool:
        if not rest and not edit.after:
            return not shape.tools
        if not rest:
            return _same_order(edit.after, shape) and not _same_order(edit.before, shape)
        if len(rest) == 1 and edit.after is None:
            return self._tool_name(rest) not in _names(shape)
        return any(
            tool.name in self._changed and _same_tool(self._changed[tool.name], tool) for tool in shape.tools
        )

    def _tool_name(self, rest: list[str]) -> str:
        return self._base.tools[int(rest[0])].name


class _Side:
    """The text around each edit, in the original or in the mutated config."""

    def __init__(self, config: AgentConfig, edits: tuple[Edit, ...], *, moved: bool) -> None:
        self.documents = tuple(_piece(document.text) for document in config.context)
        self.windows = tuple(self._window(config, edit, edits, moved) for edit in edits)

    @staticmethod
    def _window(config: AgentConfig, edit: Edit, edits: tuple[Edit, ...], moved: bool) -> str:
        value = edit.after if moved else edit.before
        if edit.span is None:
            return _piece(_text_of(value))
        start = edit.span[0] + (_shift(edit, edits) if moved else 0)
        return _window(_text_at(config, edit.path), start, start + len(str(value)))


class _Span(NamedTuple):
    start: int
    growth: int


def _shift(edit: Edit, edits: tuple[Edit, ...]) -> int:
    """How far earlier edits of the same text move this one."""
    others = (
        _Span(e.span[0], len(str(e.after)) - len(str(e.before)))
        for e in edits
        if e.span is not None and e.pointer == edit.pointer
    )
    return sum(span.growth for span in others if edit.span is not None and span.start < edit.span[0])


def _window(text: str, start: int, end: int) -> str:
    """The text at a span with its surroundings, cut at template placeholders, which are filled in when sent."""
    left = _PLACEHOLDER.split(text[max(0, start - WINDOW) : start])[-1]
    right = _PLACEHOLDER.split(text[end : end + WINDOW])[0]
    return _flat(left + text[start:end] + right)


def _piece(text: str) -> str:
    """A stretch of a whole text that no placeholder interrupts."""
    return _flat(max(_PLACEHOLDER.split(text), key=len)[:PIECE])


def _flat(text: str) -> str:
    """Frameworks re-indent and strip, so runs of white space are one blank here."""
    return " ".join(text.split())


def _shows(fragment: str, text: str) -> bool:
    return fragment in _flat(text)


def _text_of(value: object) -> str:
    """The text that a whole value brings into a request: a document's text, or the prompt."""
    if isinstance(value, list):
        return _text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _text_at(config: AgentConfig, path: Sequence[str]) -> str:
    value = config.model_dump(mode="json")
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value if isinstance(value, str) else ""


def _was_read(edit: Edit, reads: Sequence[str]) -> bool:
    """Reads are dotted paths such as `prompt` or `model.name`; one covers all that lies beneath it."""
    parts = ".".join(part for part in edit.path if not part.isdigit())
    return any(parts == read or parts.startswith(f"{read}.") for read in reads)


def _in_order(pieces: Sequence[str], text: str) -> bool:
    flat = _flat(text)
    places = [flat.find(piece) for piece in pieces]
    return -1 not in places and all(a < b for a, b in pairwise(places))


def _names(shape: RequestShape) -> list[str]:
    return [tool.name for tool in shape.tools]


def _same_order(tools: object, shape: RequestShape) -> bool:
    wanted = [str(tool["name"]) for tool in tools] if isinstance(tools, list) else []
    offered = _names(shape)
    expected = [name for name in wanted if name in offered]
    return [name for name in offered if name in expected] == expected


def _same_tool(expected: ToolSpec, offered: ToolSpec) -> bool:
    return _flat(expected.description) == _flat(offered.description)


def _model_value(shape: RequestShape, key: str) -> object:
    return shape.model if key == "name" else getattr(shape, key, None)
