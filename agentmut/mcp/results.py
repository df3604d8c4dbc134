"""What an agent is given of a tool's result, and the result with something else in its place. Pure.

Results are as the protocol writes them: mappings with `content`, `structuredContent` and `isError`.
"""

import json
from collections.abc import Mapping
from typing import Any

Result = Mapping[str, Any]


def text_of(result: Result) -> Any:
    """The text of a result, as agents are given it; what else there is as it is written.

    >>> text_of({"content": [{"type": "text", "text": "Shipped."}]})
    'Shipped.'
    """
    content = result.get("content")
    if not isinstance(content, list):
        return dict(result)
    if all(_is_text(block) for block in content):
        return "\n".join(block["text"] for block in content)
    return [block["text"] if _is_text(block) else block for block in content]


def with_text(result: Result, given: Any) -> dict[str, Any]:
    """The result with something else in the place of its text.

    What it says in a form of its own too says the same then, or is left out where that cannot be.

    >>> with_text({"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": "a"}}, "b")
    {'content': [{'type': 'text', 'text': 'b'}], 'structuredContent': {'result': 'b'}}
    """
    changed = {**result, "content": _content(given)}
    if (structured := changed.pop("structuredContent", None)) is not None:
        changed |= _structured(structured, text_of(result), given)
    return changed


def result_of(value: Any) -> dict[str, Any]:
    """A result that says what a double returns.

    >>> result_of({"id": 7})["content"]
    [{'type': 'text', 'text': '{"id": 7}'}]
    """
    return _complete(value, wrong=False)


def failure(name: str, error: BaseException) -> dict[str, Any]:
    """A result that says what went wrong in a tool, as servers do."""
    return _complete(f"Error executing tool {name}: {error}", wrong=True)


def unknown(name: str) -> dict[str, Any]:
    """What is said of a tool that is not offered."""
    return _complete(f"Unknown tool: {name}", wrong=True)


def _complete(value: Any, *, wrong: bool) -> dict[str, Any]:
    """A whole result; the newest protocol wants to be told that it is one, older ones pass over that."""
    return {"content": _content(value), "isError": wrong, "resultType": "complete"}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _content(given: Any) -> list[Any]:
    if isinstance(given, list) and given and all(isinstance(one, str) or _is_block(one) for one in given):
        return [block for one in given for block in (_content(one) if isinstance(one, str) else [one])]
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return [{"type": "text", "text": text}]


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _structured(before: Any, text: Any, given: Any) -> dict[str, Any]:
    if before == {"result": text}:
        return {"structuredContent": {"result": given}}
    new = _read(given)
    return {"structuredContent": new} if isinstance(new, dict) and _read(text) == before else {}


def _read(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
