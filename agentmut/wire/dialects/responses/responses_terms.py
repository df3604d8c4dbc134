"""What OpenAI Responses says otherwise than Chat Completions, whose terms the normal form has."""

from typing import Any

KINDS = ("function", "custom")


def choice_to_chat(choice: Any) -> Any:
    """A tool choice in the terms of Chat Completions, where the tool stands under its kind.

    >>> choice_to_chat({"type": "function", "name": "pay"})
    {'type': 'function', 'function': {'name': 'pay'}}
    """
    kind = choice.get("type") if isinstance(choice, dict) else None
    rest = {key: value for key, value in choice.items() if key != "type"} if kind else {}
    if kind in KINDS and "name" in rest:
        return {"type": kind, kind: rest}
    if kind == "allowed_tools" and isinstance(rest.get("tools"), list):
        return {"type": kind, kind: {**rest, "tools": [choice_to_chat(tool) for tool in rest["tools"]]}}
    return choice


def choice_from_chat(choice: Any) -> Any:
    """Translate a tool choice of Chat Completions; other forms stay unchanged."""
    kind = choice.get("type") if isinstance(choice, dict) else None
    inner = choice.get(kind) if kind in (*KINDS, "allowed_tools") else None
    if not isinstance(inner, dict):
        return choice
    if isinstance(inner.get("tools"), list):
        inner = {**inner, "tools": [choice_from_chat(tool) for tool in inner["tools"]]}
    return {"type": kind, **inner}


def format_to_chat(found: Any) -> Any:
    """A format of answers in the terms of Chat Completions, where the schema stands under its kind."""
    if isinstance(found, dict) and found.get("type") == "json_schema" and "json_schema" not in found:
        return {
            "type": "json_schema",
            "json_schema": {key: value for key, value in found.items() if key != "type"},
        }
    return found


def format_from_chat(found: Any) -> Any:
    """A format of answers as Responses has it."""
    inner = found.get("json_schema") if isinstance(found, dict) else None
    return {"type": "json_schema", **inner} if isinstance(inner, dict) else found
