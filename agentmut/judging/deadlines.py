"""The deadline of evaluators that run code of users, wherever they are asked outside of a campaign's loop."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agentmut._base import EvaluatorError, gone_again
from agentmut.judging.building import KEPT, NamedEvaluator, runs_users_code
from agentmut.nouns import AgentTrace, Check, Scenario
from agentmut.recording import (
    AgentExitError,
    BoundedCalls,
    ForkedWorkerEndedError,
    OverdueError,
    why_not_forked,
)
from agentmut.recording import runs_users_code as is_bounded
from agentmut.seams import Evaluator


def judges_apart(wanted: str) -> bool:
    """Return whether evaluators of users run in a process of their own, for `execution.isolate_evaluators`.

    In a command's second process all do, where they can: code of users has stopped or ended the first.
    """
    needed = wanted == "auto" or gone_again() is not None
    return hasattr(os, "fork") and (wanted == "process" or (needed and not why_not_forked()))


def bounded_calls(wanted: str, seconds: float) -> BoundedCalls:
    """Return what calls evaluators with a deadline of `seconds`; `wanted` is `execution.isolate_evaluators`."""
    return BoundedCalls(seconds, apart=partial(judges_apart, wanted))


@dataclass(frozen=True)
class _BoundedEvaluator(NamedEvaluator):
    """An evaluator whose calls have a deadline. One that is asked beside a deadline already is asked directly."""

    seconds: float = field(kw_only=True)
    evaluate_in_time: Callable[..., Any] = field(kw_only=True)
    """Calls `evaluate` in time."""
    every_check_in_time: Callable[..., Any] = field(kw_only=True)
    """Calls `every_check` in time."""

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Return the evaluator's check. Raise `EvaluatorError`, past the deadline too, or `NotJudgedError`."""
        if is_bounded():
            return super().evaluate(scenario, trace)
        check: Check = self._in_time(self.evaluate_in_time, scenario, trace)
        return check

    def every_check(self, scenario: Scenario, trace: AgentTrace) -> tuple[Check, ...]:
        """Return all checks. Raises like `evaluate`."""
        if is_bounded():
            return super().every_check(scenario, trace)
        checks: tuple[Check, ...] = self._in_time(self.every_check_in_time, scenario, trace)
        return checks

    def _in_time(self, ask: Callable[..., Any], scenario: Scenario, trace: AgentTrace) -> Any:
        where = self._where(scenario)
        try:
            return ask(scenario, trace)
        except OverdueError as error:
            place = str(error) or "an unknown place"
            problem = bare = f"{where} took more than {self.seconds:g} s on one run; it was at {place}."
            remedy = f"Make it faster, or raise execution.evaluator_timeout. {KEPT}"
        except AgentExitError as error:
            problem, bare = f"{where} ended with {error}.", f"{where} ended with {error.bare}."
            remedy = f"Fix the evaluator. {KEPT}"
        except ForkedWorkerEndedError as error:
            problem = bare = f"{where} ended {error}."
            remedy = f"Fix the evaluator. {KEPT}"
        raise EvaluatorError(f"{problem} {remedy}", f"{bare} {remedy}")


def bounded(evaluator: Evaluator, calls: BoundedCalls) -> Evaluator:
    """Return an evaluator whose calls have a deadline, made by `calls`; itself if it runs no code of users."""
    if not isinstance(evaluator, NamedEvaluator) or not runs_users_code(evaluator):
        return evaluator
    return _BoundedEvaluator(
        evaluator.name,
        evaluator.evaluator,
        evaluator.place,
        seconds=calls.seconds,
        evaluate_in_time=calls.add(evaluator.evaluate),
        every_check_in_time=calls.add(evaluator.every_check),
    )
