"""A fallible instruction-following model as a pure function of its request and a seed.

It is a stand-in for demonstrations and tests of agentmut itself. What it does says nothing about any
real model, and no figure found with it is evidence about one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentmut.nouns import ModelReply, ModelRequest, ToolCall, Usage
from agentmut.simulator.mind.answer import compose, in_json
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.foreign import in_results, obeyed, with_orders
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.obedience import followed
from agentmut.simulator.mind.plan import Step, make_plan
from agentmut.simulator.mind.profiles import PROFILES, Profile
from agentmut.simulator.mind.request_settings import ended, under
from agentmut.simulator.mind.situation import Situation, own_words, read
from agentmut.simulator.mind.toolbox import open_toolbox

CHARS_PER_TOKEN = 4
_TOLD = 400
"""Characters of its prompt that a model tells when it is made to."""


def reply(
    request: ModelRequest,
    *,
    seed: int,
    trial: str = "",
    parallel: bool = True,
    profiles: Mapping[str, Profile] = PROFILES,
) -> ModelReply:
    """Answer a request. Equal arguments give equal replies; `KeyError` for a model without a profile.

    Without `parallel`, tools are called one at a time.

    Chances fall by seed, trial, model, the request's own seed and what the user has said, so that a model
    does not change its mind about an instruction between one tool call and the next.
    """
    profile = under(profiles[request.model], request)
    tools = () if request.tool_choice == "none" else request.tools
    situation = read(request, open_toolbox(tools), profile.window)
    said = [str(seed), trial, request.model, str(request.seed), *situation.said]
    dice = Dice(said)
    wanted = (*situation.briefing.orders, *in_results(call.result for call in situation.calls))
    orders = obeyed(wanted, dice, profile)
    mind = Mind(situation, with_orders(followed(situation, dice, profile), orders), dice, profile)
    plan = make_plan(mind)
    steps = _chosen(request, situation, plan.steps)
    if steps:
        return _with_calls(request, dice, situation, steps if parallel else steps[:1])
    told = own_words(request.system_text)[:_TOLD] if any(order.reveals for order in orders) else ""
    return _with_text(request, mind, f"{told.strip()} {compose(mind, plan)}".lstrip())


def _chosen(request: ModelRequest, situation: Situation, steps: Sequence[Step]) -> Sequence[Step]:
    """The calls that the request's tool choice leaves: of the named tool, or at least of one.

    A service insists each time; here a tool that was called is not insisted on, so that loops end.
    """
    choice: Any = request.tool_choice
    named = choice.get("function") if isinstance(choice, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    if name is None and (choice != "required" or steps):
        return steps
    offers = [offer for offer in situation.toolbox.offers if name in (None, offer.name)]
    forced = [Step(offer.name, {}) for offer in offers[:1] if not situation.tried(offer.name)]
    return [step for step in steps if step.tool == name] or forced or steps


def _with_calls(request: ModelRequest, dice: Dice, situation: Situation, steps: Sequence[Step]) -> ModelReply:
    first = len(situation.calls)
    calls = tuple(
        ToolCall(id=_call_id(dice, first + i), name=step.tool, arguments=json.dumps(step.arguments))
        for i, step in enumerate(steps)
    )
    written = sum(len(call.name) + len(call.arguments) for call in calls)
    return ModelReply(
        model=request.model, tool_calls=calls, finish_reason="tool_calls", usage=_usage(request, written)
    )


def _with_text(request: ModelRequest, mind: Mind, text: str) -> ModelReply:
    keys = _wanted_keys(request)
    if keys is not None and not text.startswith("{"):
        text = in_json(mind, keys, text)
    said = ended(text, request.stop, request.max_tokens * CHARS_PER_TOKEN if request.max_tokens else None)
    usage = _usage(request, len(said.text))
    return ModelReply(model=request.model, text=said.text, finish_reason=said.finish_reason, usage=usage)


def _wanted_keys(request: ModelRequest) -> list[str] | None:
    """Keys that `response_format` asks for; None where it asks for plain text."""
    wanted: Any = request.response_format
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind not in ("json_object", "json_schema"):
        return None
    named = wanted.get("json_schema")
    schema = named.get("schema") if isinstance(named, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) and properties else ["answer"]


def _call_id(dice: Dice, number: int) -> str:
    return f"call_{int(dice.uniform(f'id:{number}') * 2**48):012x}"


def _usage(request: ModelRequest, written: int) -> Usage:
    messages = sum(
        len(m.text) + sum(len(c.arguments) + len(c.name) for c in m.tool_calls) for m in request.messages
    )
    tools = sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    return Usage(
        input_tokens=-(-(messages + tools) // CHARS_PER_TOKEN), output_tokens=-(-written // CHARS_PER_TOKEN)
    )
