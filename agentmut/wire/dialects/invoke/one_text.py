"""Models of InvokeModel that take one text: Meta's Llama (`prompt`) and Amazon's Titan (`inputText`).

The text holds the whole conversation. Where the model's own marks divide it (the headers of Llama 3 and 4, `<<SYS>>`
of Llama 2, lines that begin with `User:` and `Bot:`), its parts are instructions, questions and answers. What stands
before the first mark, and a text without marks, counts as instructions. A change looks into the text as a whole, and
the witness reads the parts. These models call no tools.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from agentmut.nouns import (
    Body,
    Framing,
    HttpCall,
    Message,
    ModelReply,
    ModelRequest,
    OfferedTool,
    Path,
    Rename,
    Role,
    Text,
    Usage,
)
from agentmut.wire import bodies
from agentmut.wire.dialects import sse

_ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "ipython": Role.TOOL,
    "assistant": Role.ASSISTANT,
    "<<SYS>>": Role.SYSTEM,
    "[INST]": Role.USER,
    "<</SYS>>": Role.USER,
    "[/INST]": Role.ASSISTANT,
    "User:": Role.USER,
    "Bot:": Role.ASSISTANT,
}
_HEADERS = r"<\|(?:start_header_id|header_start)\|>\s*(\w+)\s*<\|(?:end_header_id|header_end)\|>"
_MARK = re.compile(rf"{_HEADERS}|(<<SYS>>|<</SYS>>|\[/?INST\])|^(User:|Bot:)", re.M)
_IDLE = re.compile(r"\s+|</?s>|<\|(?:begin_of_text|eot_id|eot|end_of_text|eom_id)\|>")
"""What belongs to no part: space and the marks of beginnings and ends."""
_FINISH = {"stop": "stop", "FINISH": "stop", "FINISHED": "stop", "length": "length", "LENGTH": "length"}


class _Part(NamedTuple):
    role: Role
    start: int
    end: int


def parts(text: str) -> list[_Part]:
    """Return the parts of a prompt, in order, without marks and the space around them.

    >>> text = "Be brief.\\nUser: Hi\\nBot:"
    >>> [(part.role.value, text[part.start : part.end]) for part in parts(text)]
    [('system', 'Be brief.'), ('user', 'Hi')]
    """
    role, at, found = Role.SYSTEM, 0, []
    for mark in _MARK.finditer(text):
        found.append(_trimmed(text, role, at, mark.start()))
        name = next(filter(None, mark.groups()))
        role, at = _ROLES.get(name, Role.USER), mark.end()
    found.append(_trimmed(text, role, at, len(text)))
    return [part for part in found if part.start < part.end]


def _trimmed(text: str, role: Role, start: int, end: int) -> _Part:
    while found := _IDLE.match(text, start, end):
        start = found.end()
    inner = text[start:end]
    while (shorter := re.sub(rf"(?:{_IDLE.pattern})\Z", "", inner)) != inner:
        inner = shorter
    return _Part(role, start, start + len(inner))


class OneText(ABC):
    """What both dialects share; see `Llama` and `Titan`. `families` puts model and streaming into the body."""

    name: ClassVar[str]
    key: ClassVar[str]
    """The field that holds the text."""
    settings: ClassVar[Mapping[str, tuple[str, ...]]]
    """By settings of a model: the place in the body."""

    def matches(self, path: str) -> bool:
        """Return False: the path is that of InvokeModel."""
        return False

    def decode_request(self, call: HttpCall) -> ModelRequest:
        """Read a request. Raises `ValueError` naming the field that cannot be read."""
        body = bodies.read_call(call)
        found = {name: _inside(body, place) for name, place in self.settings.items()}
        found = {name: value for name, value in found.items() if value is not None}
        whole = self._text_of(body)
        messages = (Message(role=part.role, text=whole[part.start : part.end]) for part in parts(whole))
        return ModelRequest(
            model=bodies.name(body.get("model"), "model"),
            messages=tuple(messages),
            stream=bool(body.get("stream")),
            **found,
        )

    def decode_reply(self, body: bytes) -> ModelReply:
        """Read a plain reply, or the events of a stream, one JSON value a line."""
        events = [bodies.read_object(line) for line in body.splitlines() if line.strip()]
        return self._reply(events)

    def encode_request(self, request: ModelRequest) -> HttpCall:
        """Return a request; what the dialect has no words for is left out."""
        body: Body = {"model": request.model, "stream": request.stream, self.key: self._prompt(request)}
        for name in self.settings:
            value = getattr(request, name)
            _, body = self.with_setting(HttpCall("", b""), body, name, value) if value else ("", body)
        return HttpCall("", bodies.write_json(body))

    def encode_reply(self, reply: ModelReply, *, reply_id: str, stream: bool) -> bytes:
        """Return a reply; with `stream`, its events, one a line."""
        events = self._events(reply) if stream else [self._plain(reply)]
        return b"\n".join(map(bodies.write_json, events))

    def encode_error(self, status: int, message: str, code: str) -> bytes:
        """Return an error body in the service's form."""
        return bodies.write_json({"message": message})

    def content_type(self, *, stream: bool) -> str:
        """Return the media type of replies."""
        return "application/json"

    def framing(self) -> Framing:
        """Return a reader of streams; InvokeModel has one of its own."""
        return sse.SseFraming()

    def texts(self, body: Body) -> Sequence[Text]:
        """Return the one text, in the role of its first part."""
        whole = self._text_of(body)
        first = next((part.role for part in parts(whole)), Role.SYSTEM)
        return [Text((self.key,), first, whole)]

    def with_texts(self, body: Body, texts: Mapping[Path, str]) -> Body:
        """Return the body with another text. Raise `ValueError` for an empty one, which services refuse."""
        whole = texts.get((self.key,), self._text_of(body))
        if not whole.strip():
            raise ValueError(f"{self.key}: nothing would be left of the text")
        return {**body, self.key: whole}

    def tools(self, body: Body) -> Sequence[OfferedTool]:
        """Return no tools: the dialect has none."""
        return ()

    def with_tools(self, body: Body, tools: Sequence[OfferedTool]) -> Body:
        """Return the body: the dialect has no words for tools."""
        return body

    def with_tool_names(self, body: Body, rename: Rename) -> Body:
        """Return the body: no tool is named in it."""
        return body

    def with_setting(self, call: HttpCall, body: Body, name: str, value: Any) -> tuple[str, Body]:
        """Return path and body with one setting changed; unchanged if the dialect has no such setting."""
        place = self.settings.get(name)
        if place is None:
            return call.path, body
        return call.path, _with_value(body, place, list(value) if isinstance(value, tuple) else value)

    def roles(self, body: Body) -> tuple[str, Sequence[Role]]:
        """Return that there is no list."""
        return "", ()

    def continued(self, body: Body, reply: bytes, results: Mapping[str, str]) -> Body:
        """Return the body with the reply after its text; a reply calls no tools."""
        return {**body, self.key: self._text_of(body) + self.decode_reply(reply).text}

    def reply_with_tool_names(self, value: Any, rename: Rename) -> Any:
        """Return the reply: it calls no tools."""
        return value

    def _text_of(self, body: Body) -> str:
        if not isinstance(body.get(self.key), str):
            raise ValueError(f"{self.key}: expected a string")
        return str(body[self.key])

    @abstractmethod
    def _prompt(self, request: ModelRequest) -> str:
        """Return the text in which the model reads a request."""

    @abstractmethod
    def _reply(self, events: Sequence[Body]) -> ModelReply:
        """Read a reply, whole or as the events of a stream. Raise `ValueError` where it has no text."""

    @abstractmethod
    def _plain(self, reply: ModelReply) -> Body:
        """Return the body of a whole reply."""

    @abstractmethod
    def _events(self, reply: ModelReply) -> Iterable[Body]:
        """Yield the events of a streamed reply."""


