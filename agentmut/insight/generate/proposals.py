"""Inputs that may reach the parts that no scenario reaches, the most promising first."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import Parameter, canonical_json
from agentmut.insight.generate.graph_ways import UntakenEdge, nodes_of_model, reasons, starts, way_to
from agentmut.insight.generate.nested import in_plain_words, outermost_of, values_on
from agentmut.insight.generate.proposal_material import (
    Material,
    arguments_named,
    fits,
    known_values,
    texts,
    whole,
)
from agentmut.insight.generate.user_wording import cases, normalised, request, sentences, shown
from agentmut.insight.generate.variations import Turns, recombinations, substitutions, transformations
from agentmut.language import stems
from agentmut.nouns import END, START, AgentConfig, Scenario, ToolSpec
from agentmut.seams import Relation

REQUESTS = 4
"""Requests for one tool that differ in their arguments."""
VARIATIONS = 400
"""Recombined or changed inputs of a suite that are considered, of perhaps very many."""


class AimKind(StrEnum):
    """The aim of an input."""

    TOOL = "tool"
    BOUNDARY = "boundary"
    RULE = "rule"
    NODE = "node"
    EDGE = "edge"
    MODEL = "model"
    """A model that a node of the graph has to itself."""
    ANY = "any"
    """Whatever other paths there are: nothing says what leads to them."""


class Aim(NamedTuple):
    """A part that no scenario exercises, and the known ways to it."""

    kind: AimKind
    item: str
    """The coverage item or mutant, in words; empty for `ANY`."""
    tool: str = ""
    parameter: str = ""
    value: JsonValue = None
    has_value: bool = False
    """Whether `value` is on the boundary; else some value of the parameter may be."""
    absent: bool = False
    """Whether the boundary is that the parameter is left out."""
    rule: str = ""
    source: str = ""
    """The node from which an edge leads."""
    target: str = ""
    """The node to which an edge leads, or the name of a node or of a model."""

    @property
    def in_words(self) -> str:
        """Return the aim in words.

        >>> Aim(AimKind.EDGE, "edge triage -> billing", source="triage", target="billing").in_words
        'a run that goes from triage to billing'
        """
        what = self._aim_in_words()
        return f"{self.item}: {what}" if self.item.startswith("mutant ") else what

    def _aim_in_words(self) -> str:
        said = {
            AimKind.TOOL: f"a call of {self.tool}",
            AimKind.BOUNDARY: f"a call on the {self.item}",
            AimKind.RULE: f'a run to which the rule{_where(self.item)} applies: "{self.rule}"',
            AimKind.NODE: f"a run that enters {self.target}",
            AimKind.EDGE: f"a run that goes from {_end(self.source)} to {_end(self.target)}",
            AimKind.MODEL: f"a run that enters a node whose model is {self.target}",
            AimKind.ANY: "anything new",
        }
        return said[self.kind]


def _where(item: str) -> str:
    """Return the place of a rule, with `at`, where the item names it."""
    return f" at {item.removeprefix('rule ')}" if item.startswith("rule ") else ""


def _end(node: str) -> str:
    return {START: "the start", END: "the end"}.get(node, node)


class Proposal(NamedTuple):
    """An input that has not been run yet."""

    turns: Turns
    base: Scenario
    """The scenario that documents, hooks and doubles are taken from."""
    origin: str
    aims: tuple[str, ...] = ()
    about: str = ""
    """What a scenario of it is named after; its base where this is empty."""
    goal: str = ""
    """What it is aimed at, in words."""

    @property
    def identity(self) -> str:
        """Return a key that is equal for inputs which differ only in case, blanks and punctuation."""
        return normalised(whole(self.turns))


def proposals(aim: Aim, known: Material, relations: Sequence[Relation], seed: int) -> Iterator[Proposal]:
    """Yield inputs for an aim, as a function of the arguments. The caller drops duplicates."""
    for proposal in _made_for(aim, known, relations, seed):
        yield proposal._replace(goal=aim.in_words)


def _made_for(aim: Aim, known: Material, relations: Sequence[Relation], seed: int) -> Iterator[Proposal]:
    if aim.kind is AimKind.ANY:
        yield from _anything(known, relations, seed)
    elif aim.kind is AimKind.RULE:
        yield from _for_rule(aim, known)
    elif aim.kind in (AimKind.NODE, AimKind.EDGE, AimKind.MODEL):
        yield from _for_graph(aim, known, seed)
    else:
        tool = next((tool for tool in known.config.tools if aim.tool in (tool.own_name, tool.name)), None)
        yield from _for_tool(aim, tool, known, seed) if tool is not None else ()


def beside_inputs(known: Material) -> Iterator[Proposal]:
    """Yield tool requests before an input of the suite, which supplies the tool's arguments.

    Each tool comes alone once, then with each other tool, beside the next input. Inputs of one text are used.
    """
    tools = known.config.tools
    bases = [scenario for scenario in known.scenarios if len(texts(scenario.turns)) == 1]
    for shift in range(len(tools) if bases else 0):
        for number, tool in enumerate(tools):
            base = bases[(number + shift) % len(bases)]
            asked = (tool, tools[(number + shift) % len(tools)])[: 1 + bool(shift)]
            said = " ".join([*(request(one, {}) for one in asked), *texts(base.turns)])
            origin = f"written from the description of {tool.name}, beside {base.name}"
            aim = Aim(AimKind.TOOL, f"tool {tool.name}", tool=tool.name)
            yield Proposal((said,), base, origin, (aim.item,), tool.name, aim.in_words)


def nearest(known: Material, text: str) -> Scenario:
    """Return the scenario whose input has most content words of a text; the first of several."""
    about = stems(text)
    return max(known.scenarios, key=lambda s: len(about & stems(whole(s.turns))))


def _for_tool(aim: Aim, tool: ToolSpec, known: Material, seed: int) -> Iterator[Proposal]:
    for arguments in _argument_sets(aim, tool, known, seed):
        for said in _requests(tool, arguments):
            base = nearest(known, f"{said} {' '.join(map(shown, arguments.values()))}")
            origin = f"written from the description of {tool.name}"
            told = "absent" if aim.absent else shown(aim.value) if aim.has_value else ""
            about = f"{tool.name} {aim.parameter} {told}"
            yield Proposal((said,), base, origin, (aim.item,), about)
            if extra := _that_belong(known, arguments.values(), said):
                also = f"{origin}, with what the suite says"
                yield Proposal((f"{said} {extra}",), base, also, (aim.item,), about)


def _requests(tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield requests with objects in words first, then in their written form."""
    yield request(tool, {name: in_plain_words(value) for name, value in arguments.items()})
    if any(isinstance(value, dict | list) and "{" in canonical_json(value) for value in arguments.values()):
        written = {n: canonical_json(v) if isinstance(v, dict | list) else v for n, v in arguments.items()}
        yield request(tool, written)


