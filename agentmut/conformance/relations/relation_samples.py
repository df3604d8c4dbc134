"""Runs that every relation is tried on: what agents do at their oddest."""

import random
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from agentmut.conformance.operators.operator_samples import SAMPLES
from agentmut.nouns import Action, AgentConfig, AgentTrace, EvaluatorSpec, Scenario, Source, Step, ToolDouble

SEED = 20

_REFUND = Step(
    action=Action.CALL_TOOL,
    tool="issue_refund",
    arguments={"order_id": "ORD-1042", "amount": 120.5, "notes": [None, True, {"a": 10**30}]},
    output={"status": "done", "total": "$120.50"},
    call_id="1",
)
TRACES: dict[str, AgentTrace] = {
    "an answer": AgentTrace(
        steps=(Step(action=Action.REASON, output="thinking", model="large", node="outer/inner"), _REFUND),
        outputs=("Your refund of $120.50 for ORD-1042 arrives within 5 days. It can not be sooner.",),
    ),
    "nothing at all": AgentTrace(),
    "an error": AgentTrace(error="TimeoutError: no answer", steps=(_REFUND, _REFUND)),
    "an answer that is a mapping": AgentTrace(outputs=({"status": "shipped", "days": [3, None, 2.5]},)),
    "an answer that is a list, a number and nothing": AgentTrace(outputs=([1, "two"], 3.25, None)),
    "an empty answer": AgentTrace(outputs=("", "  \n")),
    "odd characters": AgentTrace(outputs=("\u202e\x00 \ud800 ١٢٣ 你好。👩‍👩‍👧 İ \u2028 1e999 $٣",)),
    "many answers": AgentTrace(outputs=tuple(f"Answer {number}: it is {number} EUR." for number in range(12))),
    "calls without arguments or name": AgentTrace(
        steps=(
            Step(action=Action.CALL_TOOL, tool=None, arguments=None),
            Step(action=Action.CALL_TOOL, tool="unknown_tool", arguments=None, error="no such tool", turn=7),
            Step(action=Action.CALL_TOOL, tool="issue_refund", arguments={}, output=["Error: no"]),
        ),
        outputs=("```json\n{\"a\": [1, 2\n```",),
    ),
}  # fmt: skip
"""Traces by what is odd about them."""

TURNS: dict[str, tuple[JsonValue, ...]] = {
    "a question": ("Where is my order ORD-1042? Refund $120.50, please.",),
    "several requests": (
        "My order is ORD-1042. When does it arrive? Also, what does shipping to Peru cost?",
    ),
    "three turns": ("What are your hours?", "What does shipping cost?", "Do you ship to Peru?"),
    "a text to clean": ("Please clean up this note in at most 20 words: met  bob on 3 May 2026,paid $20",),
    "an empty turn": ("",),
    "turns that are no text": ({"question": "Where is it?", "order": 1042}, ["a", 1], None, True, 3.5),
    "odd characters": ("\u202e \ud800 ١٢٣ 你好。👩‍👩‍👧 {request} %s \\1 </text> \u2028?",),
    "many turns": tuple(f"Turn {number}: what is {number} + 1?" for number in range(12)),
}
"""What is asked, by what is odd about it."""


def sources() -> Iterator[tuple[str, Source]]:
    """Yield source runs, each with its description: all turns with three traces each, under two configs in turn."""
    names = list(TRACES)
    for row, (asked, turns) in enumerate(TURNS.items()):
        scenario = Scenario(
            name="sample",
            turns=turns,
            evaluators=(EvaluatorSpec(name="regex", argument="."),),
            tools={"issue_refund": ToolDouble(returns="ok")},
        )
        for number, done in enumerate(some(names, row)):
            config = AgentConfig() if number == 1 else SAMPLES[0]
            yield f"turns: {asked}; run: {done}", Source(scenario, config, TRACES[done], random.Random(SEED))


def some(names: Sequence[str], row: int) -> tuple[str, ...]:
    """Return three of the names, others for each of as many rows: all pairs of what is odd would take long."""
    return tuple(names[(row + step) % len(names)] for step in (0, len(names) // 3, 2 * len(names) // 3))
