"""Calls of tools that change something, and the rule by which two calls are the same act."""

import re
from collections import Counter
from collections.abc import Iterable

from pydantic import JsonValue

from agentmut._base import canonical_json, shipped
from agentmut.language import identifiers
from agentmut.nouns import AgentConfig, Step, ToolSpec

_SHIPPED = shipped("agentmut.relations", "word_lists")
_CHANGING = frozenset(_SHIPPED["verbs_of_change"].split())
_READING = frozenset(_SHIPPED["verbs_of_reading"].split())
_SUCCEEDED = ("success", "succeeded", "successful", "ok")
_FAILURES = frozenset({"error", "failed", "failure"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def changing_tools(config: AgentConfig) -> frozenset[str]:
    """Return the agent's own names of the tools that change something, by the verb that their names begin with.

    A name that begins with no verb known here is read by the first word of the tool's description.
    """
    return frozenset(tool.own_name for tool in config.tools if changes_something(tool))


def changes_something(tool: ToolSpec) -> bool:
    """Return whether a tool's name, or else its description, begins with a verb of change.

    >>> changes_something(ToolSpec(name="issue_refund")), changes_something(ToolSpec(name="get_order"))
    (True, False)
    """
    for text in (tool.own_name, tool.name, tool.description):
        words = [word.lower() for word in _WORDS.findall(text)[:2]]
        verb = next((word for word in words if word in _CHANGING | _READING), "")
        if verb:
            return verb in _CHANGING
    return False


def doubled(calls: Iterable[Step], tools: frozenset[str]) -> tuple[Step, ...]:
    """Return later calls that repeat the act of an earlier call; a failed call did nothing.

    Two calls are the same deed when their arguments are equal; in different turns it is enough that the ids and
    numbers are, as a reason is seldom given twice in the same words.
    """
    found: list[Step] = []
    done: list[Step] = []
    for step in calls:
        if step.tool not in tools or _failed(step):
            continue
        if any(_is_same_deed(earlier, step) for earlier in done):
            found.append(step)
        done.append(step)
    return tuple(found)


def done_more_often(before: Iterable[Step], after: Iterable[Step], tools: frozenset[str]) -> tuple[Step, ...]:
    """Return further calls that repeat, by ids and numbers, an act that the run before has done already.

    For runs in which it is not known in which turn a call was made.
    """
    left = Counter(filter(None, (_deed(step) for step in before if step.tool in tools and not _failed(step))))
    made = set(left)
    found: list[Step] = []
    for step in after:
        deed = None if step.tool not in tools or _failed(step) else _deed(step)
        if deed is None or deed not in made:
            continue
        if not left[deed]:
            found.append(step)
        else:
            left[deed] -= 1
    return tuple(found)


def _deed(step: Step) -> str | None:
    """Return the tool with the ids and numbers of its arguments, if there are some."""
    telling = _telling(step.arguments or {})
    return f"{step.tool} {sorted(telling.items())}" if telling else None


def _failed(step: Step) -> bool:
    """Return whether the call did not go through, by its error or by what it returned."""
    if step.error is not None:
        return True
    output = step.output
    if isinstance(output, str):
        return re.match(r"\W*error\b", output, re.IGNORECASE) is not None
    if not isinstance(output, dict):
        return False
    denied = any(output.get(name) is False for name in _SUCCEEDED)
    return bool(output.get("error")) or denied or str(output.get("status")).lower() in _FAILURES


def _is_same_deed(step: Step, other: Step) -> bool:
    if step.tool != other.tool:
        return False
    if canonical_json(step.arguments or {}) == canonical_json(other.arguments or {}):
        return True
    telling = _telling(step.arguments or {})
    return step.turn != other.turn and bool(telling) and telling == _telling(other.arguments or {})


def _telling(arguments: dict[str, JsonValue]) -> dict[str, tuple[JsonValue, ...]]:
    """Return the ids and numbers of the arguments by name."""
    found: dict[str, tuple[JsonValue, ...]] = {}
    for name, value in arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = (value,)
        elif isinstance(value, str) and (ids := tuple(thing.value for thing in identifiers(value))):
            found[name] = ids
    return found
