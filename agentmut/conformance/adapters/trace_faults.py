"""Compare a run's trace with what was seen on the wire, and yield what is missing or wrong. Pure."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from agentmut._base import canonical_json, jsonable
from agentmut.conformance.adapters.observed_runs import ObservedRun, Subject
from agentmut.nouns import ANSWER, Action, AgentTrace, Ending, Role, Step, ToolCall, Usage

SLACK = 0.05
"""Seconds by which two clocks may differ."""


def run_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield a fault if the agent does not answer, or does not call the expected tools."""
    found = base.execution
    if found.ending is not Ending.ANSWERED:
        yield f"the agent did not answer: {found.ending} ({found.reason or 'no reason given'})"
        return
    called = set(_calls(base).values()) | set(found.trace.tools_called)
    names = {getattr(call, "name", call) for call in called}
    for tool in subject.expect_tools:
        if tool not in names:
            yield f"the agent did not call {tool!r}; it called {', '.join(sorted(map(str, names))) or 'nothing'}"


def step_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield model calls, tool calls and turns without a step of their own."""
    trace = base.execution.trace
    reasons = [step for step in trace.steps if step.action is Action.REASON and step.error is None]
    if base.exchanges and len(reasons) != len(base.exchanges):
        yield (
            f"there are {len(reasons)} reason steps for {len(base.exchanges)} model calls; what the wire saw becomes "
            "steps with `trial.recorder.steps += agentmut.wire.steps.steps_from_exchanges(trial.recorder.exchanges, "
            "with_tools=True)`, and the trace takes `steps=trial.recorder.timeline()`"
        )
    made = Counter(call.name for call in _calls(base).values())
    known = Counter(trace.tools_called)
    asked = Counter(call.name for one in base.exchanges if one.reply for call in one.reply.tool_calls)
    by_request = any(one.request.tools for one in base.exchanges)  # else it calls them in code, as text
    for tool in sorted(made.keys() | (known.keys() if by_request else set())):
        # a run may end with calls whose results no model is told of
        if not made[tool] <= known[tool] <= max(made[tool], asked[tool]):
            yield (
                f"there are {known[tool]} steps of the tool {tool!r} for {made[tool]} calls; each call that the agent "
                "carries out is a step: `trial.recorder.steps.append(agentmut.recording.call_tool_step(...))`"
            )
    ids = [step.call_id for step in trace.tool_calls if step.call_id]
    if len(set(ids)) < len(ids):
        yield "two steps of tools have one call id"


def answer_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield turns that have not one answer each, in the outputs of the trace and in its steps."""
    trace = base.execution.trace
    answers = [step for step in trace.steps if step.action is Action.RESPOND]
    turns = {len(subject.turns), 1}  # a plain function is given all turns in one call
    if len(trace.outputs) not in turns:
        yield f"there are {len(trace.outputs)} outputs for {len(subject.turns)} turns"
    if len(answers) not in turns:
        yield f"there are {len(answers)} respond steps for {len(subject.turns)} turns"
    elif trace.outputs and answers[-1].output != trace.output:
        yield "the last respond step says something else than the trace's output"


def argument_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield calls whose arguments differ from those of the model; defaults of the function may be added."""
    for call in _calls(base).values():
        wanted = _parsed(call.arguments)
        steps = [step for step in base.execution.trace.tool_calls if step.tool == call.name]
        if steps and isinstance(wanted, dict) and not any(_has_arguments(step, wanted) for step in steps):
            given = [step.arguments for step in steps]
            yield f"a call of {call.name!r} had the arguments {wanted!r:.200}; its steps say {given!r:.200}"


def output_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield calls whose result in the trace is not the one that the model was given."""
    results = _results(base)
    for call_id, call in _calls(base).items():
        steps = [step for step in base.execution.trace.tool_calls if step.tool == call.name]
        if call_id in results and steps and not any(_says(step, results[call_id]) for step in steps):
            given = [step.output for step in steps]
            yield f"a call of {call.name!r} was answered {results[call_id]!r:.200}; its steps say {given!r:.200}"


def usage_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield a fault if the tokens or the model's name are not those that the service reported."""
    replies = [one.reply for one in base.exchanges]
    trace = base.execution.trace
    reported = sum((reply.usage for reply in replies if reply), Usage())
    if all(replies) and replies and trace.usage != reported:
        yield f"the service reported {_usage_text(reported)}, the trace has {_usage_text(trace.usage)}"
    if any(step.action is Action.REASON and not step.error and not step.model for step in trace.steps):
        yield "a reason step does not say which model answered"


def duration_faults(subject: Subject, base: ObservedRun) -> Iterator[str]:
    """Yield impossible times: outside of the run, or no time at all for a model call."""
    trace = base.execution.trace
    yield from _whole_faults(trace, base.wall + base.recorder.late)
    for step in trace.steps:
        what = step.tool or step.action
        if step.started < 0 or step.seconds < 0:
            yield f"a step ({what}) began or lasted less than nothing"
        elif step.started + step.seconds > base.wall + base.recorder.late + SLACK:
            yield f"a step ({what}) ended after the run: {step.started + step.seconds:.3f} s"
    if base.exchanges and any(
        s.action is Action.REASON and not s.error and not s.seconds for s in trace.steps
    ):
        yield "a reason step took no time at all"


def _whole_faults(trace: AgentTrace, wall: float) -> Iterator[str]:
    if trace.seconds <= 0:
        yield "the trace does not say how long the run took"
    elif trace.seconds > wall + SLACK:
        yield f"the trace says that the run took {trace.seconds:.3f} s; it took {wall:.3f} s"


def _calls(base: ObservedRun) -> dict[str, ToolCall]:
    """Return the calls that were carried out, by id: those whose results went back to the model."""
    asked = [call for one in base.exchanges for m in one.request.messages for call in m.tool_calls]
    asked += [call for one in base.exchanges if one.reply for call in one.reply.tool_calls]
    results = _results(base)
    return {call.id: call for call in asked if call.id in results}


def _results(base: ObservedRun) -> dict[str, str]:
    messages = (message for one in base.exchanges for message in one.request.messages)
    given = {m.tool_call_id: m.text for m in messages if m.role is Role.TOOL and m.tool_call_id}
    return given or _results_in_words(base)


def _results_in_words(base: ObservedRun) -> dict[str, str]:
    """Return the message after each call id, for agents that report calls in plain messages."""
    replies = (one.reply for one in base.exchanges if one.reply)
    ids = [call.id for reply in replies for call in reply.tool_calls if call.name != ANSWER]
    pairs = (pair for one in base.exchanges for pair in pairwise(one.request.messages))
    return {
        call_id: after.text
        for before, after in pairs
        for call_id in ids
        if before.role is Role.ASSISTANT and f"'{call_id}'" in before.text
    }


def _has_arguments(step: Step, wanted: dict[str, Any]) -> bool:
    given = step.arguments or {}
    return all(name in given and given[name] == jsonable(value) for name, value in wanted.items())


def _says(step: Step, text: str) -> bool:
    """Return whether a step's output, or its error, is what the model was told, in whatever form."""
    if step.error is not None:
        return True
    output = step.output
    same = _parsed(text) == output or text == output
    return same or (output is not None and (canonical_json(output) in text or str(output) in text))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _usage_text(usage: Usage) -> str:
    return f"{usage.input_tokens} tokens in and {usage.output_tokens} out"
