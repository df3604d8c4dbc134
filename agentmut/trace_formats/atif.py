"""ATIF, the Agent Trajectory Interchange Format of Harbor and Terminal-Bench, versions 1.0 to 1.8 (Harbor's RFC 0001).

A trajectory holds no outcome: Harbor writes that beside it, into the trial's `result.json` or `verifier/reward.txt`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from agentmut._base import UsageError, jsonable
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    BrokenRecord,
    ForeignTrial,
    ModelConfig,
    RecordedScore,
    Role,
    ToolSpec,
    Usage,
    read_tool,
)
from agentmut.seams import TraceFile
from agentmut.trace_formats.atif_export import with_exported_parts
from agentmut.trace_formats.atif_subagents import with_subagents
from agentmut.trace_formats.benchmark_fields import read_each, seconds_of
from agentmut.trace_formats.conversation import (
    Call,
    ConversationMessage,
    conversation_trace,
    prompt_of,
    turns_of,
)
from agentmut.trace_formats.otlp.own_export import own_scores
from agentmut.trace_formats.records import Record, records

_VERSION = b'"ATIF-v1.'
_OURS = {"trial", "run", "scenario", "repeat", "ending"}
"""What `extra` has in every trajectory that `agentmut export` wrote."""
_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "agent": Role.ASSISTANT}


class Atif:
    """A trial is a trajectory; its scenario is the task of the result beside it, else what the user says first."""

    name: ClassVar[str] = "atif"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file names a version of the format."""
        return _VERSION in head

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the trajectories in the order in which the files have them."""
        for file in files:
            beside = _result_beside(file.path)
            for record in records(file):
                yield from read_each(record, partial(_trial, beside=beside))


def _trial(record: Record, beside: Mapping[str, Any]) -> ForeignTrial:
    run = record.value
    if not str(run["schema_version"]).startswith("ATIF-v1."):
        raise ValueError(f"its version {run['schema_version']} is none of ATIF-v1.0 to 1.8")
    agent = run["agent"]
    steps = _own_steps(run)
    ours = _of_our_export(run)
    times = [at for step in steps if (at := seconds_of(step.get("timestamp"))) is not None]
    began = times[0] if times else None
    said = [one for step in steps for one in _messages_of_step(step, began, agent)]
    turns = turns_of(said) or ("",)
    found = ForeignTrial(
        scenario=str(beside.get("task_name") or ours.get("agentmut.scenario") or turns[0]),
        turns=turns,
        trace=with_subagents(
            conversation_trace(said, times[-1] - times[0] if times else 0.0),
            run,
            partial(_trace, began=began),
        ),
        place=record.place,
        config=AgentConfig(
            prompt=prompt_of(said),
            tools=tuple(_tools(agent.get("tool_definitions") or ())),
            model=ModelConfig(name=agent.get("model_name") or ""),
        ),
        scores=dict(_scores(beside)) or own_scores(ours),
        fields={
            "session_id": run.get("session_id"),
            "agent": jsonable({name: agent.get(name) for name in ("name", "version", "model_name")}),
            "task_name": beside.get("task_name"),
            **ours,
        },
        started=began,
    )
    return (
        with_exported_parts(found, run, [step for step in steps if step["source"] == "agent"])
        if ours
        else found
    )


def _of_our_export(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `agentmut export` wrote about a run, under its OTLP names; empty for files of other tools."""
    told = run.get("extra")
    if not isinstance(told, Mapping) or not told.keys() >= _OURS:
        return {}
    mutant = (run["agent"].get("extra") or {}).get("mutant")
    found = {name: told.get(name) for name in (*sorted(_OURS), "outcome", "reason")} | {"mutant": mutant}
    return {f"agentmut.{name}": jsonable(value) for name, value in found.items() if value is not None}


def _own_steps(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [step for step in run["steps"] if not step.get("is_copied_context")]


def _trace(run: Mapping[str, Any], began: float | None) -> AgentTrace:
    """Return the trace of a sub-agent, with its times relative to the run that started it."""
    return conversation_trace(
        [one for step in _own_steps(run) for one in _messages_of_step(step, began, run["agent"])]
    )


def _messages_of_step(
    step: Mapping[str, Any], began: float | None, agent: Mapping[str, Any]
) -> Iterator[ConversationMessage]:
    at = seconds_of(step.get("timestamp"))
    started = max(at - began, 0.0) if at is not None and began is not None else 0.0
    used = step.get("metrics") or {}
    role = _ROLES[str(step["source"])]
    calls = [
        Call(str(call["function_name"]), call.get("arguments"), call.get("tool_call_id"))
        for call in step.get("tool_calls") or ()
    ]
    if step.get("llm_call_count") == 0 and not calls:  # what the agent's program says without asking a model
        return
    yield ConversationMessage(
        role,
        _text(step.get("message")),
        tuple(calls),
        model=(step.get("model_name") or agent.get("model_name")) if role is Role.ASSISTANT else None,
        usage=Usage(
            input_tokens=int(used.get("prompt_tokens") or 0),
            output_tokens=int(used.get("completion_tokens") or 0),
        ),
        usd=used.get("cost_usd"),
        started=started,
    )
    for result in (step.get("observation") or {}).get("results") or ():
        if calls:
            yield ConversationMessage(
                Role.TOOL, _text(result.get("content")), call_id=result.get("source_call_id"), started=started
            )


def _text(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)


def _tools(definitions: Sequence[Any]) -> Iterator[ToolSpec]:
    for one in definitions:
        try:
            yield read_tool(one)
        except UsageError:
            continue


def _result_beside(trajectory: Path) -> Mapping[str, Any]:
    """Return the result of the trial whose folder, or whose subfolder `agent`, holds the trajectory."""
    for folder in (trajectory.parent, trajectory.parent.parent):
        found: Any = {}
        with suppress(OSError, ValueError):
            found = json.loads((folder / "result.json").read_text("utf-8"))
        with suppress(OSError, ValueError, AttributeError):
            reward = float((folder / "verifier" / "reward.txt").read_text("utf-8"))
            found.setdefault("verifier_result", {"rewards": {"reward": reward}})
        if found and isinstance(found, dict):
            return found
    return {}


def _scores(beside: Mapping[str, Any]) -> Iterator[tuple[str, RecordedScore]]:
    """Yield the rewards of the verifier as scores; 1 means yes and 0 means no."""
    for name, value in ((beside.get("verifier_result") or {}).get("rewards") or {}).items():
        number = float(value)
        yield (
            name,
            RecordedScore(value=bool(number) if number in (0, 1) else number, reason=f"{name} is {number:g}"),
        )
