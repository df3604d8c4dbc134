"""The next action: tool calls, a question to the user, or a refusal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmut.simulator.mind.arguments import FilledCall, fill
from agentmut.simulator.mind.dice import Dice
from agentmut.simulator.mind.language import clauses, subject, topics
from agentmut.simulator.mind.mind import Mind
from agentmut.simulator.mind.needs import Need, needs, predecessors
from agentmut.simulator.mind.saying import is_speech
from agentmut.simulator.mind.situation import TELLING, Passage
from agentmut.simulator.mind.tool_actions import about_same
from agentmut.simulator.mind.toolbox import Offer


class Refusal(NamedTuple):
    """A tool that the user needs and the model does not call, with the reason in words."""

    tool: str
    reason: str


class Step(NamedTuple):
    """A call to be made now."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class Plan:
    """The next action."""

    steps: list[Step] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Arguments that the user has to be asked for."""
    refusals: list[Refusal] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    """Things to say before going on, as an instruction wants it."""


def make_plan(mind: Mind) -> Plan:
    """Return the next steps, or the text for the user instead."""
    plan = Plan()
    banned = _banned(mind)
    wanted = needs(mind)
    pending = [need for need in wanted if not mind.situation.tried(need.tool, need.since)]
    for need in pending:
        if need.tool in banned:
            _refuse(plan, need, banned[need.tool])
    allowed = [need for need in pending if need.tool not in banned]
    for need in _unblocked(mind, allowed):
        _consider(mind, plan, need, banned)
    if len(plan.steps) > 1 and not mind.dice.chance("parallel", mind.profile.parallel):
        del plan.steps[1:]
    return plan


def _banned(mind: Mind) -> dict[str, str]:
    """Return the forbidden tools, each with the reason in the instruction's words."""
    return {
        tool: clause.when.text if clause.when else clause.phrase
        for clause in mind.bans
        for tool in mind.situation.toolbox.forbidden(clause.phrase)
        if not _ordered(mind, tool, clause.phrase)
    }


def _ordered(mind: Mind, tool: str, banned: str) -> bool:
    """Return whether another instruction wants a tool now, and for something else than what is forbidden."""
    firsts = (order.first for order in mind.orders if order.demanded)
    wanted = [p for p in (*(duty.phrase for duty in mind.duties), *firsts) if tool in mind.tools_for(p)]
    return bool(wanted) and not any(about_same(banned, phrase) for phrase in wanted)


def _unblocked(mind: Mind, allowed: list[Need]) -> list[Need]:
    """Return the needs that wait for no other; the first, if all wait for each other."""
    tools = [need.tool for need in allowed]
    free = [need for need in allowed if not predecessors(mind, need.tool, tools)]
    return free or allowed[:1]


def _consider(mind: Mind, plan: Plan, need: Need, banned: Iterable[str]) -> None:
    offer = mind.situation.toolbox.get(need.tool)
    if offer is None:
        return
    if (question := _unasked(mind, need.tool)) is not None:
        plan.questions.append(question)
    elif (failed := _failed_before(mind, need.tool)) is not None:
        _refuse(plan, need, f"{failed.replace('_', ' ')} did not succeed")
    else:
        _try_step(mind, plan, need, offer, banned)


def _unasked(mind: Mind, tool: str) -> str | None:
    """Return the text that an instruction demands before a tool is called, if the model has said nothing yet."""
    toolbox = mind.situation.toolbox
    first = (o.first for o in mind.orders if o.demanded and tool in toolbox.tools_for(o.then))
    speech = (phrase for phrase in first if is_speech(phrase, toolbox))
    return None if mind.situation.answered else next(speech, None)


def _failed_before(mind: Mind, tool: str) -> str | None:
    """Return a step before `tool` that did not succeed, where the model minds."""
    firsts = (
        first for o in mind.orders if tool in mind.tools_for(o.then) for first in mind.tools_for(o.first)
    )
    failed = (first for first in firsts if mind.situation.tried(first) and not mind.situation.called(first))
    found = next(failed, None)
    return found if found and mind.dice.chance(f"caution:{tool}", mind.profile.caution) else None


