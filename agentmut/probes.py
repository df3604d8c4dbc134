"""How one edit shows in model requests: a probe for each kind of part that an edit can change."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from agentmut.config import AgentConfig, ModelConfig
from agentmut.mutant import Edit
from agentmut.passages import Passage, flat, opening, passage_at, shown
from agentmut.tools import ToolSpec
from agentmut.wire.footprint import RequestShape

Shapes = Sequence[RequestShape]


class Probe(Protocol):
    """Looks for one edit in the requests of one trial, of which there is at least one."""

    def delivered(self, shapes: Shapes) -> bool:
        """Whether the requests of a mutated trial show the edit."""
        ...

    def carried(self, shapes: Shapes) -> bool:
        """Whether the requests of an original trial carry what the edit changes."""
        ...


def probe_for(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    """The probe of one of the `edits` that turn `base` into `mutated`."""
    part, *rest = edit.path
    if part == "tools":
        return _tool_probe(edit, edits, base, mutated)
    if part == "model":
        return _ModelProbe(rest[0] if rest else "name", _setting(edit.before), _setting(edit.after))
    if part == "context" and not rest and edit.after:
        return _DocumentOrder(_openings(edit.before), _openings(edit.after))
    return _TextProbe(*_passages(edit, edits, base, mutated))


@dataclass(frozen=True)
class _TextProbe:
    before: Passage
    after: Passage

    def delivered(self, shapes: Shapes) -> bool:
        if self.before == self.after:  # only white space differs, or what changes is no text
            return False
        if not self.after:  # nothing is left to be seen: then no request may show what was there
            return not any(shown(self.before, shape.text) for shape in shapes)
        return any(shown(self.after, shape.text) and not self._unchanged(shape) for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        return any(shown(self.before, shape.text) for shape in shapes)

    def _unchanged(self, shape: RequestShape) -> bool:
        if shown(self.before, " ".join(self.after)):  # an addition: what was there is still there
            return False
        return shown(self.before, shape.text)


@dataclass(frozen=True)
class _DocumentOrder:
    before: Sequence[Passage]
    after: Sequence[Passage]

    def delivered(self, shapes: Shapes) -> bool:
        return any(
            self._in_order(self.after, shape) and not self._in_order(self.before, shape) for shape in shapes
        )

    def carried(self, shapes: Shapes) -> bool:
        return any(shape.text for shape in shapes)

    @staticmethod
    def _in_order(passages: Sequence[Passage], shape: RequestShape) -> bool:
        """Scenarios carry documents of their own, so only those that are there have an order."""
        text = flat(shape.text)
        places = [place for passage in passages if passage and (place := text.find(passage[0])) >= 0]
        return len(places) > 1 and all(a < b for a, b in pairwise(places))


@dataclass(frozen=True)
class _ModelProbe:
    key: str
    before: Any
    after: Any

    def delivered(self, shapes: Shapes) -> bool:
        if self.key not in _VISIBLE:
            return False
        if self.after is None:  # unset: then no request may show what was set
            return not any(self._value(shape) == self.before for shape in shapes)
        return any(self._value(shape) == self.after for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        unset = self.before in (None, "")  # the agent's own choice
        return unset or any(self._value(shape) == self.before for shape in shapes)

    def _value(self, shape: RequestShape) -> object:
        return shape.model if self.key == "name" else getattr(shape, self.key)


_VISIBLE = frozenset(ModelConfig.model_fields) - {"provider"}


def _tool_probe(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    _, *rest = edit.path
    if not rest:
        return _ToolOrder(_tool_names(edit.before), _tool_names(edit.after))
    if len(rest) == 1 and edit.after is None:
        return _ToolRemoved(base.tools[int(rest[0])].name)
    if len(rest) == 1:
        added = ToolSpec.model_validate(edit.after)
        return _ToolChanged("" if edit.before is None else base.tools[int(rest[0])].name, added, ())
    original = base.tools[int(rest[0])]
    changed = mutated.tools[int(_moved(edit.path, edits)[1])]
    return _ToolChanged(original.name, changed, tuple(rest[1:]))


@dataclass(frozen=True)
class _ToolRemoved:
    name: str

    def delivered(self, shapes: Shapes) -> bool:
        return not any(self.name in _offered(shape) for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        return any(self.name in _offered(shape) for shape in shapes)


@dataclass(frozen=True)
class _ToolChanged:
    """A tool that one field of is edited, or (without a path) that is new."""

    original: str
    changed: ToolSpec
    path: tuple[str, ...]

    def delivered(self, shapes: Shapes) -> bool:
        wanted = self._value(self.changed)
        tools = (tool for shape in shapes for tool in shape.tools if tool.name == self.changed.name)
        return any(self._value(tool) == wanted for tool in tools)

    def carried(self, shapes: Shapes) -> bool:
        return not self.original or any(self.original in _offered(shape) for shape in shapes)

    def _value(self, tool: ToolSpec) -> Any:
        value: Any = tool.model_dump(mode="json") if self.path else tool.description
        for part in self.path:
            value = _child(value, part)
        return _plain(value)


@dataclass(frozen=True)
class _ToolOrder:
    before: list[str]
    after: list[str]

    def delivered(self, shapes: Shapes) -> bool:
        if not self.after:
            return not any(shape.tools for shape in shapes)
        return any(self._in(self.after, shape) and not self._in(self.before, shape) for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        return any(shape.tools for shape in shapes)

    @staticmethod
    def _in(names: list[str], shape: RequestShape) -> bool:
        offered = _offered(shape)
        return [n for n in names if n in offered] == [n for n in offered if n in names]


def _passages(
    edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig
) -> tuple[Passage, Passage]:
    if edit.span is not None:
        start, end = edit.span
        moved = start + _shift(edit, edits)
        text = _text_at(mutated, _moved(edit.path, edits))
        after = passage_at(text, moved, moved + len(str(edit.after)))
        return passage_at(_text_at(base, edit.path), start, end), after
    if isinstance(edit.before, str) and isinstance(edit.after, str) and edit.after:
        return _difference(edit.before, edit.after)
    return opening(_text_of(edit.before)), opening(_text_of(edit.after))


def _difference(before: str, after: str) -> tuple[Passage, Passage]:
    """The places where two whole texts differ: their beginnings may well be the same."""
    head = _in_common(before, after)
    tail = _in_common(before[head:][::-1], after[head:][::-1])
    return passage_at(before, head, len(before) - tail), passage_at(after, head, len(after) - tail)


def _in_common(one: str, other: str) -> int:
    """Length of the beginning that two texts share."""
    different = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))


def _shift(edit: Edit, edits: Sequence[Edit]) -> int:
    """How far earlier edits of the same text move this one."""
    assert edit.span is not None
    earlier = (e for e in edits if e.pointer == edit.pointer and e.span and e.span[0] < edit.span[0])
    return sum(len(str(e.after)) - len(str(e.before)) for e in earlier)


def _moved(path: tuple[str, ...], edits: Sequence[Edit]) -> tuple[str, ...]:
    """Where a tool or document, or something in it, stands once others before it have come or gone."""
    if len(path) < 2 or not path[1].isdigit():
        return path
    index = int(path[1])
    items = [e for e in edits if len(e.path) == 2 and e.path[0] == path[0] and e.path[1].isdigit()]
    come = sum(e.before is None and int(e.path[1]) <= index for e in items)
    gone = sum(e.after is None and int(e.path[1]) < index for e in items)
    return (path[0], str(index + come - gone), *path[2:])


def _plain(value: Any) -> Any:
    """Part of a tool without what frameworks change on the way: white space, and titles of parameters."""
    if isinstance(value, str):
        return flat(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: _plain(v) for k, v in value.items() if k != "title" or not isinstance(v, str)}


def _text_of(value: Any) -> str:
    """The text that a whole value brings into a request: a document's text, or the prompt."""
    if isinstance(value, list):
        return _text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _text_at(config: AgentConfig, path: Sequence[str]) -> str:
    value: Any = config.model_dump(mode="json")
    for part in path:
        value = _child(value, part)
    return value if isinstance(value, str) else ""


def _child(value: Any, part: str) -> Any:
    if isinstance(value, list):
        return value[int(part)] if part.isdigit() and int(part) < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def _setting(value: Any) -> Any:
    return value.get("name") if isinstance(value, dict) else value


def _openings(documents: Any) -> list[Passage]:
    return [opening(_text_of(document)) for document in documents]


def _tool_names(tools: Any) -> list[str]:
    return [str(tool["name"]) for tool in tools or ()]


def _offered(shape: RequestShape) -> list[str]:
    return [tool.name for tool in shape.tools]
