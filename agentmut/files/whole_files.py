"""Files that are written whole or not at all."""

from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from agentmut.errors import StoreError
from agentmut.frozen import storable_json


def write_json(model: BaseModel, path: Path, remedy: str) -> Path:
    """Write a model as JSON. Raises `StoreError`: the trials are in the store, and `remedy` says how to go on."""
    scratch = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(storable_json(model, indent=2, by_alias=True) + "\n", encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink()
        raise StoreError(
            f"cannot write {path}: {error}. The trials are in the store: make room, then {remedy}."
        ) from error
    return path
