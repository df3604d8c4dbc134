"""Bodies of Gemini, written by hand as the reference shows them."""

import json
from typing import Any

from agentmut.nouns.codec import Codec
from agentmut.wire.dialects.gemini.gemini import Gemini

CODEC: Codec = Gemini()
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GOOGLE_SCHEMA = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
WEATHER = {"name": "get_weather", "description": "Weather", "parameters": GOOGLE_SCHEMA}
NOW = {"name": "now", "description": "The time", "parametersJsonSchema": {"type": "object", "properties": {}}}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}


def call(city: str, **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "get_weather", "args": {"city": city}}, **fields}


def result(**response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "get_weather", "response": response}}


REQUEST: dict[str, Any] = {
    "system_instruction": {"parts": [{"text": "Be kind."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}, IMAGE]},
        {
            "role": "model",
            "parts": [{"text": "Hm.", "thought": True}, call("Bern", thoughtSignature="c2ln"), call("Oslo")],
        },
        {"role": "user", "parts": [result(result="rain"), result(temperature=3)]},
    ],
    "tools": [{"functionDeclarations": [WEATHER, NOW]}, {"googleSearch": {}}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}},
    "generationConfig": {
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 99,
        "stopSequences": ["END"],
        "seed": 3,
        "responseMimeType": "application/json",
        "responseSchema": GOOGLE_SCHEMA,
        "thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True},
    },
    "safetySettings": [],
}
PARTS: list[dict[str, Any]] = [
    {"text": "Hm.", "thought": True},
    {"text": "One moment, please.", "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}},
    {"functionCall": {"name": "get_weather", "args": {"city": "Bern"}}},
]
USAGE = {
    "promptTokenCount": 7,
    "toolUsePromptTokenCount": 1,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 2,
    "totalTokenCount": 15,
}
PLAIN = {
    "candidates": [{"content": {"parts": PARTS, "role": "model"}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": USAGE,
    "modelVersion": "gemini-x-001",
}


def chunk(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **fields}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 7},
        "modelVersion": "gemini-x-001",
    }


CHUNKS: list[dict[str, Any]] = [
    chunk({"text": "H", "thought": True}),
    chunk({"text": "m.", "thought": True}),
    chunk({"text": "One mom"}),
    chunk({"text": "ent, please."}),
    chunk(PARTS[2], PARTS[3]),
    {**chunk({"text": ""}, finishReason="STOP"), "usageMetadata": USAGE},
]


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


ARRAY = b"[" + b"\n,\r\n".join(json.dumps(found, indent=1).encode() for found in CHUNKS) + b"\n]\n"


def renamed(name: str) -> str:
    return {"get_weather": "look_up"}.get(name, name)
