"""How long guidance takes on many stored traces. Prints each figure next to its target.

`python benchmarks/guidance.py [TRACES]`
"""

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from agentmut.insight.coverage.measure import measure
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.guidance import CoverageSettings

TRACES = 10_000
SCENARIOS = 50
COVERAGE_SECONDS = 5.0
"""Target of coverage over so many traces."""
_WORDS = (
    "refund", "order", "parcel", "damaged", "customer", "policy", "lawyer", "deadline", "card", "address", "invoice",
    "seats", "label", "stock",
)  # fmt: skip


def agent() -> AgentConfig:
    """Twelve tools with bounded parameters, and a prompt of forty rules."""
    schema = {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "maximum": 500},
            "reason": {"enum": ["damaged", "late", "other"]},
            "items": {"type": "array", "maxItems": 5, "items": {"type": "object", "properties": {
                "count": {"type": "integer", "minimum": 1}, "note": {"type": "string", "maxLength": 80}}}},
        },
        "required": ["amount"],
    }  # fmt: skip
    rng = random.Random(1)
    rules = (f"- Rule {n}: {' '.join(rng.choices(_WORDS, k=8))}." for n in range(40))
    return AgentConfig(
        prompt="# Rules\n" + "\n".join(rules),
        tools=tuple(ToolSpec(name=f"tool_{n}", parameters=schema) for n in range(12)),
        model=ModelConfig(name="gpt-5.2"),
    )


def traces(count: int = TRACES, seed: int = 1) -> dict[str, list[AgentTrace]]:
    """Make runs of about twelve steps and a hundred words, no two alike."""
    rng = random.Random(seed)
    found: dict[str, list[AgentTrace]] = {f"scenario {n}": [] for n in range(SCENARIOS)}
    for number in range(count):
        found[f"scenario {number % SCENARIOS}"].append(_trace(rng))
    return found


def _trace(rng: random.Random) -> AgentTrace:
    steps: list[Step] = []
    for _ in range(rng.randint(2, 7)):
        steps.append(Step(action=Action.REASON, model="gpt-5.2-2026-01-01"))
        steps.append(
            Step(action=Action.CALL_TOOL, tool=f"tool_{rng.randrange(12)}", arguments=_arguments(rng))
        )
    answer = " ".join(rng.choices(_WORDS, k=100))
    steps.append(Step(action=Action.RESPOND, output=answer))
    return AgentTrace(steps=tuple(steps), outputs=(answer,))


def _arguments(rng: random.Random) -> dict[str, Any]:
    items = [{"count": rng.randint(1, 9)} for _ in range(rng.randint(0, 5))]
    return {
        "amount": round(rng.uniform(0, 500), 2),
        "reason": rng.choice(["damaged", "late"]),
        "items": items,
    }


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def coverage_seconds(count: int = TRACES) -> float:
    """Return how long coverage of so many traces takes."""
    runs, config = traces(count), agent()
    return seconds(lambda: measure(runs, config, CoverageSettings()))


def main() -> None:
    """Print the figures. The first measurement of a process imports nltk, which counts."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    importing = coverage_seconds(1)
    taken = importing + coverage_seconds(count)
    print(
        f"coverage of {count} traces: {taken:.2f} s, {importing:.2f} s of it to import nltk "
        f"(target {COVERAGE_SECONDS:g} s for {TRACES})"
    )


if __name__ == "__main__":
    main()
