"""Bodies of Anthropic Messages, written by hand as the reference shows them."""

import json
from typing import Any

from agentmut.nouns.codec import Codec
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages

CODEC: Codec = AnthropicMessages()
MARK = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "get_weather", "description": "Weather", "input_schema": SCHEMA, "cache_control": MARK}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
REQUEST: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 1024,
    "system": [
        {"type": "text", "text": "Be kind."},
        {"type": "text", "text": "Long.", "cache_control": MARK},
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}, IMAGE]},
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Bern"}},
                {"type": "tool_use", "id": "t2", "name": "get_weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "rain"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no such city"}, IMAGE],
                },
            ],
        },
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": "Thanks"},
    ],
    "tools": [WEATHER, SEARCH],
    "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
    "stop_sequences": ["END"],
    "temperature": 0.5,
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "metadata": {"user_id": "u"},
}


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def renamed(name: str) -> str:
    return {"get_weather": "look_up"}.get(name, name)
