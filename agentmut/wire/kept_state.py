"""Requests that rely on state kept by the service: their bytes are not everything that the model reads."""

import json
from types import MappingProxyType

from agentmut.nouns import Take

_NAMES = MappingProxyType(
    {
        "previous_response_id": "an earlier response",
        "conversation": "a conversation",
        "container": "a container",
    }
)
"""Fields of a request, at its top, that name something kept: of Responses, Responses, and Anthropic Messages."""


def kept_by_service(take: Take) -> str:
    """Return what the service keeps for a recorded request, in a phrase; empty if the request is complete.

    >>> kept_by_service(Take(path="/v1/responses", asked='{"previous_response_id": "resp_1"}', status=200))
    'an earlier response that the service keeps (previous_response_id)'
    """
    try:
        body = json.loads(take.asked)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    found = next((name for name in _NAMES if body.get(name)), "")
    if found:
        return f"{_NAMES[found]} that the service keeps ({found})"
    items = body.get("input")
    if isinstance(items, list) and any(
        isinstance(i, dict) and i.get("type") == "item_reference" for i in items
    ):
        return "an item that the service keeps (item_reference)"
    return ""
