"""What `check_evaluator` looks at."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from agentmut._base import AgentmutError, one_line
from agentmut.conformance.relations.relation_samples import TRACES
from agentmut.nouns import AgentTrace, Check, EvaluatorSpec, Scenario
from agentmut.seams import GivesChecks, attribute_faults

_SCENARIO = Scenario(
    name="sample", turns=("Where is my order ORD-1042?",), evaluators=(EvaluatorSpec(name="expect"),)
)


def evaluator_faults(
    evaluator: type[Any], arguments: Sequence[JsonValue], refused: Sequence[JsonValue]
) -> Iterator[str]:
    """Yield everything that is wrong with an evaluator's class, one phrase a fault."""
    for argument in refused:
        yield from _refusal_faults(evaluator, argument)
    for argument in arguments:
        try:
            built = evaluator(argument)
        except Exception as error:
            yield f"with the argument {argument!r} it refused to be built: {one_line(error)}"
            continue
        yield from attribute_faults(built)
        for name, trace in TRACES.items():
            yield from _verdict_faults(built, trace, f"with the argument {argument!r}, on a run with {name}")


def _refusal_faults(evaluator: type[Any], argument: JsonValue) -> Iterator[str]:
    try:
        evaluator(argument)
    except ValueError as error:
        if not str(error).strip():
            yield f"it refused {argument!r} without saying what it expects"
    except Exception as error:
        yield f"it refused {argument!r} by {type(error).__name__}; expected ValueError with what it expects"
    else:
        yield f"it took the argument {argument!r}; expected ValueError"


def _verdict_faults(built: Any, trace: AgentTrace, where: str) -> Iterator[str]:
    before = trace.model_copy(deep=True)
    try:
        first, again = _checks(built, trace), _checks(built, trace)
    except AgentmutError:  # an error for users: this run cannot be judged
        return
    except Exception as error:
        yield f"{where}: it raised {type(error).__name__}: {one_line(error)}; it must pass or fail every trace"
        return
    if trace != before:
        yield f"{where}: it changed the trace"
    if first != again:
        yield f"{where}: it judged the same trace twice and differently"
    for check in first:
        if not isinstance(check, Check):
            yield f"{where}: it gave a {type(check).__name__}; expected agentmut.Check"
        elif not check.passed and not check.reason.strip():
            yield f"{where}: it failed the trace without a reason"


def _checks(built: Any, trace: AgentTrace) -> tuple[Any, ...]:
    if isinstance(built, GivesChecks):
        return tuple(built.every_check(_SCENARIO, trace))
    return (built.evaluate(_SCENARIO, trace),)
