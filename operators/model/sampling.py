"""Operators on the sampling settings of a model."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Intent, ModelConfig
from agentmut.operators.model.setting_edits import changed, is_claude, may_set, model_example
from agentmut.seams import OperatorOptions, operator

_HOT, _HOTTEST = 1.5, 2.0
_HOTTEST_CLAUDE = 1.0


@operator(
    "model.raise_temperature",
    why="Somebody wants livelier answers, or a new client library has another default.",
    examples=[model_example(ModelConfig(name="m", temperature=0.2), ModelConfig(name="m", temperature=1.5))],
    lack="model.name is not set, or the model takes no higher temperature",
)
def raise_temperature(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: temperature 1.5, or 2 where it is that high already; for Claude 1, the highest it takes.

    An unset temperature is raised too: the defaults of services are at most 1. Claude's is 1, so there an
    unset one has no mutant, and neither has one where reasoning effort is set: services refuse both together.
    """
    now = config.model.temperature
    highest = _HOTTEST_CLAUDE if is_claude(config) else _HOT if now is None or now < _HOT else _HOTTEST
    if now is None and (is_claude(config) or not may_set(config)):
        return
    if now is None or now < highest:
        yield changed(config, "temperature", highest, f"raise the temperature {_from(now)}to {highest:g}")


@operator(
    "model.lower_temperature",
    why="Somebody wants repeatable answers and turns the temperature off.",
    intent=Intent.PRESERVE,
    examples=[model_example(ModelConfig(name="m", temperature=0.7), ModelConfig(name="m", temperature=0.0))],
    lack="model.name is not set, or the temperature is 0 or not to be set",
)
def lower_temperature(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: temperature 0, unless it is that already.

    It preserves: the likeliest words are said all the time, and an agent that gets worse by that lived on
    luck. An unset temperature is lowered too, as no service has 0 as its default.
    """
    now = config.model.temperature
    if now == 0 or (now is None and not may_set(config)):
        return
    yield changed(config, "temperature", 0.0, f"lower the temperature {_from(now)}to 0")


@operator(
    "model.change_top_p",
    why="A cut-off that kept unlikely words out is lost when settings are copied to a new client.",
    examples=[model_example(ModelConfig(name="m", top_p=0.5), ModelConfig(name="m", top_p=1.0))],
    lack="model.top_p is not set below 1",
)
def change_top_p(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where top_p is below 1: it is 1, and the unlikeliest words are let in again.

    An unset one is 1 with every service. A lower top_p is no mutant: it takes unlikely words away, which
    makes answers duller, but not wrong.
    """
    now = config.model.top_p
    if now is not None and now < 1:
        yield changed(config, "top_p", 1.0, f"widen top_p from {now:g} to 1")


@operator(
    "model.drop_seed",
    why="A client is rewritten without the seed, or the service stops honouring it.",
    intent=Intent.PRESERVE,
    examples=[model_example(ModelConfig(name="m", seed=7), ModelConfig(name="m"))],
    lack="model.seed is not set",
)
def drop_seed(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant, where a seed is set: it is not. An agent that works with one seed only is brittle."""
    if config.model.seed is not None:
        yield changed(config, "seed", None, f"drop the seed {config.model.seed}")


def _from(now: float | None) -> str:
    return "" if now is None else f"from {now:g} "