class Llama(OneText):
    """`{"prompt": ...}`, and a reply with `generation`; each event of a stream has a piece of it."""

    name: ClassVar[str] = "llama"
    key: ClassVar[str] = "prompt"
    settings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_tokens": ("max_gen_len",),
        "temperature": ("temperature",),
        "top_p": ("top_p",),
    }

    def _prompt(self, request: ModelRequest) -> str:
        said = (
            f"<|start_header_id|>{message.role.value}<|end_header_id|>\n\n{message.text}<|eot_id|>"
            for message in request.messages
        )
        return f"<|begin_of_text|>{''.join(said)}<|start_header_id|>assistant<|end_header_id|>\n\n"

    def _reply(self, events: Sequence[Body]) -> ModelReply:
        if not any("generation" in event for event in events):
            raise ValueError("generation: expected the model's text")
        return ModelReply(
            model="",
            text="".join(bodies.text(event.get("generation"), "generation") for event in events),
            finish_reason=_finish(event.get("stop_reason") for event in events),
            usage=Usage(
                input_tokens=_most(events, "prompt_token_count"),
                output_tokens=_most(events, "generation_token_count"),
            ),
        )

    def _plain(self, reply: ModelReply) -> Body:
        return {
            "generation": reply.text,
            "prompt_token_count": reply.usage.input_tokens,
            "generation_token_count": reply.usage.output_tokens,
            "stop_reason": reply.finish_reason,
        }

    def _events(self, reply: ModelReply) -> Iterator[Body]:
        counts = {"prompt_token_count": reply.usage.input_tokens, "generation_token_count": 0}
        yield {"generation": reply.text, **counts, "stop_reason": None}
        yield {**self._plain(reply), "generation": ""}


