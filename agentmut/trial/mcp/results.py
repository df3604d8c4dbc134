"""The agent's view of a tool result, and results with replaced texts. Pure functions.

Results are as the protocol writes them: mappings with `content`, `structuredContent` and `isError`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentmut._base import jsonable

Result = Mapping[str, Any]
Change = Callable[[Any], Any]
_NEEDED: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text"}),
    "image": frozenset({"data", "mimeType"}),
    "audio": frozenset({"data", "mimeType"}),
    "resource_link": frozenset({"uri", "name"}),
    "resource": frozenset({"resource"}),
}
"""What a part of a result has, by its type: a client refuses a result with others."""
_TEXT_FIELDS = frozenset({"uri", "name", "title", "description", "text"})
"""What a link or a resource is about, which another one has otherwise."""


def text_of(result: Result) -> Any:
    """Return the text of a result as agents get it; other content becomes JSON.

    >>> text_of({"content": [{"type": "text", "text": "Shipped."}]})
    'Shipped.'
    """
    content = result.get("content")
    if not isinstance(content, list):
        return dict(result)
    if not content and result.get("structuredContent") is not None:
        return result["structuredContent"]
    if all(_is_text(block) for block in content):
        return "\n".join(block["text"] for block in content)
    return [block["text"] if _is_text(block) else block for block in content]


def with_text(result: Result, value: Any) -> dict[str, Any]:
    """Return the result with another text.

    What it says in a form of its own too says the same then, or is left out where that cannot be.

    >>> with_text({"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": "a"}}, "b")
    {'content': [{'type': 'text', 'text': 'b'}], 'structuredContent': {'result': 'b'}}
    """
    text = text_of(result)
    blank = value == [] and isinstance(text, list)
    changed = {**result, "content": [] if blank else _content(value)}
    if (structured := changed.pop("structuredContent", None)) is not None:
        changed |= _structured(structured, text, value)
    return changed


def result_of(value: Any) -> dict[str, Any]:
    """Return the result for a double's return value.

    >>> result_of({"id": 7})["content"], result_of({"id": 7})["structuredContent"]
    ([{'type': 'text', 'text': '{"id": 7}'}], {'id': 7})
    """
    plain = jsonable(value)
    structured = {"structuredContent": plain} if isinstance(plain, dict) else {}
    return {**_complete(value, wrong=False), **structured}


def is_unfinished(result: Result) -> bool:
    """Return whether the server needs more information before it gives the result (protocol version 2026-07-28)."""
    return bool(result.get("resultType", "complete") != "complete")


def within(change: Change, text: Any) -> Any:
    """Make a change to what `text_of` gives: pictures, links and the like may get lost, but stay sound.

    >>> within(lambda parts: parts[:1], ["Here it is.", {"type": "image", "data": "aGk=", "mimeType": "image/png"}])
    ['Here it is.']
    """
    if not isinstance(text, list) or not any(map(_is_block, text)):
        return change(text)
    changed = change([_Part.from_block(part) if _is_block(part) else part for part in text])
    if not isinstance(changed, list):  # one text in the place of all
        return change(text)
    return [part.block() if isinstance(part, _Part) else part for part in changed]


class _UnchangedContent:
    """Content that no fault changes: changed digits would make no meaningful picture."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self.block = block

    def __str__(self) -> str:
        return str(self.block)


@dataclass(frozen=True)
class _Part:
    """A part of a result that is no text, with its description; changes see only the description."""

    description: Mapping[str, Any]
    kept: _UnchangedContent

    @classmethod
    def from_block(cls, block: Mapping[str, Any]) -> "_Part":
        """Return a part with the texts of a block as its description."""
        description: dict[str, Any] = _text_fields(block)
        if isinstance(resource := block.get("resource"), dict):
            description["resource"] = _text_fields(resource)
        return cls(description, _UnchangedContent(block))

    def block(self) -> dict[str, Any]:
        """Return the block with the description as it is now."""
        whole, changed = self.kept.block, dict(self.description)
        if "resource" in changed:
            changed["resource"] = {**whole["resource"], **changed["resource"]}
        return {**whole, **changed}


def _text_fields(block: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name in _TEXT_FIELDS and isinstance(value, str)}


def failure(name: str, error: BaseException) -> dict[str, Any]:
    """Return a tool's failure as a result, in the form that servers use."""
    return _complete(f"Error executing tool {name}: {error}", wrong=True)


def unknown(name: str) -> dict[str, Any]:
    """Return the result for a tool that is not offered."""
    return _complete(f"Unknown tool: {name}", wrong=True)


def _complete(value: Any, *, wrong: bool) -> dict[str, Any]:
    """Return a complete result; the newest protocol requires the mark, older ones ignore it."""
    return {"content": _content(value), "isError": wrong, "resultType": "complete"}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _content(value: Any) -> list[Any]:
    if isinstance(value, list) and value and all(isinstance(part, str) or _is_block(part) for part in value):
        return [block for part in value for block in (_content(part) if isinstance(part, str) else [part])]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return [{"type": "text", "text": text}]


def _is_block(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in _NEEDED and _NEEDED[kind] <= value.keys()


def _structured(before: Any, text: Any, value: Any) -> dict[str, Any]:
    if before == {"result": text}:
        return {"structuredContent": {"result": value}}
    new = _read(value)
    return {"structuredContent": new} if isinstance(new, dict) and _read(text) == before else {}


def _read(text: Any) -> Any:
    if isinstance(text, dict):
        return text
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
