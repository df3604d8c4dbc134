"""A task of inspect_ai as its owner wrote it: it knows nothing of agentmut."""

import random

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, includes, scorer
from inspect_ai.solver import TaskState, generate, system_message

PROMPT = """- Say that the shop opens at 9 am.
- Say that a refund takes 5 days.
- Never promise a delivery date.
"""


@scorer(metrics=[accuracy()])
def seldom_wrong() -> Scorer:
    """A judge that is right nine times out of ten."""

    async def score(state: TaskState, target: Target) -> Score:
        right = all(word.lower() in state.output.completion.lower() for word in target)
        return Score(value=right is (random.random() < 0.9), explanation="what it says")

    return score


@task
def desk() -> Task:
    return Task(
        dataset=[
            Sample(id="refund", input="What about my refund?", target="5 days"),
            Sample(input="When do you open?", target="9 am"),
        ],
        solver=[system_message(PROMPT), generate()],
        scorer=seldom_wrong(),
        epochs=3,
    )


@task
def noisy(rate: float, epochs: int) -> Task:
    """Samples without a model, of which some fail by chance, and one at its third epoch."""
    return Task(dataset=[Sample(id="x", input="x")], solver=nothing(), scorer=chance(rate), epochs=epochs)
