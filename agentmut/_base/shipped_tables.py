"""The word lists and tables that agentmut ships as YAML, next to the modules that read them."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def shipped(package: str, name: str) -> Mapping[str, Any]:
    """Return the texts, lists and tables of `NAME.yaml` in a package, by their names. Each file is read once."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML has it
    plain: Mapping[str, Any] = yaml.load(files(package).joinpath(f"{name}.yaml").read_text("utf-8"), loader)
    return plain
