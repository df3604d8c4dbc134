"""Texts of a YAML or JSON file, with the lines on which they are written."""

from typing import Any

from agentmut._base import KeyPath, YamlSource
from agentmut.seams import WrittenText


def written_at(source: YamlSource, key: KeyPath) -> tuple[WrittenText, ...]:
    """Return the text at a key, without blank lines around it; nothing where there is no text."""
    value: Any = source.value
    for part in key:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    if not isinstance(value, str) or not value.strip():
        return ()
    block = source.blocks.get(key)
    skipped = len(value) - len(value.lstrip("\n"))
    line = block + skipped if block else source.line(key)
    return (WrittenText(text=value.strip("\n"), line=line, by_line=bool(block)),)


def heading(title: str, first: bool = False) -> WrittenText:
    """Return a heading that stands in no file, after an empty line unless it is the first."""
    return WrittenText(text=f"{'' if first else chr(10) * 2}## {title}\n")