def _argument_sets(aim: Aim, tool: ToolSpec, known: Material, seed: int) -> Iterator[dict[str, JsonValue]]:
    """Yield values for the parameters that are required or aimed at; each set with the next known values."""
    choices: dict[str, Sequence[JsonValue]] = {}
    outermost = outermost_of(aim.parameter)
    for parameter in arguments_named(tool.parameters):
        if parameter.name == aim.parameter:
            choices |= {} if aim.absent else {parameter.name: _aimed_at(aim, tool, parameter, known, seed)}
        elif parameter.name == outermost:
            choices[parameter.name] = values_on(aim.item, tool, known, seed)
        elif parameter.required:
            choices[parameter.name] = known_values(known, parameter) or _made_up(parameter, seed)
    sets = max([1, *map(len, choices.values())])
    for number in range(min(sets, REQUESTS)):
        yield {name: values[number % len(values)] for name, values in choices.items() if values}


def _aimed_at(
    aim: Aim, tool: ToolSpec, parameter: Parameter, known: Material, seed: int
) -> tuple[JsonValue, ...]:
    if aim.has_value:
        return (aim.value,)
    on = values_on(aim.item, tool, known, seed)
    return on or _made_up(parameter, seed) or known_values(known, parameter)


def _made_up(parameter: Parameter, seed: int) -> tuple[JsonValue, ...]:
    """Return values that the schema allows and a person could write."""
    from agentmut.insight.generate.drawing import UNUSABLE, drawn
    from agentmut.insight.generate.schema_values import limits, values_of

    if parameter.schema.get("type") == "string" and not {"format", "pattern", "enum"} & set(parameter.schema):
        return ()  # a made-up word would only mislead: the request is made without it
    try:
        found = (*limits(parameter.schema), *drawn(values_of(parameter.schema), REQUESTS, seed))
    except UNUSABLE:
        return ()
    return tuple(v for v in found if fits(v, parameter) and shown(v).isascii() and shown(v).isprintable())


