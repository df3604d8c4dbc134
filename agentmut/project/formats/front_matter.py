"""Front matter: the data between two lines of `---` at the beginning of a text file."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from agentmut._base import compose
from agentmut.language import front_matter
from agentmut.nouns import ToolSpec

_ENTRY = re.compile(r"^(?P<key>[\w-]+):[ \t]*(?P<value>.*)$", re.MULTILINE)
_ARGUMENTS = re.compile(r"\([^)]{0,200}\)")


class FrontMatter(NamedTuple):
    """The data of a file and the text below it, which begins on `line`, counted from 1."""

    data: dict[str, Any]
    body: str
    line: int
    start: int
    """The offset in the file at which the body begins."""


def split_front_matter(text: str) -> FrontMatter:
    """Return the data and the body of a text; without front matter there are no data.

    >>> split_front_matter("---\\nname: reviewer\\n---\\nBe strict.").body
    'Be strict.'
    """
    written, start = front_matter(text)
    data = _data(written) if written else {}
    return FrontMatter(data, text[start:], text.count("\n", 0, start) + 1, start)


def _data(written: str) -> dict[str, Any]:
    """Return the data as YAML; as one key a line where it is none, as descriptions with a colon often are not."""
    try:
        node = compose(written)
        value = yaml.SafeLoader("").construct_document(node) if node else {}
    except (yaml.YAMLError, ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    return {entry["key"]: entry["value"].strip() for entry in _ENTRY.finditer(written)}


def named_tools(value: Any) -> tuple[ToolSpec, ...]:
    """Return the tools that front matter names: a list, a text with commas, or a mapping of names to true or false.

    >>> [tool.name for tool in named_tools("Read, Bash(git diff:*)")]
    ['Read', 'Bash']
    """
    return tuple(ToolSpec(name=name) for name in dict.fromkeys(_names(value)) if name and "*" not in name)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (name.strip().strip("\"'") for name in _ARGUMENTS.sub("", value).strip("[]").split(","))
    elif isinstance(value, dict):
        yield from (str(name) for name, wanted in value.items() if wanted)
    elif isinstance(value, list):
        yield from (_ARGUMENTS.sub("", str(name)).strip() for name in value)
