"""YAML read with the line of every key, for the places in errors."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import JsonValue

from agentmut._base.errors import ProjectError

KeyPath = tuple[str | int, ...]
COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True)
class YamlSource:
    """A parsed file: its value as JSON, and the line of each key or list item."""

    label: str
    """The file's name as errors show it."""
    value: JsonValue
    lines: Mapping[KeyPath, int]
    blocks: Mapping[KeyPath, int] = field(default_factory=dict)
    """The line on which the text of a literal block (`key: |`) begins."""

    def line(self, path: KeyPath) -> int:
        """Return the line of the key, or of the nearest enclosing key in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem(self, path: KeyPath, message: str) -> str:
        """Return one line for a reader: file:line, key path, and the fault."""
        where = f"{self.label}:{self.line(path)}"
        return f"{where}: {show_path(path)}: {message}" if path else f"{where}: {message}"


def show_path(path: KeyPath) -> str:
    """Return a key path in its written form.

    >>> show_path(("suite", "scenarios", 0, "name"))
    'suite.scenarios[0].name'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def read_yaml(path: Path, label: str) -> YamlSource:
    """Parse one YAML document of plain data. Raises `ProjectError` with line and column.

    Keys are the text that is written, dates stay text, and a key given twice is refused.
    """
    return yaml_of(read_text(path, label), label)


def yaml_of(text: str, label: str) -> YamlSource:
    """Parse the text of one YAML document, as `read_yaml` does. `label` names it in errors."""
    try:
        root = compose(text)
        if root is None:
            raise ProjectError(f"{label} is empty. `agentmut init` writes a commented example.")
        reader = _Reader()
        value = reader.value(root, ())
    except yaml.MarkedYAMLError as error:
        raise ProjectError(_syntax_message(label, error)) from error
    except RecursionError:
        raise ProjectError(f"{label} is nested too deeply. Write it flatter.") from None
    except yaml.YAMLError as error:  # characters that no YAML file may hold, or too many
        raise ProjectError(f"{label} is not YAML that can be read: {error}") from error
    return YamlSource(label, value, MappingProxyType(reader.lines), MappingProxyType(reader.blocks))


def read_text(path: Path, label: str) -> str:
    """Return a UTF-8 text file, with or without a byte order mark. Raises `ProjectError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(
            f"{label} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}). "
            "Save it in UTF-8."
        ) from None
    except OSError as error:
        raise ProjectError(f"{label} cannot be read: {error.strerror or error}.") from error


_MOST = 8 * 2**20
"""The most characters of a document: reading them takes some 15 s of processor time and 800 MB of memory."""


def _loader(text: str) -> yaml.SafeLoader:
    """Return a loader for plain data, which keeps dates as text, since JSON has none."""
    loader = yaml.SafeLoader(text)
    loader.yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return loader


def compose(text: str) -> yaml.Node | None:
    """Return the nodes of a document, with their places. Raises `yaml.YAMLError`."""
    if len(text) > _MOST:
        raise yaml.YAMLError(
            f"it has {len(text) / 2**20:.0f} million characters, and at most {_MOST >> 20} are read. Divide it among "
            "several files"
        )
    loader = _loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


_MOST_BITS = 14_000
"""The most bits of a number. Python writes 4,300 digits at most; YAML reads `0xFF...` and `59:59:...` of any length."""
_MOST_REPEATED = 100_000
"""Values read through aliases: a few nested ones can stand for billions."""


class _Reader:
    """Turns nodes into JSON values and notes the line of each."""

    def __init__(self) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.blocks: dict[KeyPath, int] = {}
        self.constructor = _loader("")
        self.open_nodes: list[yaml.Node] = []
        self.read: set[int] = set()
        self.repeated = 0

    def value(self, node: yaml.Node, path: KeyPath) -> JsonValue:
        """Return the JSON value of a node and note its line; refuse aliases that would grow without bound."""
        if any(node is parent for parent in self.open_nodes):
            raise _fault(node, "an alias may not contain itself")
        self.repeated += id(node) in self.read
        self.read.add(id(node))
        if self.repeated > _MOST_REPEATED:
            raise _fault(node, f"aliases stand for more than {_MOST_REPEATED} values; write fewer")
        self.lines.setdefault(path, node.start_mark.line + 1)
        self.open_nodes.append(node)
        try:
            return self._read(node, path)
        finally:
            self.open_nodes.pop()

    def _read(self, node: yaml.Node, path: KeyPath) -> JsonValue:
        if isinstance(node, yaml.CollectionNode) and node.tag not in COLLECTIONS:
            raise _unsupported(node)
        if isinstance(node, yaml.MappingNode):
            return dict(self._entries(node, path))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.style == "|":
            # lines count from 0, and the text begins below the key
            self.blocks[path] = node.start_mark.line + 2
        return self._scalar(node)

    def _entries(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str, JsonValue]]:
        _refuse_duplicates(node)
        self.constructor.flatten_mapping(node)  # resolves `<<` merges
        for key, value in node.value:
            self.lines[(*path, key.value)] = key.start_mark.line + 1
            yield key.value, self.value(value, (*path, key.value))

    def _scalar(self, node: yaml.Node) -> JsonValue:
        try:
            value: Any = self.constructor.construct_object(node)
        except (ValueError, LookupError) as error:  # `!!int x`, or a number of thousands of digits
            raise _fault(node, f"{node.tag} cannot be read: {error}") from error
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise _fault(node, "a number with thousands of digits is not supported")
        if isinstance(value, float) and not math.isfinite(value):
            raise _fault(node, f"{node.value} is not a number that can be used here")
        if value is not None and not isinstance(value, str | int | float | bool):
            raise _unsupported(node)
        return value


def _refuse_duplicates(node: yaml.MappingNode) -> None:
    first: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _fault(key, "a key must be text")
        if key.value in first:
            raise _fault(key, f"the key {key.value!r} is given twice (first in line {first[key.value]})")
        first[key.value] = key.start_mark.line + 1


def _unsupported(node: yaml.Node) -> yaml.MarkedYAMLError:
    return _fault(node, f"{node.tag} is not supported; write text, numbers, lists and mappings")


def _fault(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _syntax_message(label: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"{label}:{mark.line + 1}:{mark.column + 1}" if mark else label
    return f"{where}: {' '.join(filter(None, (error.context, error.problem)))}. Correct the YAML there."
