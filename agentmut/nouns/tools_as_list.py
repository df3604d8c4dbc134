"""Tools that a model is told of in the prompt, one after the other, where no list of tools is sent.

That is how the ReAct agents of LlamaIndex tell of theirs:

    > Tool Name: look_up_order
    Tool Description: Look up an order.
    Tool Args: {"properties": {"order_id": {"type": "string"}}, "type": "object"}
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from agentmut.nouns.tools import ToolSpec

_FORMAT = "Action Input:"
"""What such a prompt says of how tools are called."""
_TOOL = re.compile(
    r"^> Tool Name: (?P<name>\S+)\nTool Description: (?P<told>(?:(?!^> Tool Name: ).)*?)\n"
    r"Tool Args: (?P<args>\{.*?\})$",
    re.MULTILINE | re.DOTALL,
)


@lru_cache(maxsize=256)
def listed_tools(text: str) -> tuple[ToolSpec, ...]:
    """The tools that a prompt tells of; none where it is no prompt of this kind."""
    return tuple(_specs(text)) if _FORMAT in text else ()


def _specs(text: str) -> Iterator[ToolSpec]:
    for found in _TOOL.finditer(text):
        try:
            schema = json.loads(found["args"])
            yield ToolSpec(name=found["name"], description=found["told"], parameters=schema)
        except (ValueError, RecursionError):  # a text that only looks like it
            continue
