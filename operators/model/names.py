"""Operators that take another model. The project file names the models; nothing is guessed."""

from collections.abc import Iterable, Iterator

from agentmut.language import quoted
from agentmut.nouns import AgentConfig, Candidate, Edit, ModelConfig
from agentmut.seams import Example, OperatorOptions, operator


def _config(name: str) -> AgentConfig:
    return AgentConfig(model=ModelConfig(name=name))


@operator(
    "model.swap",
    why="A provider is changed for price or availability, and the prompt was tuned for the old.",
    examples=[
        Example(
            _config("gpt-5.2"),
            _config("claude-sonnet-4-6"),
            OperatorOptions(swap_models=("claude-sonnet-4-6",)),
        )
    ],
    lack="no other model is named for it (mutation.swap_models)",
)
def swap(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per name in `swap_models`, another model of the same tier, without the current one."""
    yield from _others(config, options.swap_models, "swap the model")


@operator(
    "model.downgrade",
    why="A cheaper model is tried, a quota falls back to one, or an alias moves.",
    examples=[
        Example(
            _config("gpt-5.2"), _config("gpt-5.2-mini"), OperatorOptions(downgrade_models=("gpt-5.2-mini",))
        )
    ],
    lack="no smaller model is named for it (mutation.downgrade_models)",
)
def downgrade(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per name in `downgrade_models`, older or smaller models, without the current one."""
    yield from _others(config, options.downgrade_models, "downgrade the model")


def _others(config: AgentConfig, names: Iterable[str], verb: str) -> Iterator[Candidate]:
    now = config.model.name
    for name in names:
        if name != now:
            yield Candidate(
                edits=(Edit(pointer="/model/name", before=now, after=name),),
                description=f"{verb} {quoted(now)} to {quoted(name)}" if now else f"{verb} to {quoted(name)}",
                anchor="model.name",
            )
