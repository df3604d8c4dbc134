"""Abstract states (Definitions 4.5 and 4.6): a run's location, its history, and its last steps."""

from collections.abc import Iterator
from typing import NamedTuple

from agentmut._base import digest_of
from agentmut.insight.coverage.sightings import Sightings
from agentmut.nouns import AgentTrace, Step
from agentmut.stats import chao1

WINDOW = 3
"""Steps that the history of a state reaches back, its own step included."""
MOST_TURNS = 3
MOST_ERRORS = 2


class State(NamedTuple):
    """The abstraction of the state after a step, without texts, times and costs.

    Location: the step's node, which agents that are no graph do not have. Variables: the turn (0, 1, 2, later), the
    tool calls so far in doubling steps (0, 1, 2 to 3, 4 to 7, ...), the failed ones among them (0, 1, more), and
    the kind of the last tool's result. History: action, tool and failure of the last `WINDOW` steps.
    """

    location: str
    turn: int
    calls: int
    errors: int
    result: str
    history: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return location and last steps, and 8 hex digits that identify the state."""
        return f"{self.location or 'agent'} after {' '.join(self.history)} [{digest_of(list(self))[:8]}]"


def states_of(trace: AgentTrace) -> Iterator[State]:
    """Yield the state after each step."""
    calls = errors = 0
    result = "none"
    history: tuple[str, ...] = ()
    for step in trace.steps:
        if step.tool:
            calls, errors, result = calls + 1, errors + bool(step.error), _kind(step)
        history = (*history[1 - WINDOW :], _did(step))
        turn = min(step.turn, MOST_TURNS)
        yield State(step.node or "", turn, calls.bit_length(), min(errors, MOST_ERRORS), result, history)


def expected_states(seen: Sightings[State]) -> float:
    """Return an estimate of lambda (Eq. 17) from what was seen: Chao1 on the number of traces that show each state.

    At least 1.
    """
    return max(1.0, chao1(len(seen), *seen.repeats()))


def _did(step: Step) -> str:
    return f"{step.tool or step.action.value}{'!' if step.error else ''}"


def _kind(step: Step) -> str:
    if step.error:
        return "error"
    output = step.output
    if output in (None, "", [], {}):
        return "empty"
    kinds = {str: "text", bool: "truth", list: "list", dict: "object"}
    return kinds.get(type(output), "number")
