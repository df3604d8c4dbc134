"""Read the files that a project file points at: prompt, tools, documents."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from agentmut._base import (
    REFERENCE,
    ProjectError,
    UsageError,
    first_fault,
    import_object,
    parse_json,
    read_text,
    read_yaml,
    show_path,
)
from agentmut.nouns import Document, Place, ToolSpec, lacks_schema, read_tool
from agentmut.project.places import FOLDER
from agentmut.project.tool_checks import check_tool
from agentmut.project.tool_places import ItemPlace, in_json, in_modules, in_yaml

TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".text", ".prompt", ".jinja", ".jinja2", ".j2", ".rst", ".xml")
LONGEST_PATH = 1024


def read_prompt(value: str, root: Path) -> tuple[str, str | None]:
    """Return the prompt's text and its path (None if the text is in the project file).

    A value of one line is a path when it ends like a text file or when a file of that name exists.
    """
    if not _may_be_path(value):
        return value, None
    if is_missing_text(value, root):
        raise ProjectError(
            f"there is no file {value!r} in {root}. Correct the path; if this is the prompt itself, "
            "write it as a block (`prompt: |` and the text indented below)"
        )
    return (read_text(root / value, value), value) if _is_file(root / value) else (value, None)


def is_missing_text(value: str, root: Path) -> bool:
    """Return whether a prompt's value is the path of a missing text file."""
    return _may_be_path(value) and value.endswith(TEXT_SUFFIXES) and not _is_file(root / value)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a name, or in a directory that may not be searched
        return False


def _may_be_path(value: str) -> bool:
    return bool(value) and len(value) <= LONGEST_PATH and value.isprintable()


def read_documents(paths: Iterable[str], root: Path) -> Iterator[Document]:
    """Return the documents at these paths, each named by its path."""
    for path in paths:
        if not _is_file(root / path):
            raise ProjectError(f"there is no file {path!r} in {root}. Paths are relative to the project file")
        yield Document(name=path, text=read_text(root / path, path))


def read_workspace(patterns: Iterable[str], root: Path) -> Iterator[Document]:
    """Return the files with instructions that these patterns find, each named by its path, in the order of patterns.

    Raises `ProjectError` for a pattern that finds no file, or leaves the project's folder.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern.startswith("/") or ".." in Path(pattern).parts:
            raise ProjectError(
                f"{pattern!r} leaves the project's folder. Write it relative to the project file"
            )
        files = sorted(path for path in root.glob(pattern) if path.is_file() and FOLDER not in path.parts)
        if not files:
            raise ProjectError(f"{pattern!r} finds no file in {root}. Correct the pattern, or leave it out")
        found |= dict.fromkeys(path.relative_to(root).as_posix() for path in files)
    return read_documents(found, root)


class ReadTools(NamedTuple):
    """Tools, and the place where each is written, if known."""

    tools: tuple[ToolSpec, ...] = ()
    places: dict[str, Place] = {}  # noqa: RUF012  (never changed)
    without_schema: tuple[str, ...] = ()
    """Names of those that are written without their parameters."""


def read_tools(reference: str, root: Path) -> ReadTools:
    """Return the tools of a YAML or JSON file, or of `module:object`."""
    if REFERENCE.fullmatch(reference):
        found = import_object(reference, root)
        listed = list(found) if _is_listing(found) else found
        return tools_of(listed, reference, in_modules(listed, root) if isinstance(listed, list) else None)
    found, places = _tools_file(reference, root)
    return tools_of(found, reference, places)


def tools_of(found: Any, where: str, place: ItemPlace | None = None) -> ReadTools:
    """Return the tools of a list; `where` names it in errors."""
    if not _is_listing(found):
        raise ProjectError(f"{where} holds a {type(found).__name__}; expected a list of tools")
    listed = list(found)
    tools = tuple(_tool(tool, index, where) for index, tool in enumerate(listed))
    _refuse_duplicates([tool.name for tool in tools], where)
    places = {tool.name: place(index) if place else None for index, tool in enumerate(tools)}
    bare = (read.name for tool, read in zip(listed, tools, strict=True) if lacks_schema(tool))
    return ReadTools(tools, {name: found for name, found in places.items() if found}, tuple(bare))


def _is_listing(found: Any) -> bool:
    return isinstance(found, Iterable) and not isinstance(found, dict | str)


def _tools_file(reference: str, root: Path) -> tuple[Any, ItemPlace | None]:
    path = root / reference
    if not _is_file(path):
        raise ProjectError(
            f"there is no file {reference!r} in {root}. Write the path of a YAML or JSON file with a list of "
            "tools, or module:object"
        )
    if path.suffix != ".json":
        source = read_yaml(path, reference)
        return source.value, in_yaml(source)
    text = read_text(path, reference)
    found = parse_json(text, reference)
    return found, in_json(text, reference) if isinstance(found, list) else None


def _tool(tool: Any, index: int, where: str) -> ToolSpec:
    try:
        return check_tool(read_tool(tool))
    except ValidationError as error:
        fault = first_fault(error)
        raise ProjectError(f"{where}: tool {index + 1}: {show_path(fault.path)}: {fault.message}") from error
    except (UsageError, ValueError, TypeError) as error:
        raise ProjectError(f"{where}: tool {index + 1}: {error}") from error


def _refuse_duplicates(names: list[str], where: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ProjectError(f"{where} has more than one tool named {twice[0]!r}; tools need unique names")