class Titan(OneText):
    """`{"inputText": ...}`, and a reply with `results`; each event of a stream has a piece of `outputText`."""

    name: ClassVar[str] = "titan"
    key: ClassVar[str] = "inputText"
    settings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_tokens": ("textGenerationConfig", "maxTokenCount"),
        "temperature": ("textGenerationConfig", "temperature"),
        "top_p": ("textGenerationConfig", "topP"),
        "stop": ("textGenerationConfig", "stopSequences"),
    }

    def _prompt(self, request: ModelRequest) -> str:
        heads = {Role.SYSTEM: "", Role.ASSISTANT: "Bot: "}
        said = [heads.get(message.role, "User: ") + message.text for message in request.messages]
        return "\n".join([*said, "Bot:"])

    def _reply(self, events: Sequence[Body]) -> ModelReply:
        results = [
            {**event, **bodies.mapping(found, "results")}
            for event in events
            for found in bodies.listing(event.get("results", [event]), "results")
        ]
        if not any("outputText" in result for result in results):
            raise ValueError("outputText: expected the model's text")
        return ModelReply(
            model="",
            text="".join(bodies.text(result.get("outputText"), "outputText") for result in results),
            finish_reason=_finish(result.get("completionReason") for result in results),
            usage=Usage(
                input_tokens=_most(results, "inputTextTokenCount"),
                output_tokens=max(_most(results, "tokenCount"), _most(results, "totalOutputTextTokenCount")),
            ),
        )

    def _plain(self, reply: ModelReply) -> Body:
        result = {
            "tokenCount": reply.usage.output_tokens,
            "outputText": reply.text,
            "completionReason": _reason(reply),
        }
        return {"inputTextTokenCount": reply.usage.input_tokens, "results": [result]}

    def _events(self, reply: ModelReply) -> Iterator[Body]:
        yield {
            "index": 0,
            "inputTextTokenCount": reply.usage.input_tokens,
            "totalOutputTextTokenCount": reply.usage.output_tokens,
            "outputText": reply.text,
            "completionReason": _reason(reply),
        }


def _reason(reply: ModelReply) -> str:
    return "LENGTH" if reply.finish_reason == "length" else "FINISH"


def _finish(reasons: Iterable[Any]) -> str:
    last = next((reason for reason in reversed(list(reasons)) if reason), "stop")
    return _FINISH.get(last, last) if isinstance(last, str) else "stop"


def _most(events: Sequence[Body], key: str) -> int:
    return max((bodies.count(event.get(key), key) for event in events), default=0)


def _inside(body: Body, place: tuple[str, ...]) -> Any:
    value: Any = body
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return tuple(value) if isinstance(value, list) else value


def _with_value(body: Body, place: tuple[str, ...], value: Any) -> Body:
    """Return the body with a value at a place; None or an empty list removes it."""
    first, *rest = place
    if rest:
        inner = body.get(first)
        value = _with_value(dict(inner) if isinstance(inner, dict) else {}, tuple(rest), value) or None
    if value is None or value == []:
        return {key: found for key, found in body.items() if key != first}
    return {**body, first: value}
