"""Read the fields of a structured answer, or of a block of JSON in a text."""

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import JsonValue

from agentmut._base import arguments
from agentmut.language.extractors.leaves import leaves
from agentmut.language.extractors.value_facts import stated, together
from agentmut.nouns import AgentTrace, Fact, Scenario

_BEGINS = re.compile(r"[{\[]")
_MOST_TRIES = 50


class JsonFields:
    """`json`: the fields of a structured answer, or of the first JSON object or list in a text.

    The order of a list never makes a difference; what stands together in an object of a list does. Argument: JSON
    pointers of the only fields that count, such as `[/status, /items]`; each stands for all below it.
    """

    name: ClassVar[str] = "json"

    def __init__(self, argument: JsonValue = None) -> None:
        what = "JSON pointers, such as [/status, /items]"
        self.pointers = None if argument is None else arguments.texts(argument, what)
        if wrong := [pointer for pointer in self.pointers or () if not pointer.startswith("/")]:
            raise ValueError(f"expects {what}, got {wrong[0]!r}; a pointer begins with a slash")

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return the fields of every answer."""
        found = (value for output in trace.outputs for value in self._fields(output))
        return frozenset(Fact(self.name, value) for value in found)

    def _fields(self, output: JsonValue) -> Iterator[str]:
        value = json_in(output) if isinstance(output, str) else output
        if isinstance(value, dict | list):
            for pointer, leaf in leaves(value):
                if self._counts(pointer):
                    yield from stated(pointer, leaf)
            if self.pointers is None:
                yield from together("", value)

    def _counts(self, pointer: str) -> bool:
        if self.pointers is None:
            return True
        asked = [re.sub(r"/\d+(?=/|$)", "/*", one) for one in self.pointers]
        return any(pointer == one or pointer.startswith(f"{one}/") for one in asked)


def json_in(text: str) -> JsonValue:
    """Return the first JSON object, or list of objects, in a text; None if there is none.

    >>> json_in('Here it is: {"status": "shipped"}.')
    {'status': 'shipped'}
    """
    decoder = json.JSONDecoder()
    for _, match in zip(range(_MOST_TRIES), _BEGINS.finditer(text), strict=False):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if _has_fields(value):
            found: JsonValue = value
            return found
    return None


def _has_fields(value: Any) -> bool:
    """Return whether the value is an object, or a list with objects: `[1]` is often a footnote."""
    return any(isinstance(item, dict) and item for item in (value if isinstance(value, list) else [value]))
