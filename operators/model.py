"""Operators on the model. The project file names the models; nothing is guessed."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from agentmut.config import AgentConfig, ModelConfig
from agentmut.mutant import Candidate, Edit, Intent, OperatorClass, Reach
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions


def _others(config: AgentConfig, names: Iterable[str], verb: str) -> Iterator[Candidate]:
    now = config.model.name
    for name in names:
        if name != now:
            yield Candidate(
                edits=(Edit(pointer="/model/name", before=now, after=name),),
                description=f"{verb} {quoted(now)} to {quoted(name)}" if now else f"{verb} to {quoted(name)}",
                anchor="model.name",
            )


def _config(name: str) -> AgentConfig:
    return AgentConfig(model=ModelConfig(name=name))


class Swap:
    """One mutant per name in `swap_models`: another model of the same tier."""

    id: ClassVar[str] = "model.swap"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.MODEL
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = (
        "A provider is changed for price or availability, and the prompt was tuned for the old."
    )

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the project file, without the current model."""
        yield from _others(config, options.swap_models, "swap the model")

    def examples(self) -> Iterable[Example]:
        """The model of another vendor."""
        yield Example(_config("gpt-5.2"), _config("claude-sonnet-4-6"), _swap("claude-sonnet-4-6"))


class Downgrade:
    """One mutant per name in `downgrade_models`: an older or smaller model."""

    id: ClassVar[str] = "model.downgrade"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.MODEL
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "A cheaper model is tried, a quota falls back to one, or an alias moves."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the project file, without the current model."""
        yield from _others(config, options.downgrade_models, "downgrade the model")

    def examples(self) -> Iterable[Example]:
        """The small model of the same family."""
        yield Example(_config("gpt-5.2"), _config("gpt-5.2-mini"), _downgrade("gpt-5.2-mini"))


def _swap(*names: str) -> OperatorOptions:
    return OperatorOptions(swap_models=names)


def _downgrade(*names: str) -> OperatorOptions:
    return OperatorOptions(downgrade_models=names)
