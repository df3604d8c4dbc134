"""Validation of a YAML file against its pydantic model, with errors that a user can act on."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agentmut._base.errors import ProjectError, nearest
from agentmut._base.plain_fault import plain_message
from agentmut._base.yaml_source import KeyPath, YamlSource

Model = TypeVar("Model", bound=BaseModel)

NOT_YET: tuple[tuple[KeyPath, Any, str], ...] = (
    (("execution", "executor"), "ray", "`executor: ray` is written `engine: ray`"),
)
"""Keys that are planned but not there: path, value (None for any), and what to say."""


def validated(source: YamlSource, model: type[Model]) -> Model:
    """Read the file as a `model`. Raises `ProjectError` with one line for each problem.

    Types are strict: text is not read as a number, nor true as 1.
    """
    try:
        return model.model_validate_json(json.dumps(source.value), strict=True)
    except ValidationError as error:
        raise ProjectError(joined(_problems(source, model, error.errors()))) from None


def joined(problems: Iterable[str]) -> str:
    """Return several problems as one message: one line each."""
    return "\n".join(dict.fromkeys(problems))


def _problems(source: YamlSource, model: type[BaseModel], details: Iterable[ErrorDetails]) -> Iterator[str]:
    merged: dict[KeyPath, list[str]] = {}
    for detail in details:
        path = _path_in_file(source.value, detail)
        merged.setdefault(path, []).append(_message(detail, path, model))
    for path, messages in merged.items():  # members of a union report one error each
        said = _not_yet(path, source.value) or " or ".join(dict.fromkeys(messages))
        yield source.problem(path, f"{said}{_got(path, source.value, said)}")


def _path_in_file(value: Any, detail: ErrorDetails) -> KeyPath:
    """Return the error's location without the names of union members, which are not in the file."""
    path: list[str | int] = []
    for part in detail["loc"]:
        if part in (
            value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        ):
            value = value[part]
            path.append(part)
    if detail["type"] == "missing":
        path.append(detail["loc"][-1])
    return tuple(path)


def _message(detail: ErrorDetails, path: KeyPath, model: type[BaseModel]) -> str:
    if detail["type"] == "extra_forbidden":
        return f"unknown key. {nearest(str(path[-1]), _known_keys(model, path[:-1]))}"
    if path[-1:] == ("reason",) and detail["type"] in ("missing", "string_too_short"):
        return "is missing: write why the mutant does not matter, as in `reason: the greeting is cosmetic`"
    return plain_message(detail)


def _got(path: KeyPath, value: Any, text: str) -> str:
    """Return the found value, if the message concerns a value."""
    if "should" not in text:
        return ""
    for part in path:
        value = value[part]
    hint = " (quote it if it is meant as text)" if "text" in text and _is_bare(value) else ""
    hint = _number_hint(value) if "number" in text and isinstance(value, str) else hint
    shown = json.dumps(value, ensure_ascii=False)
    return f", got {shown if len(shown) <= 80 else shown[:77] + '...'}{hint}"


def _number_hint(value: str) -> str:
    """Return how YAML writes a number with an exponent, since it takes `1e3` for text.

    >>> _number_hint("1e3"), _number_hint("many")
    (' (YAML reads it as text: write 1.0e+3)', '')
    """
    match = re.fullmatch(r"([+-]?\d+)(\.\d+)?[eE]([+-]?)(\d+)", value)
    if match is None:
        return ""
    whole, part, sign, power = match.groups()
    return f" (YAML reads it as text: write {whole}{part or '.0'}e{sign or '+'}{power})"


def _is_bare(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _not_yet(path: KeyPath, value: Any) -> str:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else value
    for known, planned, said in NOT_YET:
        if path == known and planned in (None, value):
            return said
    return ""


def _known_keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the keys that a mapping of the file may have."""
    annotation: Any = model
    for part in path:
        annotation = _member(annotation, part)
    found = _model_in(annotation)
    return list(found.model_fields) if found else []


def _member(annotation: Any, part: str | int) -> Any:
    if isinstance(part, int):  # an item's type is found inside its list's
        return annotation
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    found = _model_in(annotation)
    return found.model_fields[part].annotation if found and part in found.model_fields else None


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        root = annotation.model_fields.get("root")
        return _model_in(root.annotation) if root else annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
