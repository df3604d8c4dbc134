"""The base of every noun: immutable, closed to unknown keys, with one canonical JSON form."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError


class Frozen(BaseModel):  # noqa: PLW1641  (pydantic makes the hash of a frozen model)
    """A pydantic model that cannot be changed and refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed and without the cached values."""
        copied = super().model_copy(update=update, deep=deep)
        fields = type(self).model_fields
        if len(copied.__dict__) > len(fields):
            for cached in copied.__dict__.keys() - fields.keys():
                del copied.__dict__[cached]
        return copied

    def __eq__(self, other: object) -> bool:  # writing a noun without its defaults compares each with itself
        return self is other or super().__eq__(other)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no blanks: equal values give equal text on every platform.

    >>> canonical_json({"b": 1.0, "a": "é"})
    '{"a":"é","b":1.0}'
    """
    return _CANONICAL.encode(value)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical form, as 64 hex digits."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def storable_json(model: BaseModel, **options: Any) -> str:
    """Return a model's JSON as valid UTF-8 text: a lone surrogate becomes a question mark.

    Agents answer anything, and one odd character may cost neither the trial nor the run. `options` are
    those of `model_dump_json`.
    """
    try:
        return model.model_dump_json(**options)
    except PydanticSerializationError:
        indent = options.pop("indent", None)
        plain = model.model_dump(mode="python", **options)
        written = json.dumps(plain, ensure_ascii=False, default=str, indent=indent)
        return written.encode("utf-8", "replace").decode()
