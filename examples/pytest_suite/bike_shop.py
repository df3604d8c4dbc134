"""An agent on the OpenAI SDK, as its owner wrote it."""

from functools import cache
from pathlib import Path

from openai import OpenAI

PROMPT = (Path(__file__).parent / "prompt.md").read_text()


@cache
def client() -> OpenAI:
    """Made when it is first needed."""
    return OpenAI()


def answer(question: str) -> str:
    """Return the answer to a customer."""
    reply = client().chat.completions.create(
        model="sim-large",
        messages=[{"role": "system", "content": PROMPT}, {"role": "user", "content": question}],
    )
    return reply.choices[0].message.content or ""
