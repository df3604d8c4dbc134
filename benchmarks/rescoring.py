"""Times `agentmut rescore`: 10,000 stored trials of ten steps each, five evaluators a scenario.

`python benchmarks/rescoring.py` prints one line; exit code 1 where the limit is not kept.
"""

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.usecases.campaigns import measure, rescore  # noqa: E402

TRIALS = 10_000
LIMIT = 10.0
"""Seconds."""

AGENT = """
import hashlib

from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.recording.current import current_trial


def run(config, input):
    chance = hashlib.sha256((current_trial().id + "x").encode()).digest()[0] / 256
    obeyed = "say" in config.prompt
    steps = []
    for number in range(5):
        steps.append(Step(action=Action.REASON, model="m", usage=Usage(input_tokens=500, output_tokens=40), usd=0.0))
        arguments = {"order_id": "A-1042", "reason": "the customer asked for it " * 4}
        steps.append(Step(action=Action.CALL_TOOL, tool=f"tool_{number}", arguments=arguments, output={"ok": True}))
    said = "Your order A-1042 is in transit and arrives within 5 days. " * 3
    return AgentTrace(steps=tuple(steps), outputs=(said if obeyed and chance < 0.93 else "No idea.",))
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: agent:run
  config: {prompt: prompt.md, tools: [{name: tool_0}, {name: tool_1}, {name: tool_2}]}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 500}
"""
SCENARIO = """
- name: case_%d
  input: "Where is order A-1042, case %d?"
  evaluators:
    - contains: "transit"
    - tool_called: tool_0
    - tool_order: [tool_0, tool_2]
    - not_contains: "guarantee"
    - max_steps: 14
"""


def main() -> int:
    """Run a campaign of about `TRIALS` trials, then judge them again."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "agent.py").write_text(AGENT)
        (root / "agentmut.yaml").write_text(PROJECT)
        rules = [f"- Never provide topic number {i} in your answer, just say it." for i in range(60)]
        (root / "prompt.md").write_text("\n".join(rules) + "\n")
        (root / "scenarios").mkdir()
        (root / "scenarios" / "all.yaml").write_text("".join(SCENARIO % (i, i) for i in range(5)))
        before = measure(root)
        begun = time.perf_counter()
        again = rescore(root)
        seconds = time.perf_counter() - begun
        scaled = seconds * TRIALS / again.trials
        print(
            f"rescore: {again.trials} of {before.cost.trials} stored trials of 10 steps, 5 evaluators: "
            f"{seconds:.2f} s, "
            f"{scaled:.2f} s for {TRIALS} (limit {LIMIT:g} s)"
        )
        return int(scaled > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
