"""Hand-offs of the OpenAI Agents SDK: their targets, and copies with other targets."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from agents import Agent, Handoff, handoff
from pydantic import JsonValue

from agentmut._base import AdapterError, described
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.call_ids import parsed
from agentmut.adapters._shared.sdk_version import named_version
from agentmut.recording import CallPlace, call_place, current_trial

_Invoke = Callable[[Any, str], Awaitable[Any]]


def handoffs_of(agent: Agent[Any]) -> list[Handoff[Any, Any]]:
    """Return all hand-offs as the SDK offers them."""
    return [handoff(one) if isinstance(one, Agent) else one for one in agent.handoffs]


def targets_of(agent: Agent[Any]) -> list[Agent[Any]]:
    """Return the agents that the agent can hand over to. Raise `AdapterError` if only a run could tell."""
    return [_target(one, agent.name) for one in agent.handoffs]


def led_to(handoff: Handoff[Any, Any], target: Agent[Any], source: str) -> Handoff[Any, Any]:
    """Return the same hand-off to `target`, recorded as a step of the trace."""
    invoke: _Invoke = handoff.on_invoke_handoff

    async def carried_out(context: Any, text: str) -> Any:
        trial = current_trial()
        started = trial.recorder.now() if trial else 0.0
        outcome: dict[str, Any] = {"output": target.name}
        try:
            await invoke(context, text)  # what the user has it do besides
        except Exception as error:
            outcome = {"error": described(error)}
            raise
        finally:
            if trial:
                place = CallPlace(call_place().turn, source)._asdict()
                trial.recorder.note_call(handoff.tool_name, arguments(text), started, **outcome, **place)
        return target

    return replace(handoff, on_invoke_handoff=carried_out, agent_name=target.name)


def arguments(text: str) -> dict[str, JsonValue]:
    """Return what a model has written as the arguments of a call; nothing where that is no JSON object."""
    found = parsed(text)
    return found if isinstance(found, dict) else {}


def _target(handoff: Any, source: str) -> Agent[Any]:
    """Return the target of a hand-off, which `handoff()` keeps in a private field."""
    if isinstance(handoff, Agent):
        return handoff
    reference = getattr(handoff, "_agent_ref", None)
    target = reference() if reference is not None else None
    if not isinstance(target, Agent):
        raise AdapterError(
            f"agent {source!r}: which agent {handoff.tool_name} leads to is not known before a run "
            f"({named_version('openai-agents')}); make it with handoff(agent, ...), or let mutants reach the agents "
            f"by {ON_THE_WIRE}"
        )
    return target
