"""The fault of a value, in words for the writer of a file instead of a Python programmer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "extra_forbidden": "unknown key",
        "string_pattern_mismatch": "should have the form module:object",
        "tuple_type": "should be a list",
        "list_type": "should be a list",
        "model_type": "should be a mapping of keys to values",
        "dict_type": "should be a mapping of keys to values",
        "int_type": "should be a whole number",
        "int_parsing": "should be a whole number",
        "int_from_float": "should be a whole number",
        "float_type": "should be a number",
        "float_parsing": "should be a number",
        "string_type": "should be text",
        "bool_type": "should be true or false",
        "bool_parsing": "should be true or false",
    }
)
"""Messages by pydantic's error type."""


class Fault(NamedTuple):
    """The first fault of a value."""

    path: tuple[str | int, ...]
    """The keys and places that lead to it; empty where the value as a whole is meant."""
    message: str
    got: Any

    @property
    def is_missing(self) -> bool:
        """Return whether the value is missing."""
        return self.message == PLAIN["missing"]

    def under(self, where: str = "") -> str:
        """Return the dotted path below `where`, and the fault there."""
        path = ".".join(map(str, (*([where] if where else ()), *self.path)))
        return f"{path}: {self.message}" if path else self.message

    def with_value(self, where: str = "") -> str:
        """Return path and fault with the faulty value, if the fault concerns a value."""
        return f"{self.under(where)}{f', got {self.got!r}' if 'should' in self.message else ''}"


def first_fault(error: ValidationError) -> Fault:
    """Return the first fault that a validation found.

    >>> from pydantic import BaseModel, Field, ValidationError
    >>> class Limits(BaseModel):
    ...     cpus: float = Field(gt=0)
    >>> try:
    ...     Limits(cpus=0)
    ... except ValidationError as error:
    ...     print(first_fault(error).under("container"))
    container.cpus: should be greater than 0
    """
    detail = error.errors()[0]
    return Fault(detail["loc"], plain_message(detail), detail["input"])


def plain_message(detail: ErrorDetails) -> str:
    """Return one fault in plain words, without the faulty value."""
    if detail["type"] in ("too_short", "string_too_short"):
        return _too_short(
            int((detail.get("ctx") or {}).get("min_length", 1)), text="string" in detail["type"]
        )
    said = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return PLAIN.get(detail["type"], said)


def _too_short(least: int, *, text: bool) -> str:
    """Return the least length of a text or list, in words.

    >>> _too_short(1, text=True), _too_short(2, text=False)
    ('should not be empty', 'should have 2 items or more')
    """
    if least == 1:
        return "should not be empty"
    return f"should have {least} {'characters' if text else 'items'} or more"
