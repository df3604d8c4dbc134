"""Logs of inspect_ai, `.eval` and `.json`, by inspect_ai's own reader."""

import importlib.util
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agentmut._base import UsageError, jsonable, one_line
from agentmut.nouns import (
    AgentConfig,
    BrokenRecord,
    ForeignTrial,
    ModelConfig,
    RecordedScore,
    RecordPlace,
    Role,
    ToolSpec,
    Usage,
    read_tool,
)
from agentmut.seams import TraceFile
from agentmut.trace_formats.conversation import (
    Call,
    ConversationMessage,
    conversation_trace,
    prompt_of,
    turns_of,
)

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent, ToolEvent
    from inspect_ai.log import EvalLog, EvalSample

_LARGEST, _LARGE = 2**30, 2**26
"""Bytes of a member of an archive that are never read, and those that are read where they pack as a log does."""
_MOST_PACKED = 200
"""How many times smaller a large member may have become: a real log, 5 to 40 times."""
_CORRECT = {"C": True, "I": False}
"""What scorers of inspect_ai write for correct and incorrect."""


class InspectLog:
    """A trial is an epoch of a sample; its scenario is the sample, by its id."""

    name: ClassVar[str] = "inspect"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file is a log of inspect_ai: an archive with its first member, or JSON."""
        if head.startswith(b"PK"):
            return b"_journal/" in head or b"samples/" in head or b"header.json" in head
        return all(key in head for key in (b'"eval"', b'"run_id"', b'"task_id"', b'"status"'))

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the samples, one at a time in memory."""
        for file in files:
            place = RecordPlace(file=file.shown)
            if importlib.util.find_spec("inspect_ai") is None:
                yield BrokenRecord(
                    place=place,
                    reason="a log of inspect_ai takes inspect_ai. Run: pip install 'agentmut[inspect]'",
                )
                continue
            try:
                yield from _samples(file, place)
            except Exception as error:  # inspect_ai raises of many kinds for a damaged log
                yield BrokenRecord(place=place, reason=f"inspect_ai cannot read it: {one_line(error)}")


def refuse_bomb(path: Path) -> None:
    """Raise `ValueError` for an archive with a member that would fill the memory: its size, or how well it packs.

    A member cannot be larger than it says: `zipfile` stops there.
    """
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            packed_well = member.file_size > _MOST_PACKED * max(1, member.compress_size)
            if member.file_size > _LARGEST or (member.file_size > _LARGE and packed_well):
                raise ValueError(f"{member.filename!r} in it would be {member.file_size >> 20} MiB")


def _samples(file: TraceFile, place: RecordPlace) -> Iterator[ForeignTrial]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    refuse_bomb(file.path)
    header = read_eval_log(file.path, header_only=True)
    for sample in read_eval_log_samples(file.path, all_samples_required=False, resolve_attachments=True):
        yield _trial(sample, header, place)


def _trial(sample: "EvalSample", header: "EvalLog", place: RecordPlace) -> ForeignTrial:
    asked = {
        event.output.choices[0].message.id: event
        for event in sample.events
        if event.event == "model" and event.output.choices
    }
    called = {event.id: event for event in sample.events if event.event == "tool"}
    said = [
        _message_of(message, asked.get(message.id), called.get(str(getattr(message, "tool_call_id", ""))))
        for message in sample.messages
    ]
    turns = turns_of(said) or (jsonable(sample.input),)
    return ForeignTrial(
        scenario=str(sample.id),
        turns=turns,
        trace=conversation_trace(said, sample.working_time or sample.total_time or 0.0),
        place=place,
        config=_config(header, said, list(asked.values())),
        scores={name: _score(score) for name, score in (sample.scores or {}).items()},
        fields={
            "epoch": sample.epoch,
            "task": header.eval.task,
            "model": header.eval.model,
            "run_id": header.eval.run_id,
            "metadata": jsonable(sample.metadata),
        },
        no_evidence=_why_no_evidence(sample),
    )


def _message_of(message: Any, event: "ModelEvent | None", call: "ToolEvent | None") -> ConversationMessage:
    used = event.output.usage if event else None
    timed = call or event
    error = getattr(message, "error", None)
    calls = getattr(message, "tool_calls", None) or ()
    return ConversationMessage(
        Role(message.role),
        message.text,
        tuple(Call(call.function, call.arguments, call.id) for call in calls),
        call_id=getattr(message, "tool_call_id", None),
        error=error.message if error else None,
        model=getattr(message, "model", None),
        usage=Usage(input_tokens=used.input_tokens, output_tokens=used.output_tokens) if used else Usage(),
        usd=getattr(used, "total_cost", None),
        started=timed.working_start if timed else 0.0,
        seconds=(timed.working_time or 0.0) if timed else 0.0,
    )


def _config(
    header: "EvalLog", messages: Sequence[ConversationMessage], events: "Sequence[ModelEvent]"
) -> AgentConfig:
    settings = header.eval.model_generate_config
    return AgentConfig(
        prompt=prompt_of(messages),
        tools=tuple(_tools(events[0].tools)) if events else (),
        model=ModelConfig(
            name=header.eval.model.partition("/")[2] or header.eval.model,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        ),
    )


def _tools(found: Sequence[Any]) -> Iterator[ToolSpec]:
    for tool in found:
        schema = tool.parameters.model_dump(mode="json", exclude_none=True)
        try:
            yield read_tool({"name": tool.name, "description": tool.description, "parameters": schema})
        except UsageError:
            continue


def _score(score: Any) -> RecordedScore:
    value = _CORRECT.get(score.value, score.value) if isinstance(score.value, str) else score.value
    if not isinstance(value, bool | int | float):
        return RecordedScore(value=False, reason=f"the score is {value!r}, which is no number")
    return RecordedScore(
        value=value if isinstance(value, bool) else float(value), reason=score.explanation or ""
    )


def _why_no_evidence(sample: "EvalSample") -> str:
    if sample.invalidation is not None:
        return "the sample was invalidated"
    return f"the sample ended with an error: {sample.error.message}" if sample.error else ""
