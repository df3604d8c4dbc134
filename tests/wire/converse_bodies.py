"""Bodies of Bedrock Converse, written by hand as the reference shows them."""

import json
import struct
from typing import Any
from zlib import crc32

from hypothesis import strategies as st

from agentmut.nouns.codec import Codec
from agentmut.wire.dialects.converse.converse import Converse

CODEC: Codec = Converse()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MARK = {"cachePoint": {"type": "default"}}
IMAGE = {"image": {"format": "png", "source": {"bytes": "aQ=="}}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
WEATHER = {
    "toolSpec": {
        "name": "get_weather",
        "description": "Weather",
        "inputSchema": {"json": SCHEMA},
        "strict": True,
    }
}


def use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


REQUEST: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": [{"text": "Weather?"}, IMAGE]},
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"text": "I look."},
                use("t1", "get_weather", city="Bern"),
                use("t2", "get_weather", city="Oslo"),
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"json": {"temperature": 3}}]}},
                {"toolResult": {"toolUseId": "t2", "content": [{"text": "none"}, IMAGE], "status": "error"}},
                MARK,
            ],
        },
    ],
    "system": [{"text": "Be kind."}, {"guardContent": {"text": {"text": "Be safe."}}}, MARK],
    "inferenceConfig": {"maxTokens": 99, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
    "toolConfig": {"tools": [WEATHER, MARK], "toolChoice": {"tool": {"name": "get_weather"}}},
    "outputConfig": {
        "textFormat": {
            "type": "json_schema",
            "structure": {
                "jsonSchema": {"schema": json.dumps(SCHEMA, separators=(",", ":")), "name": "city"}
            },
        },
        "effort": "high",
    },
    "additionalModelRequestFields": {"top_k": 5},
}


def frame(kind: str, payload: Any, message: str = "event") -> bytes:
    """A frame as the documentation lays it out, written without the code under test."""
    headers = b""
    for name, value in ((f":{message}-type", kind), (":message-type", message)):
        key = f":{name.lstrip(':')}".encode()
        headers += bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    data = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    whole = prelude + struct.pack(">I", crc32(prelude)) + headers + data
    return whole + struct.pack(">I", crc32(whole))


def stop(index: int) -> bytes:
    return frame("contentBlockStop", {"contentBlockIndex": index})


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def renamed(name: str) -> str:
    return {"get_weather": "look_up"}.get(name, name)


NAMED = {"type": "function", "function": {"name": "f"}}
objects = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=3)
arguments = objects.map(lambda value: json.dumps(value, separators=(",", ":"))) | st.sampled_from(
    ['{"ci', "[1]"]
)
