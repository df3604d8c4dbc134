"""Inputs that may reach what no scenario reaches, in the order in which they are worth trying."""

import random
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from pydantic import JsonValue

from agentmut.analysis.generate.material import (
    Material,
    arguments_named,
    fits,
    known_values,
    texts,
    whole,
)
from agentmut.analysis.generate.variations import (
    Turns,
    recombinations,
    substitutions,
    transformations,
)
from agentmut.analysis.generate.wording import cases, normalised, request, sentences, shown
from agentmut.protocols import Relation
from agentmut.scenario import Scenario
from agentmut.schemas import Parameter
from agentmut.text.words import stems
from agentmut.tools import ToolSpec

REQUESTS = 4
"""Requests for one tool that differ in their arguments."""
VARIATIONS = 400
"""Recombined or changed inputs of a suite that are considered, of perhaps very many."""


class AimKind(StrEnum):
    """What an input is for."""

    TOOL = "tool"
    BOUNDARY = "boundary"
    RULE = "rule"
    ANY = "any"
    """Whatever other paths, states, nodes or edges there are: nothing says what leads to them."""


class Aim(NamedTuple):
    """What no scenario exercises, and what is known of how to get there."""

    kind: AimKind
    item: str
    """The coverage item or mutant, in words; empty for `ANY`."""
    tool: str = ""
    parameter: str = ""
    value: JsonValue = None
    has_value: bool = False
    """Of a boundary: whether `value` is on it; else some value of the parameter may be."""
    absent: bool = False
    """Of a boundary: the parameter left out."""
    rule: str = ""


class Proposal(NamedTuple):
    """An input, before it has been run."""

    turns: Turns
    base: Scenario
    """The scenario that documents, hooks and doubles are taken from."""
    origin: str
    aims: tuple[str, ...] = ()
    about: str = ""
    """What a scenario of it is named after; its base where this is empty."""

    @property
    def identity(self) -> str:
        """Equal for inputs that differ in case, blanks and punctuation only."""
        return normalised(whole(self.turns))


def proposals(aim: Aim, known: Material, relations: Sequence[Relation], seed: int) -> Iterator[Proposal]:
    """Inputs for an aim; a function of its arguments. Duplicates are the caller's to drop."""
    if aim.kind is AimKind.ANY:
        yield from _anything(known, relations, seed)
        return
    if aim.kind is AimKind.RULE:
        yield from _for_rule(aim, known)
        return
    tool = next((tool for tool in known.config.tools if tool.name == aim.tool), None)
    if tool is not None:
        yield from _for_tool(aim, tool, known, seed)


def nearest(known: Material, text: str) -> Scenario:
    """The scenario whose input has most content words of a text; the first of several."""
    about = stems(text)
    return max(known.scenarios, key=lambda s: len(about & stems(whole(s.turns))))


def _for_tool(aim: Aim, tool: ToolSpec, known: Material, seed: int) -> Iterator[Proposal]:
    for arguments in _argument_sets(aim, tool, known, seed):
        said = request(tool, arguments)
        base = nearest(known, f"{said} {' '.join(map(shown, arguments.values()))}")
        origin = f"written from the description of {tool.name}"
        about = " ".join(
            [tool.name, aim.parameter, "absent" if aim.absent else shown(aim.value) if aim.has_value else ""]
        )
        yield Proposal((said,), base, origin, (aim.item,), about)
        if extra := _that_belong(known, arguments.values(), said):
            yield Proposal(
                (f"{said} {extra}",), base, f"{origin}, with what the suite says", (aim.item,), about
            )


def _argument_sets(aim: Aim, tool: ToolSpec, known: Material, seed: int) -> Iterator[dict[str, JsonValue]]:
    """Values for the parameters that are required or aimed at; each set with the next known values."""
    choices: dict[str, Sequence[JsonValue]] = {}
    for parameter in arguments_named(tool.parameters):
        if parameter.name == aim.parameter:
            choices |= {} if aim.absent else {parameter.name: _aimed_at(aim, parameter, known, seed)}
        elif parameter.required:
            choices[parameter.name] = known_values(known, parameter) or _made_up(parameter, seed)
    sets = max([1, *map(len, choices.values())])
    for number in range(min(sets, REQUESTS)):
        yield {name: values[number % len(values)] for name, values in choices.items() if values}


def _aimed_at(aim: Aim, parameter: Parameter, known: Material, seed: int) -> tuple[JsonValue, ...]:
    if aim.has_value:
        return (aim.value,)
    return _made_up(parameter, seed) or known_values(known, parameter)


def _made_up(parameter: Parameter, seed: int) -> tuple[JsonValue, ...]:
    """Values that the schema allows and a person could write."""
    from agentmut.analysis.generate.drawing import UNUSABLE, drawn
    from agentmut.analysis.generate.schema_values import limits, values_of

    if parameter.schema.get("type") == "string" and not {"format", "pattern", "enum"} & set(parameter.schema):
        return ()  # a made-up word would only mislead: the request is made without it
    try:
        found = (*limits(parameter.schema), *drawn(values_of(parameter.schema), REQUESTS, seed))
    except UNUSABLE:
        return ()
    return tuple(v for v in found if fits(v, parameter) and shown(v).isascii() and shown(v).isprintable())


def _that_belong(known: Material, values: Iterable[JsonValue], said: str) -> str:
    """The sentences of an existing input that speak of one of these values and are not said yet."""
    wanted = [shown(value) for value in values if isinstance(value, str) and len(value) > 2]
    for scenario in known.scenarios:
        text = " ".join(texts(scenario.turns))
        if any(value in text for value in wanted):
            about = stems(said)
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
    """Sources take turns, so that a budget sees all of them; within each the order is random, by the seed."""
    sources = [_recombined(known), _substituted(known), _transformed(known, relations, seed)]
    shuffled = [_shuffled(islice(source, VARIATIONS), seed) for source in sources]
    yield from (found for found in chain.from_iterable(zip_longest(*shuffled)) if found is not None)


def _shuffled(found: Iterable[Proposal], seed: int) -> list[Proposal]:
    listed = list(found)
    random.Random(seed).shuffle(listed)
    return listed


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
