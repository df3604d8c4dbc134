"""The model that an agent's file names in its source, without running any of its code."""

import ast
from collections.abc import Iterator
from pathlib import Path

_OF_MODELS = frozenset({"model", "model_name"})


def model_in(file: Path) -> str:
    """Return the only model that a Python file names as `model="..."` or `MODEL = "..."`; empty if none or several.

    A name with a provider in it, such as `openai:gpt-x`, is left out: requests name the model in another way.
    """
    try:
        tree = ast.parse(file.read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return ""
    found = {name for name in _named(tree) if name}
    (name, *others) = found or {""}
    return "" if others or {":", "/"} & set(name) else name


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=str(name), value=value) if name in _OF_MODELS:
                yield _text(value)
            case ast.Assign(targets=targets, value=value) if any(map(_is_of_model, targets)):
                yield _text(value)


def _is_of_model(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.lower() in _OF_MODELS


def _text(value: ast.expr) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
