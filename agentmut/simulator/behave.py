"""A fallible instruction-following model as a pure function of its request and a seed.

It is a stand-in for demonstrations and tests of agentmut itself. What it does says nothing about any
real model, and no figure found with it is evidence about one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentmut.simulator import formats
from agentmut.simulator.answer import compose, in_json
from agentmut.simulator.dice import Dice
from agentmut.simulator.mind import Mind
from agentmut.simulator.obedience import followed
from agentmut.simulator.plan import Plan, Step, make_plan
from agentmut.simulator.profiles import PROFILES, Profile
from agentmut.simulator.situation import Situation, read
from agentmut.simulator.toolbox import open_toolbox
from agentmut.trace import Usage
from agentmut.wire.messages import ModelReply, ModelRequest, ToolCall

CHARS_PER_TOKEN = 4


def reply(
    request: ModelRequest, *, seed: int, trial: str = "", profiles: Mapping[str, Profile] = PROFILES
) -> ModelReply:
    """Answer a request. Equal arguments give equal replies; `KeyError` for a model without a profile.

    Chances fall by seed, trial, model, the request's own seed and what the user has said, so that a model
    does not change its mind about an instruction between one tool call and the next. Temperature and
    top_p are not looked at.
    """
    profile = profiles[request.model]
    tools = () if request.tool_choice == "none" else request.tools
    situation = read(request, open_toolbox(tools), profile.window)
    said = [str(seed), trial, request.model, str(request.seed), *situation.said]
    dice = Dice(said)
    mind = Mind(situation, followed(situation, dice, profile), dice, profile)
    plan = make_plan(mind)
    steps = plan.steps or _forced(request, situation)
    return _with_calls(request, dice, situation, steps) if steps else _with_text(request, mind, plan)


def _forced(request: ModelRequest, situation: Situation) -> list[Step]:
    """A call where the request insists on one: the named tool, or the first."""
    choice: Any = request.tool_choice
    named = choice.get("function") if isinstance(choice, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    if name is None and choice != "required":
        return []
    offers = [offer for offer in situation.toolbox.offers if name in (None, offer.name)]
    return [Step(offer.name, {}) for offer in offers[:1] if not situation.tried(offer.name)]


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


def _with_text(request: ModelRequest, mind: Mind, plan: Plan) -> ModelReply:
    text = compose(mind, plan)
    keys = _wanted_keys(request)
    if keys is not None and not text.startswith("{"):
        text = in_json(mind, keys, text)
    limit = (request.max_tokens * CHARS_PER_TOKEN) if request.max_tokens else len(text)
    return ModelReply(
        model=request.model,
        text=formats.cut(text, (limit, "character")),
        finish_reason="stop" if len(text) <= limit else "length",
        usage=_usage(request, min(len(text), limit)),
    )


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
