"""The JSON Schemas of the user's files, where editors find them: beside the project, as installed."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from agentmut._base import make_private_folder, write_private
from agentmut.project.places import FOLDER

SCHEMA_FOLDER = f"{FOLDER}/schemas"
_SHIPPED: Mapping[str, str] = MappingProxyType(
    {"project": "agentmut.schema.json", "scenarios": "scenarios.schema.json"}
)


def schema_line(path: str) -> str:
    """Return the comment that names the schema of a file to the YAML language server of editors; else nothing.

    `path` is the file's, relative to the project, with slashes.

    >>> schema_line("scenarios/first.yaml")
    '# yaml-language-server: $schema=../.agentmut/schemas/scenarios.schema.json\\n'
    """
    kind = "project" if path == "agentmut.yaml" else "scenarios" if path.startswith("scenarios/") else ""
    if not (kind and path.endswith(".yaml")):
        return ""
    return f"# yaml-language-server: $schema={'../' * path.count('/')}{SCHEMA_FOLDER}/{_SHIPPED[kind]}\n"


def write_schemas(root: Path) -> None:
    """Write the schemas of this version into `.agentmut/schemas`, unless they are there. Raises `OSError`."""
    for name in _SHIPPED.values():
        text = (files("agentmut.project") / name).read_bytes()
        path = root / SCHEMA_FOLDER / name
        if not path.is_file() or path.read_bytes() != text:
            make_private_folder(path.parent)
            write_private(path, text.decode())
