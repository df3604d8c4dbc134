"""Lists of models, in the form of each service."""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from pydantic import JsonValue

GEMINI_KEY = "x-goog-api-key"
CREATED = "2026-01-01T00:00:00Z"
_Entry = dict[str, JsonValue]


def answer(path: str, names: Iterable[str], headers: Mapping[str, str]) -> JsonValue:
    """Return the body for a GET of `.../models`, `.../models/<name>` or Ollama's `.../api/tags`.

    Return None for any other path, and unknown models.

    Who asks is told by the headers, as the services share their paths.

    >>> answer("/v1/models/sim-small", ["sim-small"], {})["id"]
    'sim-small'
    """
    if urlsplit(path).path.rstrip("/").endswith("/api/tags"):
        return {"models": [{"name": name, "model": name, "modified_at": CREATED} for name in names]}
    _, mark, rest = urlsplit(path).path.partition("/models")
    write = _anthropic if "anthropic-version" in headers else _gemini if GEMINI_KEY in headers else _openai
    entries = {name: write(name) for name in names}
    if not mark:
        return None
    if rest.strip("/"):
        return entries.get(unquote(rest.strip("/")))
    return _list_body(write, list(entries.values()))


def _openai(name: str) -> _Entry:
    return {"id": name, "object": "model", "created": 0, "owned_by": "agentmut"}


def _anthropic(name: str) -> _Entry:
    return {"type": "model", "id": name, "display_name": name, "created_at": CREATED}


def _gemini(name: str) -> _Entry:
    methods: list[JsonValue] = ["generateContent", "streamGenerateContent"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}


def _list_body(write: object, entries: list[JsonValue]) -> JsonValue:
    if write is _gemini:
        return {"models": entries}
    if write is _anthropic:
        ids = [entry["id"] for entry in entries if isinstance(entry, dict)]
        return {"data": entries, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}
    return {"object": "list", "data": entries}
