"""Assertions in Python."""

from typing import Any


def days(output: str, context: Any) -> dict[str, Any]:
    """A judgement with a reason."""
    return {"pass": "5 days" in output, "score": 1, "reason": f"asked {context['vars']['said']}"}


def get_assert(output: str, context: Any) -> bool:
    """It goes wrong."""
    return bool(context["no such key"])
