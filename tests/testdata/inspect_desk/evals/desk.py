"""Tasks of inspect_ai as their owner wrote them; the first knows nothing of agentmut."""

import itertools
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, includes, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, system_message

PROMPT = """- Say that the shop opens at 9 am.
- Say that a refund takes 5 days.
- Never promise a delivery date.
"""


@scorer(metrics=[accuracy()])
def seldom_wrong() -> Scorer:
    """A judge that is right nine times out of ten."""
    asked = itertools.count(1)

    async def score(state: TaskState, target: Target) -> Score:
        right = all(word.lower() in state.output.completion.lower() for word in target)
        return Score(value=right is (next(asked) % 10 != 0), explanation="what it says")

    return score


@task
def desk() -> Task:
    return Task(
        dataset=[
            Sample(id="refund", input="What about my refund?", target="5 days"),
            Sample(input="When do you open?", target="9 am"),
        ],
        solver=[system_message(PROMPT), generate(cache=True)],
        scorer=seldom_wrong(),
        epochs=3,
    )


@scorer(metrics={"words": [mean()], "polite": [accuracy()]})
def counted() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"words": len(state.output.completion.split()), "polite": "C"})

    return score


@scorer(metrics=[mean()])
def broken() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        raise ValueError("the judge is out")

    return score


@solver
def says(config: Any) -> Solver:
    """An agent without a model that does what its prompt says."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if "crash" in state.input_text:
            raise ValueError("the agent cannot do that")
        state.output.completion = "9 am" if "9 am" in config.prompt else "No idea"
        return state

    return solve


@task
def told(agentmut_config: Any) -> Task:
    return Task(
        dataset=[
            Sample(id="open", input="When?", target="9 am"),
            Sample(id="crash", input="crash", target="x"),
        ],
        solver=says(agentmut_config),
        scorer=[includes(), counted()],
    )


@task
def untold(judge: str = "includes") -> Task:
    judges = {"includes": includes(), "broken": broken(), "counted": counted()}
    return Task(
        dataset=[Sample(id="open", input="When?", target="9 am")], solver=generate(), scorer=judges[judge]
    )
