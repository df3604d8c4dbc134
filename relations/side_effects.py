"""Calls of tools that change something, and when two of them are the same deed."""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.frozen import canonical_json
from agentmut.text.things import things
from agentmut.tools import ToolSpec
from agentmut.trace import Step

_CHANGES = """
add apply approve archive assign block book cancel change charge close confirm create credit deduct delete deliver
deposit deploy disable dispatch email enable enroll enrol escalate exchange file grant insert invite issue merge
message modify move notify open order pay place post publish purchase put reboot record redeem refund register
reimburse release remove reopen replace report reschedule reserve reset restart return revoke run schedule send set
ship stop submit subscribe terminate transfer unsubscribe update upgrade upload withdraw write
"""
_READS = """
calculate check compare compute convert count describe detect estimate fetch find get inspect list load look lookup
query read retrieve search show summarise summarize track validate verify view
"""
_CHANGING, _READING = frozenset(_CHANGES.split()), frozenset(_READS.split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def changing_tools(config: AgentConfig) -> frozenset[str]:
    """The agent's own names of the tools that change something, by the verb that their names begin with.

    A name that begins with no verb known here is read by the first word of the tool's description.
    """
    return frozenset(tool.own_name for tool in config.tools if changes_something(tool))


def changes_something(tool: ToolSpec) -> bool:
    """Whether a tool's name, or else its description, begins with a verb of change.

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
    """Later calls that do again what an earlier one did; those that failed did nothing.

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


def _failed(step: Step) -> bool:
    """Whether the call did not go through, by its error or by what it returned."""
    if step.error is not None:
        return True
    output = step.output
    return (isinstance(output, dict) and bool(output.get("error"))) or (
        isinstance(output, str) and re.match(r"\W*error\b", output, re.IGNORECASE) is not None
    )


def _is_same_deed(one: Step, other: Step) -> bool:
    if one.tool != other.tool:
        return False
    if canonical_json(one.arguments or {}) == canonical_json(other.arguments or {}):
        return True
    telling = _telling(one.arguments or {})
    return one.turn != other.turn and bool(telling) and telling == _telling(other.arguments or {})


def _telling(arguments: dict[str, JsonValue]) -> dict[str, tuple[JsonValue, ...]]:
    """The ids and numbers of the arguments by name."""
    found: dict[str, tuple[JsonValue, ...]] = {}
    for name, value in arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = (value,)
        elif isinstance(value, str) and (ids := tuple(thing.value for thing in things(value))):
            found[name] = ids
    return found
