"""Operators on the limits of what a model thinks and writes."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, ModelConfig
from agentmut.operators.model.setting_edits import changed, is_claude, may_set, model_example
from agentmut.seams import OperatorOptions, operator

_FEW_TOKENS, _FEWEST_TOKENS = 64, 16
_ROUND_BELOW = 100
_EFFORTS = ("xhigh", "high", "medium", "low", "minimal", "none")
_STOP = "\n\n"
_MOST_STOPS = 4
"""Services take no more."""


@operator(
    "model.cut_max_tokens",
    why="Somebody caps the length of answers to save money, and some are cut off in the middle.",
    examples=[model_example(ModelConfig(name="m", max_tokens=800), ModelConfig(name="m", max_tokens=200))],
    lack="neither model.name nor model.max_tokens above 16 is set",
)
def cut_max_tokens(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: a quarter of the tokens, at least 16, round below 100; without a limit, one of 64."""
    now = config.model.max_tokens
    if now is None and config.model.name:
        yield changed(config, "max_tokens", _FEW_TOKENS, f"limit answers to {_FEW_TOKENS} tokens")
    if now is not None and (cut := _quarter(now)) < now:
        yield changed(config, "max_tokens", cut, f"cut the limit of answers from {now} tokens to {cut}")


def _quarter(tokens: int) -> int:
    """Return a quarter of a limit, as somebody would write it.

    >>> [_quarter(tokens) for tokens in (4096, 3000, 150, 20)]
    [1024, 750, 30, 16]
    """
    quarter = tokens // 4
    return max(_FEWEST_TOKENS, quarter if quarter >= _ROUND_BELOW else quarter // 10 * 10)


@operator(
    "model.add_stop_sequence",
    why="A stop sequence that suits another prompt is left in shared settings.",
    examples=[model_example(ModelConfig(name="m"), ModelConfig(name="m", stop=(_STOP,)))],
    lack="model.name is not set, or the model takes no such stop sequence",
)
def add_stop_sequence(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: answers end at their first blank line.

    None where that is so already, where there are four stop sequences, the most that services take, where
    reasoning effort is set, and for Claude, which takes no blank ones.
    """
    now = config.model.stop
    if not may_set(config) or is_claude(config) or _STOP in now or len(now) >= _MOST_STOPS:
        return
    yield changed(config, "stop", [*now, _STOP], "end answers at the first blank line")


@operator(
    "model.reduce_reasoning_effort",
    why="Thinking is turned down to save time and money.",
    examples=[
        model_example(
            ModelConfig(name="m", reasoning_effort="high"), ModelConfig(name="m", reasoning_effort="medium")
        )
    ],
    lack="model.reasoning_effort is not set, or is the lowest",
)
def reduce_reasoning_effort(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield at most two mutants: the next lower effort of high, medium, low, minimal, none; and "low" where lower
    still.

    An unset effort has no mutant, as many models take none; neither has one of another name.
    """
    now = config.model.reasoning_effort
    if now not in _EFFORTS or now == _EFFORTS[-1]:
        return
    place = _EFFORTS.index(now)
    for effort in dict.fromkeys((_EFFORTS[place + 1], *("low",) * (place < _EFFORTS.index("low")))):
        description = f"reduce the reasoning effort from {now} to {effort}"
        yield changed(config, "reasoning_effort", effort, description)
