"""Agents as users write them, with clients made at import; the test has set address and key by then."""

from typing import Any

import anthropic
import openai

CLIENT = openai.OpenAI()
CLAUDE = anthropic.Anthropic()
LATER = openai.AsyncOpenAI
MESSAGES = [{"role": "system", "content": "Be kind."}]


def asked(question: Any) -> list[Any]:
    return [*MESSAGES, {"role": "user", "content": str(question)}]


def answer(question: Any) -> str:
    found = CLIENT.chat.completions.create(model="sim-large", messages=asked(question))
    return found.choices[0].message.content or ""


def streamed(question: str, history: Any = None) -> str:
    chunks = CLIENT.chat.completions.create(model="sim-large", messages=asked(question), stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def later(question: str) -> str:
    async with LATER() as client:
        found = await client.chat.completions.create(model="sim-large", messages=asked(question))
    return found.choices[0].message.content or ""


def configured(config: Any, question: str) -> str:
    return f"{config.prompt} {answer(question)}"


def claude(question: str) -> str:
    said = {"role": "user", "content": question}
    found = CLAUDE.messages.create(model="m-1", max_tokens=50, system="Be kind.", messages=[said])
    return found.content[0].text


def no_place() -> str:
    return ""
