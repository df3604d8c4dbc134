"""The texts of a CrewAI agent as one prompt under headings, so that all of them can be mutated."""

import re
from collections.abc import Iterable, Mapping

FIRST = ""
"""The text that stands before all headings: the agent's backstory."""


def joined(parts: Mapping[str, str]) -> str:
    r"""The texts under their headings; empty ones are left out.

    >>> joined({"": "You are kind.", "Goal": "Help.", "Task: reply": ""})
    'You are kind.\n\n## Goal\nHelp.'
    """
    texts = (f"## {name}\n{text}" if name else text for name, text in parts.items() if text)
    return "\n\n".join(texts)


def split(prompt: str, names: Iterable[str]) -> dict[str, str]:
    r"""The texts under those headings that are there, and the one before the first.

    >>> split("You are kind.\n\n## Goal\nHelp.\n\n## Style\nBe brief.", ["Goal", "Task: reply"])
    {'': 'You are kind.', 'Goal': 'Help.\n\n## Style\nBe brief.'}
    """
    heading = "|".join(re.escape(name) for name in names if name)
    first, *rest = re.split(rf"^## ({heading})[ \t]*$", prompt, flags=re.MULTILINE) if heading else [prompt]
    found = {FIRST: first.strip("\n")}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        found[name] = "\n".join(filter(None, (found.get(name), text.strip("\n"))))
    return found


def rewritten(live: Mapping[str, str], original: str, wanted: str) -> dict[str, str]:
    """The texts that change where `wanted` is put in the place of the prompt `original`.

    A heading that was in the original and is gone leaves its text empty. One that was in neither, since the project
    gives only some of the texts, keeps what the agent has.
    """
    before, after = split(original, live), split(wanted, live)
    changed = {name: after.get(name, "") for name in live if name in before or name in after}
    return {name: text for name, text in changed.items() if text != live[name]}
