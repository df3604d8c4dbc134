"""Size limits for the stored texts of runs: a longer text is cut in the middle and marked as cut."""

import re
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import canonical_json, texts_in
from agentmut.nouns import AgentTrace, Execution, Step

MARGIN = 4_096
"""Characters beside a cut in which secrets are looked for, though they are not kept: a PEM key has 3,300."""
_ROUGHLY = "rough"
_ROUGH_CUT = re.compile(r"\[\.\.\. (\d{1,15}) characters are not kept: store\.max_rough \.\.\.\]")
_SHORTEST = 200
"""Characters of a text that is never cut, unless nothing may be kept at all."""


class SizeLimits(NamedTuple):
    """The size limits in characters: for one text, for the texts of one trial, and for the texts of a run."""

    text: int = 1_000_000
    trial: int = 4_000_000
    run: int = 2_000_000_000

    def execution(self, execution: Execution, kept: int = 0, size: int | None = None) -> Execution:
        """Return an execution within the limits; `kept` is how many characters the run has kept so far.

        `size` is how many characters the texts had before `roughly` cut them.
        """
        trace = execution.trace
        size = trace.characters if size is None else size
        if not self._exceeded(size, kept):
            return execution
        most, which = self._longest(trace, kept, size)
        short = _cut_trace(trace, most, which)
        if short == trace:
            return execution
        cut = short.model_copy(update={"texts_cut": max(1, size - short.characters)})
        return execution.model_copy(
            update={"trace": cut, "reason": _cut(execution.reason, max(most, 1000), "text")}
        )

    def roughly(self, execution: Execution, kept: int = 0) -> Execution:
        """Return an execution whose long texts are cut, with `MARGIN` more at each side of a cut than is kept.

        Secrets are looked for in this one: time is then bounded, and a secret that the cut divides is seen whole.
        """
        trace = execution.trace
        size = trace.characters
        if not self._exceeded(size, kept):
            return execution
        most, _ = self._longest(trace, kept, size)
        reason = _cut(execution.reason, max(most, 1000) + 2 * MARGIN, _ROUGHLY)
        return execution.model_copy(
            update={"trace": _cut_trace(trace, most + 2 * MARGIN, _ROUGHLY), "reason": reason}
        )

    def _exceeded(self, size: int, kept: int) -> bool:
        return size > self.text or size > self.trial or kept + size > self.run

    def _longest(self, trace: AgentTrace, kept: int, size: int) -> tuple[int, str]:
        """Return how many characters of a text may be kept, and the limit that says so."""
        if kept + size > self.run:
            return 0, "run"
        most, which = self.text, "text"
        while most > _SHORTEST and _cut_trace(trace, most, which).characters > self.trial:
            most, which = max(_SHORTEST, most // 2), "trial"
        return most, which


def cut_reason(reason: str) -> str:
    """Return the reason of a judgement, which may quote a whole answer, in at most some 10,000 characters."""
    return _cut(reason, 10_000, "text")


def _cut_trace(trace: AgentTrace, most: int, which: str) -> AgentTrace:
    return trace.model_copy(
        update={
            "steps": tuple(_cut_step(step, most, which) for step in trace.steps),
            "outputs": tuple(_cut_value(value, most, which) for value in trace.outputs),
            "error": None if trace.error is None else _cut(trace.error, most, which),
            "stderr": _cut(trace.stderr, most, which),
            "workspace": trace.workspace and trace.workspace.with_texts(lambda text: _cut(text, most, which)),
        }
    )


def _cut_step(step: Step, most: int, which: str) -> Step:
    given = step.arguments and {
        name: _cut_value(value, most, which) for name, value in step.arguments.items()
    }
    return step.model_copy(
        update={
            "arguments": given,
            "output": _cut_value(step.output, most, which),
            "error": None if step.error is None else _cut(step.error, most, which),
        }
    )


def _cut_value(value: JsonValue, most: int, which: str) -> JsonValue:
    """Return a value; a value that is too long as a whole becomes the cut text of its JSON."""
    if isinstance(value, str):
        return _cut(value, most, which)
    if not isinstance(value, dict | list) or sum(map(len, texts_in(value))) <= max(most, _SHORTEST // 2):
        return value
    return _cut(canonical_json(value), most, which)


def _cut(text: str, most: int, which: str) -> str:
    rough = _ROUGH_CUT.search(text) if which != _ROUGHLY else None
    if len(text) <= max(most, _SHORTEST // 2) and not rough:
        return text
    head, tail, hidden = most // 2, len(text) - most // 2, 0
    if rough:  # what stands beside it may be a piece of a secret
        head, tail = min(head, max(0, rough.start() - MARGIN)), max(tail, rough.end() + MARGIN)
        hidden = int(rough[1]) - len(rough[0])
    said = f"{max(0, min(tail, len(text)) - head + hidden):,}" if which != _ROUGHLY else str(tail - head)
    return f"{text[:head]}[... {said} characters are not kept: store.max_{which} ...]{text[tail:]}"
