"""Asking a model for inputs, once: the answer is stored, so that a resumed search has the same one."""

import asyncio
from pathlib import Path

from agentmut._base import Frozen, RunError, StoreError, UsageError, digest_of, write_json
from agentmut.insight.generate.model_proposals import INSTRUCTION
from agentmut.nouns import AgentConfig, EvaluatorSpec, ModelConfig, Scenario
from agentmut.seams import Adapter, AgentSpec, Catalogue, Group
from agentmut.trial import Case, attempt

ADAPTERS = ("openai", "anthropic")
SECONDS = 120.0


class Answer(Frozen):
    """A model's answer to a question."""

    model: str
    text: str


def read_model(named: str) -> tuple[str, str]:
    """Return adapter and model of `suggest.model`. Raises `UsageError`.

    >>> read_model("openai:gpt-5.2")
    ('openai', 'gpt-5.2')
    """
    adapter, _, model = named.partition(":")
    if adapter not in ADAPTERS or not model:
        raise UsageError(
            f"suggest.model: expected ADAPTER:MODEL with one of the adapters {', '.join(ADAPTERS)}, as in "
            f"`openai:gpt-5.2`, got {named!r}."
        )
    return adapter, model


def consult(named: str, question: str, folder: Path) -> str:
    """Return the model's answer, from `folder` if the question was asked before.

    Raises `UsageError` for an unknown name, and `RunError` where the model does not answer.
    """
    adapter_name, model = read_model(named)
    path = folder / f"{digest_of([named, INSTRUCTION, question])[:24]}.json"
    if path.exists():
        return _stored_answer(path)
    config = AgentConfig(prompt=INSTRUCTION, model=ModelConfig(name=model))
    adapter: Adapter = (
        Catalogue.from_group(Group.ADAPTERS)
        .load(adapter_name)
        .create(AgentSpec(adapter=adapter_name), config)
    )
    text = asyncio.run(_ask(adapter, question))
    write_json(Answer(model=named, text=text), path, "`agentmut suggest --scenarios`")
    return text


async def _ask(adapter: Adapter, question: str) -> str:
    unjudged = EvaluatorSpec(name="max_steps", argument=1000)
    scenario = Scenario(name="question", turns=(question,), evaluators=(unjudged,))
    run = await attempt(adapter, Case(scenario, {}), "suggest", 0, SECONDS)
    if run.ending.outcome is not None:
        raise RunError(f"the model of suggest.model gave no answer ({run.ending}: {run.reason}).")
    return run.trace.text


def _stored_answer(path: Path) -> str:
    try:
        return Answer.model_validate_json(path.read_text(encoding="utf-8")).text
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} cannot be read: {error}. Delete it: the model is then asked again."
        ) from None
