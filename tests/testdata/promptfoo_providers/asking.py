"""Ask the model, at the address that the environment names, or another one."""

import json
import os
import urllib.request
from pathlib import Path

RULES = (Path(__file__).parent / "rules.md").read_text("utf-8")


def answer(question: str, model: str, base: str = "", headers: dict[str, str] | None = None) -> str:
    """Return the model's answer to the question."""
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": question}]
    request = urllib.request.Request(
        (base or os.environ["OPENAI_BASE_URL"]) + "/chat/completions",
        json.dumps({"model": model, "temperature": 0.7, "messages": messages}).encode(),
        {"content-type": "application/json", "authorization": "Bearer none", **(headers or {})},
    )
    with urllib.request.urlopen(request) as reply:
        said: str = json.load(reply)["choices"][0]["message"]["content"]
    return said
