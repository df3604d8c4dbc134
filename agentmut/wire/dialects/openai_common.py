"""What both of OpenAI's dialects say alike: contents, and errors."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentmut.nouns import Body, Path
from agentmut.wire import bodies
from agentmut.wire.dialects.places import at, with_values

CREATED = 0  # a reply is a function of its request, so it carries no clock
ERROR_TYPES: Mapping[int, str] = {429: "rate_limit_error", 401: "authentication_error"}


def read_content(content: Any, where: str) -> str:
    """Text of a string or of a list of blocks; blocks without text (images, audio) are left out."""
    if not isinstance(content, list):
        return bodies.text(content, where)
    blocks = [bodies.mapping(block, where) for block in content]
    texts = (block.get("text", block.get("refusal")) for block in blocks)
    return "\n".join(bodies.text(found, where) for found in texts if found is not None)


def content_texts(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts of a content, a string or a list of blocks, and where they stand."""
    if isinstance(content, str):
        yield path, content
    for index, block in enumerate(content if isinstance(content, list) else ()):
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield (*path, index, "text"), text


def with_texts(body: Body, fresh: Mapping[Path, str]) -> Body:
    """The body with other texts. Services refuse empty text blocks: an emptied one goes, the last one becomes ""."""
    changed = {path: text for path, text in fresh.items() if at(body, path) != text}
    emptied = [path for path, text in changed.items() if not text and path[-1] == "text"]
    body = with_values(body, changed)
    for path in sorted(emptied, reverse=True):
        blocks = at(body, path[:-2])
        rest = [block for index, block in enumerate(blocks) if index != path[-2]]
        body = with_values(body, {path[:-2]: rest or ""})
    return body


def error_body(status: int, message: str, code: str) -> bytes:
    """An error as OpenAI's services write it, in every dialect."""
    kind = ERROR_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return bodies.write_json({"error": {"message": message, "type": kind, "param": None, "code": code}})
