"""Damage tool results: empty, cut, or malformed. Pure functions.

Text that is a JSON object or array is treated as what it says, and stays JSON text (but for `malformed`).
"""

import json
from collections.abc import Mapping
from typing import Any

from agentmut._base import jsonable
from agentmut.mutation.tool_faults.drift import (
    cut_with_mark,
    nested,
    null_value,
    omitted,
    paged,
    renamed_field,
    reversed_items,
    with_order,
)
from agentmut.mutation.tool_faults.json_results import Change, container, in_json_text
from agentmut.mutation.tool_faults.other_entity import another
from agentmut.nouns import FaultKind


def empty(result: Any) -> Any:
    """Return an empty value of the same kind: `{}`, `[]`, `""`, 0; None for other objects.

    >>> empty({"id": 1}), empty('[{"id": 1}]'), empty("Shipped."), empty(True)
    ({}, '[]', '', False)
    """
    if isinstance(result, str):
        return in_json_text(empty, result, plain=lambda text: "")
    if isinstance(result, Mapping):
        return {}
    return type(result)() if isinstance(result, list | tuple | set | int | float) else None


def truncated(result: Any) -> Any:
    """Return the first half of the items, keys or characters; of a single item, the first half of that.

    >>> truncated({"orders": [1, 2, 3]}), truncated("Shipped."), truncated(5)
    ({'orders': [1, 2]}, 'Ship', 5)
    """
    if isinstance(result, str):
        return in_json_text(truncated, result, plain=lambda text: text[: (len(text) + 1) // 2])
    if isinstance(result, Mapping):
        items = list(result.items())
        return {key: truncated(value) for key, value in items} if len(items) == 1 else dict(_half(items))
    if isinstance(result, list):
        return [truncated(result[0])] if len(result) == 1 else _half(result)
    if type(result) is tuple:
        return tuple(truncated(list(result)))
    return result


def malformed(result: Any) -> str:
    """Return JSON text that breaks off in the middle, for any result.

    >>> malformed({"id": 7, "status": "shipped"}), malformed("Shipped.")
    ('{"id": 7, "stat,', '{"result":,')
    """
    text = result if isinstance(result, str) else json.dumps(jsonable(result), ensure_ascii=False)
    if not isinstance(container(text), dict | list):
        text = json.dumps({"result": jsonable(result)}, ensure_ascii=False)
    text = text.strip()  # what is left lacks the closing bracket
    return text[: max(1, len(text) // 2)].rstrip(", ") + ","


def wrong_entity(result: Any) -> Any:
    """Return the result for another order, customer or day; see `other_entity`."""
    if isinstance(result, str):
        return in_json_text(another, result, plain=another)
    return another(result)


def _half(items: list[Any]) -> list[Any]:
    return items[: (len(items) + 1) // 2]


SPOILERS: Mapping[FaultKind, Change] = {
    FaultKind.EMPTY: empty,
    FaultKind.TRUNCATED: truncated,
    FaultKind.MALFORMED: malformed,
    FaultKind.WRONG_ENTITY: wrong_entity,
    FaultKind.RENAMED_FIELD: renamed_field,
    FaultKind.NESTED: nested,
    FaultKind.PAGED: paged,
    FaultKind.NULL_VALUE: null_value,
    FaultKind.CUT_WITH_MARK: cut_with_mark,
    FaultKind.OMITTED: omitted,
    FaultKind.WITH_ORDER: with_order,
    FaultKind.REVERSED: reversed_items,
}
"""By kind of fault."""
