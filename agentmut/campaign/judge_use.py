"""The sum of what model judges and the hooks of scenarios used, by model."""

from collections.abc import Iterable

from agentmut.nouns import HookUse, JudgeUse, Step


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


def merged(uses: Iterable[JudgeUse]) -> tuple[JudgeUse, ...]:
    """Return one use for each model, in the order of appearance; a model's cost is unknown if any part of it is."""
    found: dict[str, JudgeUse] = {}
    for use in uses:
        found[use.model] = _sum(found[use.model], use) if use.model in found else use
    return tuple(found.values())


def _sum(one: JudgeUse, other: JudgeUse) -> JudgeUse:
    return JudgeUse(
        model=one.model,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        usd=None if one.usd is None or other.usd is None else one.usd + other.usd,
        questions=one.questions + other.questions,
        reused=one.reused + other.reused,
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


def merged_hooks(uses: Iterable[HookUse]) -> tuple[HookUse, ...]:
    """Return one use for each model, in the order of appearance; a model's cost is unknown if any part of it is."""
    found: dict[str, HookUse] = {}
    for use in uses:
        found[use.model] = _sum_of_hooks(found[use.model], use) if use.model in found else use
    return tuple(found.values())


def _sum_of_hooks(one: HookUse, other: HookUse) -> HookUse:
    return HookUse(
        model=one.model,
        requests=one.requests + other.requests,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        usd=None if one.usd is None or other.usd is None else one.usd + other.usd,
    )
