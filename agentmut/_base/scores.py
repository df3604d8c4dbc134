"""Scores of other tools as pass or fail: booleans directly, numbers by a least passing score."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, Strict, TypeAdapter, ValidationError

Number = Annotated[float, Field(allow_inf_nan=False), Strict()]
PassScore = Number | dict[str, Number] | None
"""The least score that passes: of all scores, or by the name of each."""
_ADAPTER: TypeAdapter[PassScore] = TypeAdapter(PassScore)


def read_pass_score(value: Any) -> PassScore:
    """Check a `pass_score`. Raises `ValueError`.

    >>> read_pass_score(0.8), read_pass_score({"accuracy": 1})
    (0.8, {'accuracy': 1.0})
    """
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError:
        raise ValueError(
            f"pass_score expects a number, or a number for each name of a score; got {value!r}"
        ) from None


def plain_score(value: Any) -> Any:
    """Return a score as a plain Python value, since numpy's scalars are no `bool` and no `int`.

    >>> plain_score(0.7), plain_score("C")
    (0.7, 'C')
    """
    alone = type(value).__module__ == "numpy" and getattr(value, "size", 0) == 1
    return value.item() if alone else value


def passes(value: Any, name: str, least: PassScore) -> bool | None:
    """Return whether a score passes; None if it is neither a boolean nor a number with a least score.

    >>> passes(True, "exact", None), passes(0.7, "tone", 0.8), passes(0.7, "tone", {"length": 1.0})
    (True, False, None)
    """
    value = plain_score(value)
    if isinstance(value, bool):
        return value
    wanted = least.get(name) if isinstance(least, Mapping) else least
    if wanted is None or not isinstance(value, int | float) or math.isnan(value):
        return None
    return value >= wanted


def score_reason(value: Any, name: str, least: PassScore, comment: str = "") -> str:
    """Return the reason of a check: the score, the least passing score, and the judge's comment.

    >>> score_reason(0.7, "tone", 0.8, "too curt")
    'tone is 0.7, and 0.8 would pass: too curt'
    """
    value = plain_score(value)
    wanted = least.get(name) if isinstance(least, Mapping) else least
    compared = isinstance(value, int | float) and not isinstance(value, bool) and wanted is not None
    said = f"{name} is {value!r}"
    if compared:
        said += f", and {wanted:g} {'is enough' if value >= wanted else 'would pass'}"
    return f"{said}: {comment}" if comment else said
