"""Read the argument of a suite, and report missing dependencies."""

import importlib.util
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from agentmut._base import UsageError, first_fault, nearest

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
        fault = first_fault(error)
        if fault.is_missing:
            raise UsageError(f"{fault.under(where)}; {where} takes {', '.join(known)}") from None
        raise UsageError(f"{fault.with_value(where)}") from None


def require(module: str, extra: str, where: str) -> None:
    """Raise `UsageError` with the install command unless `module` can be imported."""
    if importlib.util.find_spec(module) is None:
        raise UsageError(f"{where}: {module} is not installed here. Run: pip install 'agentmut[{extra}]'")
