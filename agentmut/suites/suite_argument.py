"""Read the argument of a suite, and report missing dependencies."""

import importlib.util
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from agentmut._base import UsageError, nearest

Model = TypeVar("Model", bound=BaseModel)


def read_settings(model: type[Model], argument: JsonValue, where: str, short: str = "") -> Model:
    """Return the argument as a `model`; an argument that is no mapping stands for the key `short`.

    Raises `UsageError`, which says where the mistake is and what is expected.
    """
    given = argument if isinstance(argument, Mapping) or not short else {short: argument}
    known = [name for name, field in model.model_fields.items() if field.init is not False]
    if not isinstance(given, Mapping):
        raise UsageError(f"{where}: expects a mapping with {', '.join(known)}, got {argument!r}")
    if unknown := sorted(given.keys() - set(known)):
        raise UsageError(f"{where}: unknown key {unknown[0]!r}. {nearest(unknown[0], known)}")
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, (where, *first["loc"])))
        if first["type"] == "missing":
            raise UsageError(f"{key}: is missing; {where} takes {', '.join(known)}") from None
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{key}: {message}, got {first['input']!r}") from None


def require(module: str, extra: str, where: str) -> None:
    """Raise `UsageError` with the install command unless `module` can be imported."""
    if importlib.util.find_spec(module) is None:
        raise UsageError(f"{where}: {module} is not installed here. Run: pip install 'agentmut[{extra}]'")
