"""What judging a run costs in a thread and in a process apart: `python benchmarks/evaluators.py [NUMBER]`.

The evaluator is a Python function that looks for a word in a run of six steps. Processor time counts this process and
the one apart.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut import Action, AgentTrace, EvaluatorSpec, Scenario, Step  # noqa: E402
from agentmut.campaign.running.judging import Judging  # noqa: E402
from agentmut.campaign.trials import Suite  # noqa: E402
from agentmut.judging import build  # noqa: E402
from agentmut.nouns import Ending, Execution  # noqa: E402
from benchmarks.commit import commit  # noqa: E402

NUMBER = 4_000
SPEC = EvaluatorSpec(name="python", argument="benchmarks.evaluators:judge")
SCENARIO = Scenario(name="greeting", turns=("hi",), evaluators=(SPEC,))
STEPS = tuple(Step(action=Action.RESPOND, output="hello " * 20) for _ in range(6))
RUN = Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=STEPS, outputs=("hello",)))


def judge(trace: AgentTrace) -> bool:
    """Return whether the answer says hello."""
    return "hello" in trace.text


async def judged(judging: Judging, number: int, at_once: int) -> float:
    """Judge so many runs; return the seconds a run."""
    begun = time.perf_counter()

    async def some() -> None:
        for _ in range(number // at_once):
            await judging.judge(SCENARIO.name, RUN)

    await asyncio.gather(*(some() for _ in range(at_once)))
    return (time.perf_counter() - begun) / number


def processor_seconds() -> float:
    """Return the processor time of this process and of those of its children that have ended."""
    return sum(os.times()[:4])


def main(number: int) -> None:
    """Print a row for each place and each number of runs at the same time."""
    print(f"{number:,} runs a row, commit {commit()}\n")
    print("| evaluator in a | runs at once | ms a run | of processor time |\n| --- | ---: | ---: | ---: |")
    for apart in (False, True):
        for at_once in (1, 16):
            before = processor_seconds()
            judging = Judging(
                Suite({SCENARIO.name: SCENARIO}, {SCENARIO.name: (build(SPEC),)}), 60, apart=apart
            )
            try:
                took = asyncio.run(judged(judging, number, at_once))
            finally:
                judging.close()
            used = (processor_seconds() - before) / number
            print(f"| {'process' if apart else 'thread'} | {at_once} | {took * 1e3:.2f} | {used * 1e3:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else NUMBER)
