"""A replay of a recorded trial, for a terminal."""

from collections.abc import Iterator

from agentmut.campaign import Replay
from agentmut.nouns import Action, Cassette, Step
from agentmut.report.paint import clean

WIDTH = 100
"""Characters of an output that are shown."""


def render_replay(cassette: Cassette, shown: Replay) -> str:
    """Return what the agent did, step by step, and how it is judged today."""
    return "".join(f"{clean(line)}\n" for line in _lines(cassette, shown))


def _lines(cassette: Cassette, shown: Replay) -> Iterator[str]:
    mutant, result = cassette.mutant, shown.result
    about = f"mutant {mutant.id} ({mutant.operator}: {mutant.description})" if mutant else "the original"
    yield f"{cassette.scenario} #{cassette.repeat}, {about}: replayed from {len(cassette.takes)} requests"
    for step in shown.execution.trace.steps:
        yield f"  {_step(step)}"
    for check in result.checks:
        yield f"  {'ok  ' if check.passed else 'FAIL'} {check.evaluator}: {check.reason}"
    yield f"{result.outcome.value}{': ' + result.reason if result.reason else ''}"
    if shown.problem:
        yield f"Not the same run: {shown.problem}."
    if shown.unused:
        why = "the run ended before" if shown.execution.trace.error else "the agent has changed since"
        yield f"{shown.unused} of the recorded requests were not made this time: {why}."


def _step(step: Step) -> str:
    said = str(step.error or ("" if step.output is None else step.output))
    shown = " ".join(said.split())[:WIDTH]
    if step.action is Action.CALL_TOOL:
        arguments = ", ".join(f"{name}={value!r}" for name, value in (step.arguments or {}).items())
        return f"{step.tool}({arguments}) -> {shown}"
    return f"{step.action.value}: {shown or '(no text)'}"
