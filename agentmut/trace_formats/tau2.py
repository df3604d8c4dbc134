"""tau2-bench: one document with `info`, `tasks` and `simulations`; see github.com/sierra-research/tau2-bench."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from agentmut._base import jsonable
from agentmut.nouns import AgentConfig, BrokenRecord, ForeignTrial, ModelConfig, Role, Usage
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import not_negative, read_each, seconds_of, success
from agentmut.trace_formats.conversation import Call, ConversationMessage, conversation_trace, turns_of
from agentmut.trace_formats.records import Record, records

_KEYS = (b'"info"', b'"environment_info"')
_SAYS_NOTHING = ("infrastructure_error", "unexpected_error")
_SIGNALS = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})
"""What a simulated user says to the benchmark, and not to the agent."""


class Tau2:
    """A trial is a simulation; a scenario is a task, as `task_0`. The user's own calls are not the agent's."""

    name: ClassVar[str] = "tau2"

    def recognises(self, head: bytes) -> bool:
        """Return whether the file begins with the description of a run's environment."""
        return all(key in head for key in _KEYS)

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the simulations in the order in which the files have them."""
        for file in files:
            for record in records(file):
                yield from [record] if isinstance(record, BrokenRecord) else _simulations(record)


def _simulations(record: Record) -> Iterator[ForeignTrial | BrokenRecord]:
    try:
        info, runs = record.value["info"], list(record.value["simulations"])
    except (LookupError, TypeError) as error:
        yield BrokenRecord(place=record.place, reason=f"it is no run of tau2: it has no {error}")
        return
    for run in runs:
        yield from read_each(Record(run, record.place), partial(_trial, info=info))


def _trial(record: Record, info: Mapping[str, Any]) -> ForeignTrial:
    run, agent = record.value, info.get("agent_info") or {}
    began = seconds_of(run.get("start_time"))
    said = list(_messages_of(run["messages"], began, agent.get("llm")))
    reward = (run.get("reward_info") or {}).get("reward")
    ended = str(run.get("termination_reason") or "")
    settings = agent.get("llm_args") or {}
    policy = run.get("policy") or (info.get("environment_info") or {}).get("policy") or ""
    return ForeignTrial(
        scenario=f"task_{run['task_id']}",
        turns=turns_of(said) or ("",),
        trace=conversation_trace(said, not_negative("duration", run.get("duration") or 0)),
        place=record.place,
        config=AgentConfig(
            prompt=policy,
            model=ModelConfig(name=agent.get("llm") or "", temperature=settings.get("temperature")),
        ),
        scores={} if reward is None else {"reward": success(float(reward))},
        fields={name: jsonable(value) for name, value in run.items() if name not in ("messages", "policy")},
        started=began,
        no_evidence=f"it ended by {ended}" if ended.endswith(_SAYS_NOTHING) else "",
    )


def _messages_of(
    messages: Sequence[Mapping[str, Any]], began: float | None, model: str | None
) -> Iterator[ConversationMessage]:
    for message in messages:
        role = Role(message["role"])
        if role is Role.TOOL:
            yield from (
                _result(one, began) for one in message.get("tool_messages") or [message] if _is_agents(one)
            )
        elif role is Role.ASSISTANT:
            yield _reply(message, began, model)
        elif message.get("content") and str(message["content"]).strip() not in _SIGNALS:
            yield ConversationMessage(role, message["content"], started=_since(message, began))


def _reply(message: Mapping[str, Any], began: float | None, model: str | None) -> ConversationMessage:
    used = message.get("usage") or {}
    return ConversationMessage(
        Role.ASSISTANT,
        message.get("content"),
        tuple(
            Call(str(call["name"]), call.get("arguments"), call.get("id"))
            for call in message.get("tool_calls") or ()
            if _is_agents(call)
        ),
        model=model,
        usage=Usage(
            input_tokens=int(used.get("prompt_tokens") or 0),
            output_tokens=int(used.get("completion_tokens") or 0),
        ),
        usd=message.get("cost"),
        started=_since(message, began),
        seconds=float(message.get("generation_time_seconds") or 0),
    )


def _result(message: Mapping[str, Any], began: float | None) -> ConversationMessage:
    content = message.get("content")
    error = str(content) if message.get("error") else None
    return ConversationMessage(
        Role.TOOL, content, call_id=message.get("id"), error=error, started=_since(message, began)
    )


def _is_agents(message: Mapping[str, Any]) -> bool:
    return bool(message.get("requestor", "assistant") != "user")


def _since(message: Mapping[str, Any], began: float | None) -> float:
    at = seconds_of(message.get("timestamp"))
    return max(at - began, 0.0) if at is not None and began is not None else 0.0
