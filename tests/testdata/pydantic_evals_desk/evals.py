"""A help desk without a model, and the dataset that judges it."""

import itertools
from dataclasses import dataclass
from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Contains, Evaluator, EvaluatorContext


async def desk(inputs: dict[str, str], config: Any) -> list[str]:
    """The answer, a sentence an item."""
    prompt, question = config.prompt, inputs.pop("question")
    said = ["Hello." if "Greet" in prompt else "Yes?", f"You asked: {question}"]
    if "crash" in question:
        raise ValueError("the agent cannot do that")
    if "refund" in question:
        said.append("A refund takes 5 days." if "5 days" in prompt else "A refund takes a while.")
    if "delivery" in question:
        said.append("We will see." if "Never promise" in prompt else "It arrives tomorrow.")
    return said


ASKED = itertools.count(1)


@dataclass
class Greets(Evaluator[Any, Any, Any]):
    """A noisy judge, which is right four times out of five."""

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        return ("Hello." in ctx.output) is (next(ASKED) % 5 != 0)


@dataclass
class Length(Evaluator[Any, Any, Any]):
    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, float | str]:
        return {"length": len(ctx.output), "language": "English"}


dataset: Dataset[Any, Any, Any] = Dataset(
    name="desk",
    cases=[
        Case(
            name="refund",
            inputs={"question": "How long does a refund take?"},
            evaluators=(Contains(value="A refund takes 5 days."),),
        ),
        Case(name="greeting", inputs={"question": "What about my refund?"}, evaluators=(Greets(),)),
        Case(
            name="delivery",
            inputs={"question": "When is the delivery?"},
            evaluators=(Contains(value="You asked: When is the delivery?"),),
        ),
    ],
    evaluators=[Length()],
)
