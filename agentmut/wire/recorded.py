"""The dialect of a recorded request, recognised by its body alone."""

import re
from collections.abc import Mapping
from typing import Any

from agentmut.nouns import Codec, HttpCall
from agentmut.wire import bodies
from agentmut.wire.codecs import codec_for

PATHS: Mapping[str, str] = {
    "chat_completions": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic_messages": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "converse": "/model/{model}/converse",
    "invoke_model": "/model/{model}/invoke",
    "ollama_chat": "/api/chat",
}
"""Where each dialect is spoken; the model is named in the path where the body does not."""
_DATED = re.compile(r"_20\d{6}$")
"""Ends the types of tools that Anthropic's service brings along."""


def recorded_call(text: bytes) -> tuple[Codec, HttpCall]:
    """Return a request kept in a file: its body alone, or `{"path": ..., "body": {...}}`. Raises `ValueError`."""
    found = bodies.mapping(bodies.read_json(text), "the file")
    body, path = found, found.get("path")
    if isinstance(path, str) and isinstance(found.get("body"), dict):
        body = found["body"]
    else:
        path = _path(found)
    codec = codec_for(path)
    if codec is None:
        raise ValueError(f"{path} is no path of a model service")
    return codec, HttpCall(path, bodies.write_json(dict(body)))


def _path(body: Mapping[str, Any]) -> str:
    dialect = dialect_of(body)
    model = body.get("model") or body.get("modelId") or "unknown"
    return PATHS[dialect].replace("{model}", str(model))


def dialect_of(body: Mapping[str, Any]) -> str:
    """Return the name of a request body's codec, by the keys that only its dialect has. Raise `ValueError`.

    >>> dialect_of({"model": "m", "messages": [], "system": "Be brief.", "max_tokens": 5})
    'anthropic_messages'
    """
    if any(isinstance(body.get(key), list | dict) for key in ("choices", "output", "candidates")):
        raise ValueError("this looks like a reply, not a request")
    if "contents" in body:
        return "gemini"
    if "messages" not in body:
        if "input" in body or "instructions" in body or isinstance(body.get("prompt"), dict):
            return "responses"
        raise ValueError(
            "it has none of the keys `messages`, `input` and `contents` that requests to models have"
        )
    if "anthropic_version" in body and "model" not in body:
        return "invoke_model"
    if {"inferenceConfig", "toolConfig", "modelId"} & body.keys() or _has_converse_blocks(body):
        return "converse"
    if _is_ollama(body):
        return "ollama_chat"
    return "anthropic_messages" if _is_anthropic(body) else "chat_completions"


def _is_anthropic(body: Mapping[str, Any]) -> bool:
    """Return whether a request with messages has anything that only Anthropic's dialect knows."""
    own = {"system", "anthropic_version", "stop_sequences", "thinking", "output_config"}
    choice = body.get("tool_choice")
    if own & body.keys() or (isinstance(choice, dict) and choice.get("type") in ("any", "tool")):
        return True
    tools = [tool for tool in bodies.listing(body.get("tools"), "tools") if isinstance(tool, dict)]
    if any("input_schema" in tool or _DATED.search(str(tool.get("type"))) for tool in tools):
        return True
    messages = [m for m in bodies.listing(body.get("messages"), "messages") if isinstance(m, dict)]
    blocks = (block for m in messages if isinstance(m.get("content"), list) for block in m["content"])
    return any(
        isinstance(b, dict) and b.get("type") in ("tool_use", "tool_result", "thinking") for b in blocks
    )


def _is_ollama(body: Mapping[str, Any]) -> bool:
    """Return whether a request with messages has anything that only Ollama's dialect knows."""
    if {"options", "keep_alive", "think", "format"} & body.keys():
        return True
    messages = [m for m in bodies.listing(body.get("messages"), "messages") if isinstance(m, dict)]
    return any("tool_name" in message for message in messages)


def _has_converse_blocks(body: Mapping[str, Any]) -> bool:
    """Return whether a body has Bedrock's blocks, which have no `type` and whose only key names their kind."""
    messages = [m for m in bodies.listing(body.get("messages"), "messages") if isinstance(m, dict)]
    blocks = [block for m in messages if isinstance(m.get("content"), list) for block in m["content"]]
    return bool(blocks) and all(isinstance(block, dict) and "type" not in block for block in blocks)


__all__ = ["dialect_of", "recorded_call"]