def _that_belong(known: Material, values: Iterable[JsonValue], input_text: str) -> str:
    """Return the sentences of an input that mention one of these values and are not used yet."""
    wanted = [shown(value) for value in values if isinstance(value, str) and len(value) > 2]
    for scenario in known.scenarios:
        text = " ".join(texts(scenario.turns))
        if any(value in text for value in wanted):
            about = stems(input_text)
            with_figures = [s for s in sentences(text) if "@" in s or any(value in s for value in wanted)]
            return " ".join(s for s in with_figures if not stems(s) <= about)
    return ""


def _for_rule(aim: Aim, known: Material) -> Iterator[Proposal]:
    for case in cases(aim.rule):
        base = nearest(known, f"{case} {aim.rule}")
        origin = "written from a rule of the prompt"
        first, *rest = texts(base.turns)
        yield Proposal((f"{first} {case}", *rest), base, f"{origin}, added to {base.name}", (aim.item,), case)
        yield Proposal((case,), base, origin, (aim.item,), case)
        for other in _others(known, base, aim.rule)[:2]:
            first, *rest = texts(other.turns)
            added = f"{origin}, added to {other.name}"
            yield Proposal((f"{first} {case}", *rest), other, added, (aim.item,), case)


def _others(known: Material, base: Scenario, text: str) -> list[Scenario]:
    about = stems(text)
    rest = [scenario for scenario in known.scenarios if scenario is not base]
    return sorted(rest, key=lambda s: -len(about & stems(whole(s.turns))))


def _anything(known: Material, relations: Sequence[Relation], seed: int) -> Iterator[Proposal]:
    """Yield proposals of all sources in turn, so that a budget sees all sources. The seed orders each source."""
    sources = [_recombined(known), _substituted(known), _transformed(known, relations, seed)]
    shuffled = [_shuffled(islice(source, VARIATIONS), seed) for source in sources]
    yield from (found for found in chain.from_iterable(zip_longest(*shuffled)) if found is not None)


def _shuffled(found: Iterable[Proposal], seed: int) -> list[Proposal]:
    listed = list(found)
    random.Random(seed).shuffle(listed)
    return listed


def _for_graph(aim: Aim, known: Material, seed: int) -> Iterator[Proposal]:
    """Yield inputs whose runs come close to the aim: with an added reason, recombined, or with other figures."""
    targets = (
        nodes_of_model(known.config.orchestration, aim.target) if aim.kind is AimKind.MODEL else (aim.target,)
    )
    for target in targets:
        way = way_to(known, aim.source, target)
        bases = starts(known, way)
        near = {base.name for base in bases}
        varied = [
            _shuffled((p for p in islice(_recombined(known), VARIATIONS) if p.base.name in near), seed),
            _shuffled(islice(_substituted(known._replace(scenarios=bases)), VARIATIONS), seed),
        ]
        about = f"{way.source} {target}".replace(START, "").replace(END, "end")
        sources = [_with_reasons(known.config, way, bases), *varied]
        for found in chain.from_iterable(zip_longest(*sources)):
            if found is not None:
                yield found._replace(aims=(aim.item,), about=about)


def _with_reasons(config: AgentConfig, edge: UntakenEdge, bases: Sequence[Scenario]) -> Iterator[Proposal]:
    """Yield each reason alone, and after an input."""
    for number, (reason, origin) in enumerate(reasons(config, edge)):
        base = bases[number % len(bases)]
        *first, last = texts(base.turns)
        yield Proposal((reason,), base, origin)
        yield Proposal((*first, f"{last} {reason}"), base, f"{origin}, added to {base.name}")


def _recombined(known: Material) -> Iterator[Proposal]:
    single = [s for s in known.scenarios if len(s.turns) == 1 and isinstance(s.turns[0], str)]
    by_text = {" ".join(texts(s.turns)): s for s in single}
    for text in recombinations(list(by_text)):
        yield Proposal((text,), nearest(known, text), "sentences of two scenarios together")


def _substituted(known: Material) -> Iterator[Proposal]:
    for scenario in known.scenarios:
        said = texts(scenario.turns)
        for place, turn in enumerate(said):
            for changed in substitutions(turn):
                turns = (*said[:place], changed, *said[place + 1 :])
                yield Proposal(turns, scenario, f"{scenario.name} with another figure")


def _transformed(known: Material, relations: Sequence[Relation], seed: int) -> Iterator[Proposal]:
    for scenario in known.scenarios:
        trace = known.traces.get(scenario.name)
        if trace is None:
            continue
        for turns, what in transformations(scenario, known.config, trace, relations, seed):
            yield Proposal(turns, scenario, f"{scenario.name} changed by {what}")
