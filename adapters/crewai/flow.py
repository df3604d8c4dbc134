"""A crew in the terms of a config: its texts as one prompt under headings, the order of its tasks as a flow. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from pydantic import JsonValue

from agentmut.nouns import END, START, Flow


def named(names_given: Sequence[str | None]) -> list[str]:
    """Return a name for each task: its own, with a number if it is missing or not unique.

    >>> named(["reply", None, "reply"])
    ['reply', 'task 2', 'reply 3']
    """
    names: list[str] = []
    for number, name in enumerate(names_given, 1):
        told = name or f"task {number}"
        names.append(f"{told} {number}" if told in names else told)
    return names


def flow_of(passed: Mapping[str, Sequence[str]], *, in_a_row: bool) -> dict[str, JsonValue]:
    """Return nodes, edges and state of tasks by name, with each task's input tasks; none for a single task."""
    names = list(passed)
    if len(names) < 2:
        return {}
    found: dict[str, JsonValue] = {
        "nodes": list[JsonValue](names),
        "state": {name: list[JsonValue](earlier) for name, earlier in passed.items() if earlier},
    }
    if in_a_row:
        found["edges"] = [list[JsonValue](pair) for pair in pairwise([START, *names, END])]
    return found


def order_of(names: Iterable[str], flow: Flow) -> list[str]:
    """Return the tasks that a run reaches, in order; tasks that are no longer nodes are skipped."""
    known = list(names)
    if flow.edges:
        known = _walked({edge[0]: edge[-1] for edge in flow.edges}, known)
    return [name for name in known if not flow.nodes or name in flow.nodes]


def _walked(follows: Mapping[str, str], names: Sequence[str]) -> list[str]:
    way: list[str] = []
    place = follows.get(START, END)
    while place in names and place not in way:
        way.append(place)
        place = follows.get(place, END)
    return way


FIRST = ""
"""The text that stands before all headings: the agent's backstory."""


def joined(parts: Mapping[str, str]) -> str:
    r"""Return the texts under their headings; empty texts are left out.

    >>> joined({"": "You are kind.", "Goal": "Help.", "Task: reply": ""})
    'You are kind.\n\n## Goal\nHelp.'
    """
    texts = (f"## {name}\n{text}" if name else text for name, text in parts.items() if text)
    return "\n\n".join(texts)


def split(prompt: str, names: Iterable[str]) -> dict[str, str]:
    r"""Return the texts under their headings, and the text before the first heading.

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
    """Return the texts that change where `wanted` is put in the place of the prompt `original`.

    A heading that was in the original and is gone leaves its text empty. One that was in neither, since the project
    gives only some of the texts, keeps what the agent has.
    """
    before, after = split(original, live), split(wanted, live)
    changed = {name: after.get(name, "") for name in live if name in before or name in after}
    return {name: text for name, text in changed.items() if text != live[name]}
