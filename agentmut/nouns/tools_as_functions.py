"""Tools that a prompt describes as Python functions, where the request has no list of tools.

That is how agents write that call tools in code, such as the CodeAgent of smolagents:

    def look_up_order(order_id: string) -> string:
        \"\"\"Look up an order.

        Args:
            order_id: Its number.
        \"\"\"
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from textwrap import dedent
from typing import Any

from agentmut.nouns.tools import ToolSpec

ANSWER = "final_answer"
"""The function among them by a call of which the answer is given."""
_FUNCTION = re.compile(
    r'^def (?P<name>\w+)(?>\((?P<signature>[^\n]*)\) -> )[^\n]*+(?<=:)\n    """(?P<told>.*?)\n    """$',
    re.MULTILINE | re.DOTALL,
)
_PARAMETER = re.compile(r"\b(\w+): (.*?)(?=, \w+: |$)")
_ABOUT_RESULTS = "\n\nImportant: This tool returns structured output!"


@lru_cache(maxsize=256)
def told_tools(text: str) -> tuple[ToolSpec, ...]:
    """Return the functions that a prompt describes; empty for a prompt of another kind."""
    return tuple(map(_spec, _FUNCTION.finditer(text))) if f"\ndef {ANSWER}(" in text else ()


def _spec(found: re.Match[str]) -> ToolSpec:
    told, _, about = dedent(f"    {found['told']}").partition("\n\nArgs:\n")
    described = dict(_described(about.partition("\n\n")[0]))
    properties: dict[str, Any] = {
        name: {"type": _kind(kind), "description": described.get(name, "")}
        for name, kind in _PARAMETER.findall(found["signature"])
    }
    return ToolSpec(
        name=found["name"],
        description=told.partition(_ABOUT_RESULTS)[0],
        parameters={"type": "object", "properties": properties},
    )


def _kind(text: str) -> Any:
    """Read a type, or a list of types."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _described(about: str) -> Iterator[tuple[str, str]]:
    """Write the description of each parameter on a new line."""
    for line in about.splitlines():
        name, colon, text = line.strip().partition(":")
        if colon:
            yield name, text.strip()


_FORMAT = "Action Input:"
"""What such a prompt says of how tools are called."""
_TOOL = re.compile(
    r"^> Tool Name: (?P<name>\S+)\nTool Description: (?P<told>(?:(?!^> Tool Name: ).)*?)\n"
    r"Tool Args: (?P<args>\{.*?\})$",
    re.MULTILINE | re.DOTALL,
)


@lru_cache(maxsize=256)
def listed_tools(text: str) -> tuple[ToolSpec, ...]:
    """Return the tools that a prompt lists; empty for a prompt of another kind."""
    return tuple(_specs(text)) if _FORMAT in text else ()


def _specs(text: str) -> Iterator[ToolSpec]:
    for found in _TOOL.finditer(text):
        try:
            schema = json.loads(found["args"])
            yield ToolSpec(name=found["name"], description=found["told"], parameters=schema)
        except (ValueError, RecursionError):  # a text that only looks like it
            continue
