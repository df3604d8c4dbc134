"""Where an edit's place is found once the other edits of its mutant have been made."""

from collections.abc import Sequence
from typing import Any

from agentmut.config import AgentConfig
from agentmut.mutant import Edit


def moved_path(path: tuple[str, ...], edits: Sequence[Edit]) -> tuple[str, ...]:
    """Where a tool or document, or something in it, stands once others before it have come or gone."""
    if len(path) < 2 or not path[1].isdigit():
        return path
    index = int(path[1])
    items = [e for e in edits if len(e.path) == 2 and e.path[0] == path[0] and e.path[1].isdigit()]
    come = sum(e.before is None and int(e.path[1]) <= index for e in items)
    gone = sum(e.after is None and int(e.path[1]) < index for e in items)
    return (path[0], str(index + come - gone), *path[2:])


def shift(edit: Edit, edits: Sequence[Edit]) -> int:
    """How far earlier edits of the same text move this one."""
    assert edit.span is not None
    earlier = (e for e in edits if e.pointer == edit.pointer and e.span and e.span[0] < edit.span[0])
    return sum(len(str(e.after)) - len(str(e.before)) for e in earlier)


def text_at(config: AgentConfig, path: Sequence[str]) -> str:
    """The text that stands at a path of a config; empty where there is none."""
    value: Any = config.model_dump(mode="json")
    for part in path:
        value = _child(value, part)
    return value if isinstance(value, str) else ""


def text_of(value: Any) -> str:
    """The text that a whole value brings into a request: a document's text, or the prompt."""
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _child(value: Any, part: str) -> Any:
    if isinstance(value, list):
        return value[int(part)] if part.isdigit() and int(part) < len(value) else None
    return value.get(part) if isinstance(value, dict) else None
