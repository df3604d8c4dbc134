"""The sum of what model judges and the hooks of scenarios used, by model."""

from collections.abc import Iterable
from typing import TypeVar

from agentmut.nouns import HookUse, JudgeUse, Step

_Use = TypeVar("_Use", JudgeUse, HookUse)


def of_steps(steps: Iterable[Step]) -> tuple[JudgeUse, ...]:
    """Return the use of a suite's own judges, from the priced model calls that they made."""
    return tuple(
        JudgeUse(
            model=step.model or "",
            input_tokens=step.usage.input_tokens,
            output_tokens=step.usage.output_tokens,
            usd=step.usd,
            questions=1,
        )
        for step in steps
    )


def hooks_of_steps(steps: Iterable[Step]) -> tuple[HookUse, ...]:
    """Return what hooks asked of models, from their priced model calls: one use for each."""
    return tuple(
        HookUse(
            model=step.model or "",
            requests=1,
            input_tokens=step.usage.input_tokens,
            output_tokens=step.usage.output_tokens,
            usd=step.usd,
        )
        for step in steps
    )


def merged(uses: Iterable[_Use]) -> tuple[_Use, ...]:
    """Return one use for each model, in the order of appearance; a model's cost is unknown if any part of it is."""
    by_model: dict[str, _Use] = {}
    for use in uses:
        by_model[use.model] = _sum(by_model[use.model], use) if use.model in by_model else use
    return tuple(by_model.values())


def _sum(left: _Use, right: _Use) -> _Use:
    counts = type(left).model_fields.keys() - {"model", "usd"}
    usd = None if left.usd is None or right.usd is None else left.usd + right.usd
    return left.model_copy(
        update={"usd": usd, **{name: getattr(left, name) + getattr(right, name) for name in counts}}
    )
