"""A fallible instruction-following model as a pure function of its request and a seed.

It is a stand-in for demonstrations and tests of agentmut itself. What it does says nothing about any
real model, and no figure found with it is evidence about one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from agentmut.nouns import ModelReply, ModelRequest, ToolCall, Usage
from agentmut.simulator.mind.answer import compose, in_json
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.foreign import in_results, obeyed, with_orders
from agentmut.simulator.mind.formats import as_json
from agentmut.simulator.mind.language import Topics
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.plan import Plan, Step, make_plan
from agentmut.simulator.mind.profiles import PROFILES, Profile
from agentmut.simulator.mind.rules import Rule
from agentmut.simulator.mind.situation import Briefing, Situation, own_words, read
from agentmut.simulator.mind.structured import (
    complete_arguments,
    demanded_arguments,
    json_answer,
    takes_answer,
)
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
    seeds = [str(seed), trial, request.model, str(request.seed), *situation.messages]
    dice = Dice(seeds)
    wanted = (*situation.briefing.orders, *in_results(call.result for call in situation.calls))
    orders = obeyed(wanted, dice, profile)
    mind = Mind(situation, with_orders(followed(situation, dice, profile), orders), dice, profile)
    plan = make_plan(mind)
    steps = _chosen(request, mind, plan)
    if steps:
        return _with_calls(request, dice, situation, steps if parallel else steps[:1])
    instructions = own_words(request.system_text)[:_TOLD] if any(order.reveals for order in orders) else ""
    return _with_text(request, mind, f"{instructions.strip()} {compose(mind, plan)}".lstrip())


def _chosen(request: ModelRequest, mind: Mind, plan: Plan) -> Sequence[Step]:
    """Return the calls that the request's tool choice permits: of the named tool, or at least of one; all complete.

    A service insists each time; here a tool that was called is not insisted on, so that loops end.
    """
    choice: Any = request.tool_choice
    named = choice.get("function") if isinstance(choice, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    steps: Sequence[Step] = plan.steps
    if name is not None or (choice == "required" and not steps):
        steps = [step for step in steps if step.tool == name] or _forced(mind, plan, name) or steps
    offered = ((step, mind.situation.toolbox.get(step.tool)) for step in steps)
    return [
        step._replace(arguments=complete_arguments(mind, offer, step.arguments)) if offer else step
        for step, offer in offered
    ]


def _forced(mind: Mind, plan: Plan, name: str | None) -> list[Step]:
    """Return the call that a request demands: of the named tool, of a tool for the answer, or of the first tool."""
    offers = [offer for offer in mind.situation.toolbox.offers if name in (None, offer.name)]
    taking = next((offer for offer in offers if takes_answer(offer)), None) if name is None else None
    chosen = taking or next(iter(offers), None)
    if chosen is None or mind.situation.tried(chosen.name):
        return []
    return [Step(chosen.name, demanded_arguments(mind, chosen, compose(mind, plan)))]


def _with_calls(request: ModelRequest, dice: Dice, situation: Situation, steps: Sequence[Step]) -> ModelReply:
    first = len(situation.calls)
    calls = tuple(
        ToolCall(id=_call_id(dice, request, first + i), name=step.tool, arguments=json.dumps(step.arguments))
        for i, step in enumerate(steps)
    )
    written = sum(len(call.name) + len(call.arguments) for call in calls)
    return ModelReply(
        model=request.model, tool_calls=calls, finish_reason="tool_calls", usage=_usage(request, written)
    )


def _with_text(request: ModelRequest, mind: Mind, text: str) -> ModelReply:
    schema = _wanted_schema(request)
    if schema is not None:
        text = as_json(json_answer(mind, schema, text))
    elif wants_json(request) and not text.startswith("{"):
        text = in_json(mind, ["answer"], text)
    cut = ended(text, request.stop, request.max_tokens * CHARS_PER_TOKEN if request.max_tokens else None)
    usage = _usage(request, len(cut.text))
    return ModelReply(model=request.model, text=cut.text, finish_reason=cut.finish_reason, usage=usage)


def wants_json(request: ModelRequest) -> bool:
    """Return whether `response_format` asks for JSON."""
    wanted: Any = request.response_format
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    return kind in ("json_object", "json_schema")


def _wanted_schema(request: ModelRequest) -> Any:
    """Return the schema in `response_format`; None if it has none, or an empty one."""
    wanted: Any = request.response_format
    named = wanted.get("json_schema") if wants_json(request) and isinstance(wanted, dict) else None
    schema = named.get("schema") if isinstance(named, dict) else None
    return schema if isinstance(schema, dict) and schema.keys() - {"type", "additionalProperties"} else None


def _call_id(dice: Dice, request: ModelRequest, number: int) -> str:
    """Return the id of a call; other instructions or tools give other ids for the same user message."""
    asker = f"{request.system_text}:{','.join(tool.name for tool in request.tools)}"
    return f"call_{int(dice.uniform(f'id:{number}:{asker}') * 2**48):012x}"


def _usage(request: ModelRequest, written: int) -> Usage:
    messages = sum(
        len(m.text) + sum(len(c.arguments) + len(c.name) for c in m.tool_calls) for m in request.messages
    )
    tools = sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    return Usage(
        input_tokens=-(-(messages + tools) // CHARS_PER_TOKEN), output_tokens=-(-written // CHARS_PER_TOKEN)
    )


def followed(situation: Situation, dice: Dice, profile: Profile) -> tuple[Rule, ...]:
    """Return the rules that the model keeps to; drawn once a conversation, not once a request."""
    diluting = irrelevant_words(situation.briefing, situation.known)
    return tuple(
        rule
        for rule in situation.briefing.rules
        if not rule.states and dice.chance(f"follow:{rule.text}", probability(rule, diluting, profile))
    )


def probability(rule: Rule, irrelevant: int, profile: Profile) -> float:
    """Return the chance that `profile` follows `rule` among so many irrelevant words."""
    base = profile.obeys[rule.modality]
    odds = base / (1 - base)
    odds *= 1 - profile.middle * 4 * rule.position * (1 - rule.position)
    odds /= 1 + irrelevant / profile.attention
    odds /= profile.hasty if _has_condition(rule) else 1
    return odds / (1 + odds)


def _has_condition(rule: Rule) -> bool:
    return rule.when is not None or any(clause.when for clause in rule.clauses)


def irrelevant_words(briefing: Briefing, known: Topics) -> int:
    """Return the number of words of the system message in passages that share nothing with the conversation."""
    return sum(p.words for p in briefing.passages if p.topics.isdisjoint(known))


USUAL_TEMPERATURE = 0.7
"""Where the profiles' figures hold, and what an unset temperature is."""
_STEADIEST = 0.7  # share of the slips that is left at temperature 0, or with hardly any top_p
_HEAT = 0.4  # degrees above the usual at which slips have doubled odds
_EFFORTS: Mapping[str, float] = MappingProxyType({"medium": 1.5, "low": 2.5, "minimal": 4.0, "none": 4.0})


