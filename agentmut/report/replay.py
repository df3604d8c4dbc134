"""A replayed trial, for reading."""

from agentmut.engine.trials import TrialResult
from agentmut.execution import Execution
from agentmut.report.paint import clean
from agentmut.trace import Action, Step
from agentmut.wire.cassette import Cassette

WIDTH = 100
"""Characters of an output that are shown."""


def render_replay(cassette: Cassette, execution: Execution, result: TrialResult, unused: int) -> str:
    """What the agent did, step by step, and how it is judged today."""
    mutant = cassette.mutant
    about = f"mutant {mutant.id} ({mutant.operator}: {mutant.description})" if mutant else "the original"
    lines = [
        f"{cassette.scenario} #{cassette.repeat}, {about}: replayed from {len(cassette.takes)} recorded requests"
    ]
    lines += [f"  {_step(step)}" for step in execution.trace.steps]
    lines += [
        f"  {'ok  ' if check.passed else 'FAIL'} {check.evaluator}: {check.reason}" for check in result.checks
    ]
    lines.append(f"{result.outcome.value}{': ' + result.reason if result.reason else ''}")
    if unused:
        lines.append(
            f"{unused} of the recorded requests were not made this time: the agent has changed since."
        )
    return "".join(f"{clean(line)}\n" for line in lines)


def _step(step: Step) -> str:
    said = str(step.error or ("" if step.output is None else step.output))
    shown = " ".join(said.split())[:WIDTH]
    if step.action is Action.CALL_TOOL:
        arguments = ", ".join(f"{name}={value!r}" for name, value in (step.arguments or {}).items())
        return f"{step.tool}({arguments}) -> {shown}"
    return f"{step.action.value}: {shown}"
