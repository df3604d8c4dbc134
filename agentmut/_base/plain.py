"""Values and errors of an agent as plain data, which a trace can hold and store."""

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

HOOK_NOTE = "raised by the audit hook that was added at"
"""How agentmut's note on an exception begins that an audit hook of users has raised."""
BRIEF = 2_000
"""Characters of an error that a message shows."""


def jsonable(value: Any) -> JsonValue:
    """Return the value if it is JSON; else a JSON form of it, at worst its text. Never raises.

    >>> jsonable({"at": (1, float("inf"))})
    {'at': [1, 'Infinity']}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return storable(value)
    from pydantic_core import from_json, to_json

    try:
        encoded = to_json(value, fallback=_text, inf_nan_mode="strings", bytes_mode="utf8")
        plain: JsonValue = from_json(encoded)
    except (ValueError, TypeError, RecursionError, AttributeError):  # cycles, bytes, lone surrogates
        return _text(value)
    return plain


def texts_in(value: Any) -> Iterator[str]:
    """Yield each text of a value, keys of mappings included.

    >>> list(texts_in({"a": ["b", 1, {"c": "d"}]}))
    ['a', 'b', 'c', 'd']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def described(error: BaseException) -> str:
    """Return `Type: message` of an exception, even if the exception cannot be printed.

    Agentmut's own notes follow. Notes of frameworks are left out: in LangGraph, they name the id of one run's task.
    """
    own = (note for note in notes_of(error) if note.startswith(HOOK_NOTE))
    return "; ".join((f"{type(error).__name__}: {_text(error)}", *own))


def notes_of(error: BaseException) -> tuple[str, ...]:
    """Return the notes that were added to an exception, by whomever."""
    notes = getattr(error, "__notes__", ())
    return tuple(map(_text, notes)) if isinstance(notes, list) else ()


def briefly(error: BaseException) -> str:
    """Return the beginning of `described`, for a message: code of users may raise megabytes."""
    text = described(error)
    return text if len(text) <= BRIEF else f"{text[:BRIEF]} ... (of {len(text):,} characters)"


def one_line(error: BaseException) -> str:
    """Return `described` without line breaks, for errors in the middle of a sentence."""
    return " ".join(briefly(error).split())


def storable(text: str) -> str:
    """Return the text with what UTF-8 cannot encode (lone surrogates) replaced."""
    return str(text) if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _text(value: Any) -> str:
    try:
        return storable(str(value))
    except Exception:
        return f"<{type(value).__name__}>"