class CutText(NamedTuple):
    """A text, up to the point where it was cut."""

    text: str
    finish_reason: str


def under(profile: Profile, request: ModelRequest) -> Profile:
    """Return the profile under the request's settings; the same object if they are unset."""
    factor = slips(request.temperature, request.top_p)
    hasty = _EFFORTS.get(request.reasoning_effort or "", 1.0)
    if factor == 1 and hasty == 1:
        return profile
    obeys = MappingProxyType({kind: _slipping(p, factor) for kind, p in profile.obeys.items()})
    return profile._replace(
        obeys=obeys,
        tool_skill=_slipping(profile.tool_skill, factor),
        argument_skill=_slipping(profile.argument_skill, factor),
        retrieval=_slipping(profile.retrieval, factor),
        caution=_slipping(profile.caution, factor),
        hasty=hasty,
    )


def slips(temperature: float | None, top_p: float | None) -> float:
    """Return the factor for the odds of each slip: 0.7 at temperature 0, 1 at 0.7, 5 at 1.5.

    A top_p below 1 takes that much off what is above 0.7, since the unlikely words are not drawn then.

    >>> slips(None, None), slips(0.0, 1.0), round(slips(1.5, None), 6), round(slips(1.5, 0.5), 6)
    (1.0, 0.7, 5.0, 2.85)
    """
    degrees = USUAL_TEMPERATURE if temperature is None else temperature
    above = max(0.0, degrees - USUAL_TEMPERATURE) / _HEAT
    below = min(degrees, USUAL_TEMPERATURE) / USUAL_TEMPERATURE
    factor = _STEADIEST + (1 - _STEADIEST) * below + above**2
    return factor if top_p is None or top_p == 1 else _STEADIEST + (factor - _STEADIEST) * top_p


def ended(text: str, stops: Iterable[str], limit: int | None) -> CutText:
    """Return a text up to the first stop sequence in it, and up to the limit in characters.

    >>> ended("One. Two. Three.", [" Th"], None)
    CutText(text='One. Two.', finish_reason='stop')
    >>> ended("One. Two.", ["Two"], 3)
    CutText(text='One', finish_reason='length')
    """
    until = min((at for stop in stops if stop and (at := text.find(stop)) >= 0), default=len(text))
    kept = text[:until]
    if limit is None or len(kept) <= limit:
        return CutText(kept, "stop")
    return CutText(kept[:limit], "length")


def _slipping(probability: float, factor: float) -> float:
    """Return the chance of not slipping, with the odds of slipping multiplied."""
    if probability <= 0:
        return probability
    return 1 / (1 + factor * (1 - probability) / probability)
