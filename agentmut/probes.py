"""How one edit shows in model requests: a probe for each kind of part that an edit can change."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from agentmut.config import AgentConfig, ModelConfig
from agentmut.frozen import canonical_json
from agentmut.mutant import Edit
from agentmut.passages import Passage, flat, opening, passage_at, shown, stretch
from agentmut.schemas import Difference, at_path, differences, inlined
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
        key, before, after = (rest[0], edit.before, edit.after) if rest else ("name", *_names(edit))
        return _ModelProbe(key, before, after)
    if part == "context" and not rest and edit.after:
        return _DocumentOrder(_openings(edit.before), _openings(edit.after))
    if part == "context" and len(rest) == 1 and edit.before is None and _copied(edit, base):
        return _Repeated(opening(_text_of(edit.after)), flat(_text_of(edit.after)))
    before, after = _passages(edit, edits, base, mutated)
    if before == after and edit.span is not None:
        return _WhiteSpaceProbe(*_stretches(edit, edits, base, mutated))
    return _TextProbe(before, after)


@dataclass(frozen=True)
class _WhiteSpaceProbe:
    """For an edit of nothing but white space: the characters around it, as they are."""

    before: str
    after: str

    def delivered(self, shapes: Shapes) -> bool:
        if self.before == self.after:
            return False
        return any(
            self.after in shape.text and (self.before in self.after or self.before not in shape.text)
            for shape in shapes
        )

    def carried(self, shapes: Shapes) -> bool:
        return any(self.before in shape.text for shape in shapes)


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
class _Repeated:
    """A document that is there already is given once more."""

    passage: Passage
    document: str

    def delivered(self, shapes: Shapes) -> bool:
        once = sum(self.document.count(fragment) for fragment in self.passage)
        return any(self._times(shape) >= 2 * once > 0 for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        return any(self._times(shape) for shape in shapes)

    def _times(self, shape: RequestShape) -> int:
        return sum(flat(shape.text).count(fragment) for fragment in self.passage)


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
        unset = self.before in (None, "", [])  # the agent's own choice
        return unset or any(self._value(shape) == self.before for shape in shapes)

    def _value(self, shape: RequestShape) -> object:
        value: object = shape.model if self.key == "name" else getattr(shape, self.key)
        return list(value) if isinstance(value, tuple) else value


_VISIBLE = frozenset(ModelConfig.model_fields) - {"provider"}


def _tool_probe(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    _, *rest = edit.path
    if not rest:
        return _ToolOrder(_tool_names(edit.before), _tool_names(edit.after))
    if len(rest) == 1 and edit.after is None:
        return _ToolRemoved(base.tools[int(rest[0])].name)
    if len(rest) == 1:
        added = ToolSpec.model_validate(edit.after)
        return _ToolAdded("" if edit.before is None else base.tools[int(rest[0])].name, added)
    original = base.tools[int(rest[0])]
    changed = mutated.tools[int(_moved(edit.path, edits)[1])]
    return _ToolChanged(original.name, changed.name, _differences(edit, original, changed))


@dataclass(frozen=True)
class _ToolRemoved:
    name: str

    def delivered(self, shapes: Shapes) -> bool:
        return not any(self.name in _offered(shape) for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        return any(self.name in _offered(shape) for shape in shapes)


@dataclass(frozen=True)
class _ToolAdded:
    """A tool that is new, or that takes the place of another as a whole."""

    original: str
    added: ToolSpec

    def delivered(self, shapes: Shapes) -> bool:
        tools = (tool for shape in shapes for tool in shape.tools if tool.name == self.added.name)
        return any(flat(tool.description) == flat(self.added.description) for tool in tools)

    def carried(self, shapes: Shapes) -> bool:
        return not self.original or any(self.original in _offered(shape) for shape in shapes)


@dataclass(frozen=True)
class _ToolChanged:
    """A tool that something of is edited: seen where a request has all that is different, as it is to be."""

    original: str
    name: str
    expected: Sequence[Difference]

    def delivered(self, shapes: Shapes) -> bool:
        tools = (_plain_tool(t) for shape in shapes for t in shape.tools if t.name == self.name)
        return bool(self.expected) and any(
            all(at_path(tool, place.path) == place.after for place in self.expected) for tool in tools
        )

    def carried(self, shapes: Shapes) -> bool:
        return any(self.original in _offered(shape) for shape in shapes)


def _differences(edit: Edit, before: ToolSpec, after: ToolSpec) -> tuple[Difference, ...]:
    """What the edit makes different, in the form that requests have: the schema's `$ref`s put in place."""
    old, new = _plain_tool(before), _plain_tool(after)
    path = _up_to_list(old, edit.path[2:])
    if at_path(old, path) != at_path(new, path):
        return (Difference(path, at_path(new, path)),)
    # What several parameters refer to stands elsewhere in a request.
    return tuple(place for place in differences(old, new) if place.path[0] == path[0])


def _up_to_list(value: Any, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path as far as it leads without an index: lists are compared as wholes."""
    return next((path[:n] for n in range(len(path)) if isinstance(at_path(value, path[:n]), list)), path)


def _plain_tool(tool: ToolSpec) -> Any:
    plain = tool.model_dump(mode="json", include={"name", "description", "parameters"})
    return _plain({**plain, "parameters": inlined(plain["parameters"])})


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


def _stretches(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> tuple[str, str]:
    """The characters before and after an edit, with those around it up to the next placeholder."""
    assert edit.span is not None
    start, end = edit.span
    moved = start + _shift(edit, edits)
    return (
        stretch(_text_at(base, edit.path), start, end),
        stretch(_text_at(mutated, edit.path), moved, moved + len(str(edit.after))),
    )


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
    """Part of a tool without what frameworks change on the way.

    That is white space, titles of parameters, and the order of lists in which order means nothing.
    """
    if isinstance(value, str):
        return flat(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {k: _plain(v) for k, v in value.items() if k != "title" or not isinstance(v, str)}
    for key in ("required", "enum"):
        if isinstance(plain.get(key), list):
            plain[key] = sorted(plain[key], key=canonical_json) or None
    return plain


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


def _names(edit: Edit) -> tuple[Any, Any]:
    """The models' names, where one whole model takes the place of another."""
    before, after = (v.get("name") if isinstance(v, dict) else v for v in (edit.before, edit.after))
    return before, after


def _copied(edit: Edit, base: AgentConfig) -> bool:
    added = flat(_text_of(edit.after))
    return bool(added) and any(flat(document.text) == added for document in base.context)


def _openings(documents: Any) -> list[Passage]:
    return [opening(_text_of(document)) for document in documents]


def _tool_names(tools: Any) -> list[str]:
    return [str(tool["name"]) for tool in tools or ()]


def _offered(shape: RequestShape) -> list[str]:
    return [tool.name for tool in shape.tools]
