"""The order of a CrewAI crew's tasks, and what each is passed, as the vocabulary of `config.orchestration`. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from pydantic import JsonValue

from agentmut.nouns import END, START, Flow


def named(given: Sequence[str | None]) -> list[str]:
    """A name for each task: its own, with a number where it has none or another one has it too.

    >>> named(["reply", None, "reply"])
    ['reply', 'task 2', 'reply 3']
    """
    names: list[str] = []
    for number, name in enumerate(given, 1):
        told = name or f"task {number}"
        names.append(f"{told} {number}" if told in names else told)
    return names


def flow_of(passed: Mapping[str, Sequence[str]], *, in_a_row: bool) -> dict[str, JsonValue]:
    """Nodes, edges and state of tasks, by name with the tasks whose outputs each is passed; none for a single task."""
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
    """The tasks that a run comes to, in their order; those that are no nodes any more are passed over."""
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
