"""Read an agent from a recorded model request: prompt, tools and model, without the agent's code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentmut._base import ProjectError, UsageError
from agentmut.nouns import SAMPLING, AgentConfig, History, ModelConfig, ModelRequest, Origin, Role, Sources
from agentmut.project.request_places import prompt_places, tool_places
from agentmut.wire import bodies, recorded_call


def read_request_file(path: Path, where: str = "--request") -> Origin:
    """Read one model request, in any dialect with a codec. Raise `UsageError` for anything else.

    The file holds the request's JSON body, or an object with its `path` and its `body`. The system messages are the
    prompt. A request of a conversation's later turn has a history. `where` names what is being read, in errors.
    """
    path = path.resolve()
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"{where} {path}: there is no such file. `agentmut doctor --save-request {path}` makes it."
        ) from None
    except OSError as error:
        raise UsageError(f"{where} {path}: it cannot be read: {error.strerror or error}.") from None
    try:
        request = _read(body)
    except ValueError as error:
        raise UsageError(
            f"{where} {path.name}: {error}. Expected the JSON body of one request to a model: OpenAI Chat Completions "
            "or Responses, Anthropic Messages, Gemini generateContent, Bedrock Converse or InvokeModel, or Ollama."
        ) from None
    _refuse_duplicates(request, f"{where} {path.name}")
    config, root = config_of(request), path.parent
    places = Sources(
        prompt_parts=prompt_places(config, path, root), tool_places=tool_places(config, path, root)
    )
    return Origin(config=config, sources=places, file=path.name)


def config_of(request: ModelRequest) -> AgentConfig:
    """Return the config of the agent that makes this request."""
    turns = sum(message.role is Role.USER for message in request.messages)
    sampling = {name: getattr(request, name) for name in SAMPLING}
    return AgentConfig(
        prompt=request.system_text,
        tools=request.tools,
        model=ModelConfig(name=request.model, **sampling),
        history=History.KEPT if turns > 1 else None,
    )


def _read(body: bytes) -> ModelRequest:
    found = bodies.mapping(bodies.read_json(_text(body)), "the body")
    if key := _wrapped_under(found):
        raise ValueError(
            f"the request stands in it under the key {key!r}: write that part into a file of its own"
        )
    _refuse_half_characters(found)
    codec, call = recorded_call(body.removeprefix(b"\xef\xbb\xbf"))
    return codec.decode_request(call)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start} is {body[error.start]:#04x})") from None


def _refuse_half_characters(body: Mapping[str, Any]) -> None:
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise ValueError(f"it has half a character ({half}), which no UTF-8 text can hold") from None


def _wrapped_under(body: Mapping[str, Any]) -> str:
    """Return the key under which a log holds a request; empty if the body is a request, or nothing is."""
    held = (key for key, value in body.items() if isinstance(value, Mapping) and "messages" in value)
    return "" if "messages" in body or "path" in body else next(held, "")


def _refuse_duplicates(request: ModelRequest, name: str) -> None:
    offered = [tool.name for tool in request.tools]
    if twice := sorted({tool for tool in offered if offered.count(tool) > 1}):
        raise ProjectError(f"{name}: it has more than one tool named {twice[0]!r}; tools need unique names.")