def _refuse(plan: Plan, need: Need, reason: str) -> None:
    if need.asked:
        plan.refusals.append(Refusal(need.tool, reason))


def _try_step(mind: Mind, plan: Plan, need: Need, offer: Offer, banned: Iterable[str]) -> None:
    filled = _fill(mind, offer, need)
    if not filled.missing:
        _add_step(mind, plan, Step(offer.name, filled.arguments))
    elif (provider := next(_providers(mind, need, offer, filled, banned), None)) is not None:
        _add_step(mind, plan, provider)
    elif need.asked and not _answered_otherwise(mind, need):
        plan.missing += [name for name in filled.missing if name not in plan.missing]


def _answered_otherwise(mind: Mind, need: Need) -> bool:
    """Return whether the documents answer a question, so that no tool is missing."""
    return need.clause.endswith("?") and bool(telling(mind, need.clause))


def _add_step(mind: Mind, plan: Plan, step: Step) -> None:
    """Add a call, unless the very same was made before: that is what makes a conversation end."""
    made = any(call.name == step.tool and call.arguments == step.arguments for call in mind.situation.calls)
    if not made and step not in plan.steps:
        plan.steps.append(step)


def _providers(
    mind: Mind, need: Need, offer: Offer, filled: FilledCall, banned: Iterable[str]
) -> Iterator[Step]:
    """Yield calls of other tools whose results may contain the missing arguments."""
    wanted = topics(" ".join(filled.missing)) | topics(_descriptions(offer, filled.missing))
    for other in mind.situation.toolbox.offers:
        provides = other.description_topics - other.parameter_topics
        if other is not offer and wanted & provides and other.name not in banned:
            found = _fill(mind, other, need)
            if not found.missing and not mind.situation.tried(other.name):
                yield Step(other.name, found.arguments)


def _descriptions(offer: Offer, names: Iterable[str]) -> str:
    schemas = (offer.properties[name] for name in names)
    return " ".join(str(schema.get("description", "")) for schema in schemas if isinstance(schema, dict))


def _fill(mind: Mind, offer: Offer, need: Need) -> FilledCall:
    return fill(offer, need.clause, mind.situation, mind.dice, mind.profile)


_ALSO_TELLING = 0.8  # share of the best weight for a second one
_MOST = 2


def telling(mind: Mind, clause: str) -> list[tuple[float, Passage]]:
    """Return the passages on a clause's topics, with their weights."""
    weighed = mind.situation.weighed(clause)
    best = max((weight for weight, _ in weighed), default=0.0)
    return [(weight, p) for weight, p in weighed if weight >= max(TELLING, _ALSO_TELLING * best)]


def quoted(mind: Mind) -> list[Passage]:
    """Return the sentences that answer the last message: the best ones for its clauses, if found."""
    message = mind.situation.messages[-1] if mind.situation.messages else ""
    weighed = [found for clause in clauses(message) for found in telling(mind, clause)]
    best = sorted(weighed, key=lambda found: -found[0])
    distinct = _agreeing(dict.fromkeys(passage for _, passage in best), mind.dice)[:_MOST]
    return [p for p in distinct if mind.dice.chance(f"find:{p.text}", mind.profile.retrieval)]


def _agreeing(passages: Iterable[Passage], dice: Dice) -> list[Passage]:
    """Return the passages; of contradictory ones, a random one."""
    versions: dict[object, list[Passage]] = {}
    for passage in passages:
        about = subject(passage.text)
        versions.setdefault(about or passage, []).append(passage)
    return [_any_of(same, dice) for same in versions.values()]


def _any_of(same: list[Passage], dice: Dice) -> Passage:
    different = sorted({passage.text for passage in same})
    chosen = (
        different[int(dice.uniform(f"version:{different}") * len(different))] if same[1:] else same[0].text
    )
    return next(passage for passage in same if passage.text == chosen)
