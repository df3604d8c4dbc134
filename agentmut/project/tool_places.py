"""Find where each tool of a list is written: the line in its file, or the function in the user's module."""

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentmut._base import KeyPath, YamlSource, position
from agentmut.nouns import Place

ItemPlace = Callable[[int], Place | None]
"""The place of the list's item of that number, where it can be told."""


def in_yaml(source: YamlSource, path: tuple[str | int, ...] = ()) -> ItemPlace:
    """Return the places in a YAML file whose list stands at `path`."""
    return lambda index: Place(path=source.label, line=source.line((*path, index)))


def in_json(text: str, label: str) -> ItemPlace:
    """Return the places in a JSON file that is one list."""
    starts = list(_items(text, _after_blanks(text, 0)))
    return lambda index: Place(path=label, line=position(text, starts[index]).line)


def in_modules(found: Sequence[Any], root: Path) -> ItemPlace:
    """Return the places of functions and classes in files under `root`; other objects have none."""
    return lambda index: _definition(found[index], root)


def json_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of each key of a JSON object, and of the items of a list at one key.

    The text is known to be valid JSON; one that is no object has none.
    """
    found: dict[KeyPath, int] = {}
    start = _after_blanks(text, 0)
    for key, key_at, at in _entries(text, start) if text[start] == "{" else ():
        found[(key,)] = position(text, key_at).line
        for index, item in enumerate(_items(text, at) if text[at] == "[" else ()):
            found[(key, index)] = position(text, item).line
    return found


def _entries(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield each key of the JSON object that begins at `start`, with its place and its value's place."""
    decoder = json.JSONDecoder()
    at = _after_blanks(text, start + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        value = _after_blanks(text, _after_blanks(text, end) + 1)
        yield str(key), at, value
        _, end = decoder.raw_decode(text, value)
        at = _after_blanks(text, end)
        at = _after_blanks(text, at + 1) if text[at] == "," else at


def _items(text: str, start: int) -> Iterator[int]:
    """Yield where each item of the JSON list that begins at `start` begins."""
    decoder = json.JSONDecoder()
    at = _after_blanks(text, start + 1)
    while text[at] != "]":
        yield at
        _, end = decoder.raw_decode(text, at)
        at = _after_blanks(text, end)
        at = _after_blanks(text, at + 1) if text[at] == "," else at


def _after_blanks(text: str, start: int) -> int:
    while text[start] in " \t\r\n":  # the text is valid JSON, and a list of it ends with a bracket
        start += 1
    return start


def _definition(tool: Any, root: Path) -> Place | None:
    made_from = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool
    try:
        code = inspect.unwrap(made_from)
        path = Path(inspect.getsourcefile(code) or "").resolve()
        line = inspect.getsourcelines(code)[1]
    except (TypeError, OSError, ValueError):  # a mapping, or something made at run time
        return None
    return Place(path=path.relative_to(root).as_posix(), line=line) if path.is_relative_to(root) else None
