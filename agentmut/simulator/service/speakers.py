"""Requests that ask who speaks next, as AutoGen's `SelectorGroupChat` makes them: answered with a name."""

import ast
import re
from collections.abc import Callable
from typing import Any

from agentmut.nouns import ModelReply, ModelRequest, Usage
from agentmut.simulator.mind.language import topics

_WHO = re.compile(r"\bselect the next role from (\[.*?\]) to play\. Only return the role\.")
_DESCRIBED = r"^{name}: (.*)$"


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """Return `reply`'s answer to a request, or the name of a speaker if the request asks for one."""
    said = "\n\n".join(message.text for message in request.messages)
    names = _names(said)
    if not names:
        return reply(request, **options)
    name = next_speaker(names, said)
    usage = Usage(input_tokens=len(said) // 4, output_tokens=1 + len(name) // 4)
    return ModelReply(model=request.model, text=name, usage=usage)


def next_speaker(names: list[str], text: str) -> str:
    """Return a speaker who has not spoken yet; the one whose description fits the user's words best.

    >>> told = "cook: Cooks meals.\\nguard: Opens gates.\\n\\nuser: Open the gate."
    >>> next_speaker(["cook", "guard"], told), next_speaker(["cook", "guard"], f"{told}\\nguard: It is open.")
    ('guard', 'cook')
    """
    asked = re.search(r"^user: (.*)$", text, re.M)
    about = topics(asked[1]) if asked else frozenset()

    def fitness(name: str) -> tuple[bool, int]:
        # its description, then its words
        lines = re.findall(_DESCRIBED.format(name=re.escape(name)), text, re.M)
        described = topics(lines[0]) if lines else frozenset()
        return len(lines) < 2, len(about & (described | topics(name.replace("_", " "))))

    return max(names, key=fitness)


def _names(text: str) -> list[str]:
    found = _WHO.search(text)
    try:
        names = ast.literal_eval(found[1]) if found else []
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
