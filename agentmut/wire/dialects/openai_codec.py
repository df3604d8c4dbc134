"""The base of OpenAI's two codecs: contents, errors, and every part that is not in the JSON of one dialect only."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentmut.nouns import Body, Framing, Path
from agentmut.wire import bodies
from agentmut.wire.dialects import sse
from agentmut.wire.dialects.places import at, with_values

CREATED = 0  # a reply is a function of its request, so it carries no clock
ERROR_TYPES: Mapping[int, str] = {429: "rate_limit_error", 401: "authentication_error"}


class OpenAICodec:
    """A codec of `POST .../<endpoint>`, with JSON bodies and replies that may be streamed as server-sent events."""

    endpoint: ClassVar[str]
    """The end of the path, with its slash."""

    def matches(self, path: str) -> bool:
        """Return whether a URL path is this dialect's, with any prefix, query or trailing slash."""
        return path.partition("?")[0].rstrip("/").endswith(self.endpoint)

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Write an error body as the service does."""
        kind = ERROR_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        return bodies.write_json({"error": {"message": message, "type": kind, "param": None, "code": code}})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return sse.MEDIA_TYPE if stream else "application/json"

    def framing(self) -> Framing:
        """Return a new reader of one streamed reply."""
        return sse.SseFraming()

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with other texts.

        Services refuse empty text blocks: an emptied one goes, the last becomes "".
        """
        changed = {path: text for path, text in texts.items() if at(body, path) != text}
        emptied = [path for path, text in changed.items() if not text and path[-1] == "text"]
        body = with_values(body, changed)
        for path in sorted(emptied, reverse=True):
            blocks = at(body, path[:-2])
            rest = [block for index, block in enumerate(blocks) if index != path[-2]]
            body = with_values(body, {path[:-2]: rest or ""})
        return body


def read_content(content: Any, where: str) -> str:
    """Return the text of a string or of a list of blocks; blocks without text (images, audio) are left out."""
    if not isinstance(content, list):
        return bodies.text(content, where)
    blocks = [bodies.mapping(block, where) for block in content]
    texts = (block.get("text", block.get("refusal")) for block in blocks)
    return "\n".join(bodies.text(found, where) for found in texts if found is not None)


def content_texts(content: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a content (a string or a list of blocks), with their places."""
    if isinstance(content, str):
        yield path, content
    for index, block in enumerate(content if isinstance(content, list) else ()):
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield (*path, index, "text"), text
