"""Lists of tools, as the files of other tools hold or name them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentmut.nouns import ToolSpec
from agentmut.project.parts import read_tools, tools_of

FILE = "file://"


def tools_in(value: Any, folder: Path, where: str) -> tuple[ToolSpec, ...]:
    """Return the tools of a list, or of the file that `file://...` names. `where` names the list in errors.

    Tools that a service brings along, such as a code interpreter, have no schema and are left out. Raises
    `ProjectError` for a tool that cannot be read.
    """
    if isinstance(value, str) and value.startswith(FILE):
        path = value.removeprefix(FILE)
        return read_tools(path, folder).tools if path.endswith((".json", ".yaml", ".yml")) else ()
    if not isinstance(value, list):
        return ()
    return tools_of([_plain(tool) for tool in value if not is_of_service(tool)], where).tools


def _plain(tool: Any) -> Any:
    """Return the tool without the envelope of Adaline's gateway, as promptfoo's configs write it."""
    definition = tool.get("definition") if isinstance(tool, Mapping) else None
    schema = definition.get("schema") if isinstance(definition, Mapping) else None
    return schema if isinstance(schema, Mapping) else tool


def is_of_service(tool: Any) -> bool:
    """Return whether an entry of a list names a tool that the model's service carries out."""
    if not isinstance(tool, Mapping):
        return True
    kind = tool.get("type")
    described = any(key in tool for key in ("function", "parameters", "input_schema", "inputSchema"))
    return isinstance(kind, str) and kind not in ("function", "custom") and not described


def services_in(tools: Any) -> tuple[str, ...]:
    """Return the tools of a list that the model's service carries out, in words.

    >>> services_in([{"type": "file_search"}, {"type": "function", "function": {"name": "pay"}}])
    ('the tool file_search of the service',)
    """
    listed = tools if isinstance(tools, list) else []
    kinds = [
        str(one.get("type")) if isinstance(one, Mapping) else str(one) for one in listed if is_of_service(one)
    ]
    return tuple(f"the tool {kind} of the service" for kind in dict.fromkeys(kinds))
