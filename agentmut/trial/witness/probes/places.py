"""Where an edit's place is found once the other edits of its mutant have been made."""

from collections.abc import Sequence
from typing import Any

from agentmut._base import Path, at_path
from agentmut.nouns import AgentConfig, Edit


def moved_path(edit: Edit, edits: Sequence[Edit]) -> Path:
    """Where the tool or document of an edit, or something in it, stands once others before it came or went."""
    index = edit.index
    if index is None:
        return edit.path
    others = [(e, e.index) for e in edits if e.part == edit.part and e.index is not None]
    come = sum(e.inserts_item and place <= index for e, place in others)
    gone = sum(e.removes_item and place < index for e, place in others)
    return (edit.part, str(index + come - gone), *edit.path[2:])


def shift(edit: Edit, edits: Sequence[Edit]) -> int:
    """How far earlier edits of the same text move this one."""
    assert edit.span is not None
    earlier = (e for e in edits if e.pointer == edit.pointer and e.span and e.span[0] < edit.span[0])
    return sum(len(str(e.after)) - len(str(e.before)) for e in earlier)


def text_at(config: AgentConfig, path: Path) -> str:
    """The text that stands at a path of a config; empty where there is none."""
    value = at_path(config.model_dump(mode="json"), path)
    return value if isinstance(value, str) else ""


def text_of(value: Any) -> str:
    """The text that a whole value brings into a request: a document's text, or the prompt."""
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return str(value.get("text", ""))
    return value if isinstance(value, str) else ""
