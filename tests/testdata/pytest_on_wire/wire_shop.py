"""A shop's agent as its owner wrote it: it knows nothing of agentmut."""

import os
from typing import Any

PROMPT = """- Greet the customer.
- Say that a refund takes 5 days.
- Never promise a delivery date.
"""


def question(asked: str) -> dict[str, Any]:
    """The request's body."""
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": asked}]
    return {"model": "sim-large", "messages": messages}


def url() -> str:
    """Where the model is."""
    return f"{os.environ['OPENAI_BASE_URL']}/chat/completions"


def text(reply: Any) -> str:
    """What the model said."""
    reply.raise_for_status()
    return str(reply.json()["choices"][0]["message"]["content"])
