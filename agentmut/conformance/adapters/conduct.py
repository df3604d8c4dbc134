"""Check how an adapter behaves: runs stay apart, errors are reported, and a cancelled run ends."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.conformance.adapters.observed_runs import ObservedRun, RunRequest, Subject, observe, watched
from agentmut.conformance.adapters.observed_runs import Watch as Watching
from agentmut.nouns import Codec, Ending, EvaluatorSpec, HttpCall, Scenario
from agentmut.recording import HandledReply, OutgoingRequest, TrialOverError
from agentmut.seams import RunsOutside
from agentmut.trial import GRACE, Case, Wiring, attempt
from agentmut.wire import Tap, all_codecs, bodies

MARKS = ("alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
SAID = "agentmut checks what becomes of errors"
NO_MODEL = "agentmut-no-such-model"
HANGS = 0.5
SHORT = 0.25
SLOW = 0.15


def marked(turns: Sequence[JsonValue], mark: str) -> tuple[JsonValue, ...]:
    """Return the turns with a word added to their longest text; the word identifies the run.

    >>> marked(["Hello.", {"role": "user", "say": "Hi there."}], "alfa")
    ('Hello. [alfa]', {'role': 'user', 'say': 'Hi there. [alfa]'})
    """
    return tuple(_marked(turn, mark, max(_texts(turn), key=len, default="")) for turn in turns)


def _marked(value: JsonValue, mark: str, longest: str) -> JsonValue:
    if isinstance(value, dict):
        return {key: _marked(inner, mark, longest) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, mark, longest) for inner in value]
    return f"{value} [{mark}]" if isinstance(value, str) and value == longest else value


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


async def freshness_faults(subject: Subject) -> list[str]:
    """Check that a second run knows nothing of the first."""
    first, second = MARKS[:2]
    [before] = await observe(subject, RunRequest("fresh-1", marked(subject.turns, first)))
    [after] = await observe(subject, RunRequest("fresh-2", marked(subject.turns, second)))
    faults = [f"the second run {where} what only the first was told" for where in _where(after, first)]
    sizes = [len(one.exchanges[0].request.messages) for one in (before, after) if one.exchanges]
    if len(sizes) == 2 and sizes[0] != sizes[1]:
        faults.append(f"the first request of one run has {sizes[0]} messages, of the next {sizes[1]}")
    return faults


async def concurrency_faults(subject: Subject) -> list[str]:
    """Check that concurrent runs stay apart."""
    marks = [MARKS[n % len(MARKS)] + "-" + str(n // len(MARKS)) for n in range(subject.at_once)]
    asked = [RunRequest(f"at-once-{mark}", marked(subject.turns, mark)) for mark in marks]
    faults = []
    for mark, found in zip(marks, await observe(subject, *asked), strict=True):
        if found.execution.ending is not Ending.ANSWERED:
            faults.append(
                f"of {subject.at_once} runs at once, one ended as {found.execution.ending}: {found.execution.reason}"
            )
        others = (other for other in marks if other != mark)
        mixed = [where for other in others for where in _where(found, other)]
        faults += [
            f"of {subject.at_once} runs at once, one {where} what another was told"
            for where in dict.fromkeys(mixed)
        ]
    return list(dict.fromkeys(faults))


def _where(found: ObservedRun, mark: str) -> Iterator[str]:
    sign, trace = f"[{mark}]", found.execution.trace
    requests = (message.text for one in found.recorder.exchanges for message in one.request.messages)
    if any(sign in text for text in requests):
        yield "sent"
    if sign in canonical_json([step.model_dump(mode="json") for step in trace.steps]):
        yield "has in its steps"
    if sign in canonical_json(list(trace.outputs)):
        yield "answered"


async def error_faults(subject: Subject) -> list[str]:
    """Check that the step of a tool has the error that it raised, and that the run reports a refused model request."""
    return [*await _tool_error_faults(subject), *await _refusal_faults(subject)]


async def _tool_error_faults(subject: Subject) -> list[str]:
    tool = subject.doubled
    if tool is None:
        return []

    def fail(*args: Any, **arguments: Any) -> Any:
        raise RuntimeError(SAID)

    [found] = await observe(subject, RunRequest("error", doubles={**subject.doubles, tool: fail}))
    steps = [step for step in found.execution.trace.tool_calls if step.tool == tool]
    if not steps:
        return [f"{tool!r}, which raised, has no step"]
    return (
        []
        if any(SAID in (step.error or "") for step in steps)
        else [f"no step of {tool!r} says what it raised"]
    )


class _Refused:
    """Requests an unknown model, so that the service refuses every request."""

    needs_whole_replies = False
    marks: frozenset[str] = frozenset()

    def request(self, codec: Codec, call: HttpCall) -> OutgoingRequest:
        """Return the request with another model."""
        body = dict(bodies.mapping(bodies.read_json(call.body), "the body"))
        path, changed = codec.with_setting(call, body, "name", NO_MODEL)
        return OutgoingRequest(HttpCall(path, bodies.write_json(changed)))

    def reply(self, codec: Codec, sent: HttpCall, body: bytes) -> HandledReply:
        """Return the argument unchanged."""
        return HandledReply(body)

    def event(self, codec: Codec, sent: HttpCall, value: object) -> object:
        """Return the argument unchanged."""
        return value


async def _refusal_faults(subject: Subject) -> list[str]:
    if isinstance(subject.adapter, RunsOutside):
        return []
    watch = Watching()
    scenario = Scenario(name="refused", turns=subject.turns, evaluators=(EvaluatorSpec(name="expect"),))
    case, wiring = Case(scenario, dict(subject.doubles)), Wiring(_Refused())
    with Tap(all_codecs()).installed():
        found = await attempt(watched(subject.adapter, watch), case, "refused", 0, subject.timeout, wiring)
    [seen] = watch.runs
    recorder = seen.trial.recorder
    if not recorder.exchanges or any(one.answered for one in recorder.exchanges):
        return []  # it makes no request that could be seen, or was answered all the same
    reported = seen.error or found.trace.error or any(step.error for step in found.trace.steps)
    return (
        []
        if reported
        else ["the service refused the request, and the run neither raised nor has it in a step"]
    )


async def double_faults(subject: Subject) -> list[str]:
    """Check that a double answers in the place of its tool, and that the step lasts as long as the double takes."""
    able = subject.adapter.doubled_tools()
    faults = [f"calls of {tool!r} cannot be doubled" for tool in subject.expect_tools if tool not in able]
    tool = subject.doubled
    if tool is None:
        return faults

    def answer(*args: Any, **arguments: Any) -> str:
        time.sleep(SLOW)
        return SAID

    [found] = await observe(subject, RunRequest("double", doubles={**subject.doubles, tool: answer}))
    steps = [step for step in found.execution.trace.tool_calls if step.tool == tool]
    if not any(SAID in str(step.output) for step in steps):
        faults.append(f"the double of {tool!r} did not answer its call")
    elif not any(step.seconds >= SLOW for step in steps):
        faults.append(
            f"a call of {tool!r} took {SLOW} s; its step says {max(s.seconds for s in steps):.3f} s"
        )
    return faults


async def cancellation_faults(subject: Subject) -> list[str]:
    """Check that a cancelled run ends, and does nothing more."""

    async def hang(*args: Any, **arguments: Any) -> str:
        await asyncio.sleep(HANGS)
        return SAID

    tool = subject.doubled
    doubles = {**subject.doubles, tool: hang} if tool else subject.doubles
    short = SHORT if tool else 0.01
    [found] = await observe(subject, RunRequest("cut-off", doubles=doubles), timeout=short)
    if found.execution.ending is Ending.ANSWERED:
        return []  # it was too quick to be cut off
    ended = found.recorder.now()
    await asyncio.sleep(HANGS + 0.2)
    return list(_cut_off_faults(found, ended))


def _cut_off_faults(found: ObservedRun, ended: float) -> Iterator[str]:
    seen = found.seen
    if seen and isinstance(seen.error, GeneratorExit):
        yield f"a run that was cut off went on for {GRACE:g} s, until it was closed: it swallows the cancellation"
    if seen and seen.returned_late:
        yield "a run that was cut off went on and answered: it swallows the cancellation"
    if seen and isinstance(seen.error, TrialOverError):
        yield "a run that was cut off went on to the next model call: it swallows the cancellation"
    if any(exchange.started > ended for exchange in found.recorder.exchanges):
        yield "a run that was cut off made another model request"
