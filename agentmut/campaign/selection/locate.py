"""The place of a mutant's change in the user's own files, and the changed text."""

from typing import NamedTuple

from agentmut._base import canonical_json
from agentmut.nouns import About, AgentConfig, Document, Edit, Mutant, Origin, Target


class Spot(NamedTuple):
    """One place of a mutant: its file and lines, and its names (`tools/refund`, `model`)."""

    target: Target
    last_line: int | None
    names: tuple[str, ...]


def target_of(mutant: Mutant, origin: Origin) -> Target:
    """Return the file, line and column of a mutant's first changed part, as far as they are known.

    Prompts and documents in files have line and column; prompts in the project file the line where they are
    written as a block; tools the line where they begin, in a file or as a function of the project. Everything
    else has the file.
    """
    return spot(mutant.places[0], origin).target if mutant.places else Target(path=None)


def spot(edit: Edit | About, origin: Origin) -> Spot:
    """Return the place of an edit, or the place of the edited part."""
    part, *rest = edit.path
    config, index = origin.config, None if adds_item(edit) else _index(edit.path)
    if part == "prompt":
        return _in_prompt(edit, origin)
    if part == "context" and index is not None and index < len(config.context):
        return _in_document(config.context[index], edit, origin)
    if part == "tools":
        return _in_tools(edit, origin)
    name = f"{part}/{rest[0]}" if rest and part != "context" else part
    path = origin.sources.recorded.get(name, origin.file)
    return Spot(Target(path=path), None, (part, name, path))


def tool_name(edit: Edit | About, config: AgentConfig) -> str:
    """Return the tool that an edit changes or adds; an empty text for edits of the whole list and of other parts."""
    index = _index(edit.path)
    if edit.path[0] != "tools" or index is None:
        return ""
    if isinstance(edit, Edit) and adds_item(edit) and isinstance(edit.after, dict):
        return str(edit.after.get("name", ""))
    return config.tools[index].name if index < len(config.tools) else ""


_UNREAD = ("implemented_by", "transcript", "reply")
"""Parts of a config that are agentmut's own words, and no text that a model or a user reads."""


def changed_text(mutant: Mutant) -> tuple[str, str]:
    """Return the text before and after the change, for readers; several edits are joined by line breaks."""
    edits = [edit for edit in mutant.edits if edit.path[-1] not in _UNREAD]
    before = "\n".join(_readable(edit.before) for edit in edits if edit.before is not None)
    after = "\n".join(_readable(edit.after) for edit in edits if edit.after is not None)
    return before, after


def adds_item(edit: Edit | About) -> bool:
    """Return whether the edit adds a tool or a document to its list."""
    return isinstance(edit, Edit) and len(edit.path) == 2 and edit.before is None and edit.span is None


def _index(path: tuple[str, ...]) -> int | None:
    return int(path[1]) if len(path) > 1 and path[1].isdigit() else None


def _in_prompt(edit: Edit | About, origin: Origin) -> Spot:
    sources, prompt = origin.sources, origin.config.prompt
    path = sources.prompt or sources.recorded.get("prompt", origin.file)
    names = ("prompt", path)
    if edit.span is not None and sources.prompt_parts:
        return _in_parts(edit.span, origin, path)
    if edit.span is None or (sources.prompt is None and sources.prompt_line is None):
        return Spot(Target(path=path), None, names)
    first, last = (sources.prompt_position(prompt, offset) for offset in _ends(prompt, edit.span))
    if sources.prompt:
        return Spot(Target(path=path, line=first.line, column=first.column), last.line, names)
    above = (sources.prompt_line or 1) - 1  # the block's indent, and so the column, is not known
    return Spot(Target(path=path, line=first.line + above), last.line + above, names)


def _in_parts(span: tuple[int, int], origin: Origin, path: str) -> Spot:
    """Return the place in a prompt whose parts are in another tool's file, or in several files."""
    prompt = origin.config.prompt
    first, last = (origin.sources.part_place(prompt, offset) for offset in _ends(prompt, span))
    (part, line, column), (_, last_line, _) = first, last
    file = part.file or path
    return Spot(Target(path=file, line=line, column=column), last_line, ("prompt", path, file))


def _in_document(document: Document, edit: Edit | About, origin: Origin) -> Spot:
    path, text, names = document.name, document.text, (document.name, "context")
    if edit.span is None:
        return Spot(Target(path=path), None, names)
    ends = _ends(text, edit.span)
    first, last = (origin.sources.document_position(path, text, offset) for offset in ends)
    return Spot(Target(path=path, line=first.line, column=first.column), last.line, names)


def _ends(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the first and the last character of a span that are no blanks: a cut may begin with a line break.

    What is added behind the last word stands on its line, as the text has no later one.
    """
    start, end = span
    if start == end:
        at = min(start, len(text.rstrip()))
        return at, at
    quoted = text[start:end]
    if not quoted.strip():
        return start, max(start, end - 1)
    return start + len(quoted) - len(quoted.lstrip()), start + len(quoted.rstrip()) - 1


def _in_tools(edit: Edit | About, origin: Origin) -> Spot:
    name = tool_name(edit, origin.config)
    path = origin.sources.tools or origin.sources.recorded.get("tools", origin.file)
    place = origin.sources.tool_places.get(name)
    names = ("tools", *([f"tools/{name}"] if name else []), path)
    target = Target(path=place.path, line=place.line) if place else Target(path=path)
    return Spot(target, target.line, (*names, target.path or path))


def _readable(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "name" in value:
        return str(value["name"]) if "text" not in value else str(value["text"])
    if isinstance(value, list):
        return ", ".join(_readable(item) if not _is_document(item) else str(item["name"]) for item in value)
    return canonical_json(value)


def _is_document(value: object) -> bool:
    return isinstance(value, dict) and "text" in value
