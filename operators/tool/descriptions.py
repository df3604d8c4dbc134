"""What the model is told that a tool does, and what its parameters mean."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from agentmut._base import Path, flat, shipped
from agentmut.language import quoted, stems
from agentmut.nouns import AgentConfig, Candidate, Edit, Reach, ToolSpec
from agentmut.operators.shared_edits import takes_english
from agentmut.operators.tool.example_tools import CANCEL, LOOK_UP, an_object, schema_example, tools_example
from agentmut.operators.tool.names import next_version, snake
from agentmut.operators.tool.parameter_places import ParameterPlace, kind_of, places
from agentmut.seams import OperatorOptions, operator

_MIXED_UP = LOOK_UP.model_copy(update={"description": CANCEL.description})
_OTHER_WAY = CANCEL.model_copy(update={"description": LOOK_UP.description})
_BLANK = LOOK_UP.model_copy(update={"description": ""})

_ORDER: dict[str, JsonValue] = {"type": "string", "description": "Number of the order."}
_NOTE: dict[str, JsonValue] = {"type": "string", "description": "What to tell the customer."}
_DAYS: dict[str, JsonValue] = {"type": "integer", "description": "How long to wait, in days."}
_HOURS: dict[str, JsonValue] = {"type": "integer", "description": "How long to wait, in hours."}
_NEAR = 8
"""How far from a parameter another one is looked for."""
_UNITS: Mapping[str, str] = shipped("agentmut.operators.tool", "other_words")["units"]
_UNIT = re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, _UNITS))})(?![\w/-])", re.IGNORECASE)


@operator(
    "tool.mislead_description",
    why="Descriptions are copied from tool to tool, or stay behind when a tool changes.",
    examples=[tools_example((LOOK_UP, CANCEL), (_MIXED_UP, CANCEL))],
)
def mislead_description(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per tool: its description is another's, or says that it is out of use.

    The other tool has a word of its name in common with it, and is the one that shares most words. A tool without
    such another one, whose description is not English, has no mutant.
    """
    vocabularies = _vocabularies(config.tools)
    for index, tool in enumerate(config.tools):
        misleading = _misleading(index, config, vocabularies)
        if not misleading:
            continue
        yield Candidate(
            edits=_described(index, tool, misleading),
            description=f"describe the tool {tool.name} as {quoted(misleading)}",
            anchor=tool.name,
            subject=tool.name,
        )


def _described(index: int, tool: ToolSpec, text: str) -> tuple[Edit, ...]:
    """Return the edits of a description, and of the copy of it that pydantic leaves in the schema."""
    own = Edit(pointer=f"/tools/{index}/description", before=tool.description, after=text)
    copy = tool.parameters.get("description")
    if not isinstance(copy, str) or flat(copy) != flat(tool.description) or not copy:
        return (own,)
    return own, Edit(pointer=f"/tools/{index}/parameters/description", before=copy, after=text)


def _vocabularies(tools: Sequence[ToolSpec]) -> list[frozenset[str]]:
    return [stems(f"{tool.name} {tool.description}") for tool in tools]


def _misleading(index: int, config: AgentConfig, words: Sequence[frozenset[str]]) -> str:
    tools = config.tools
    other = _nearest(index, tools, words)
    if other is not None:
        return tools[other].description
    return _out_of_use(tools[index].name) if takes_english(config, tools[index].description) else ""


def _nearest(index: int, tools: Sequence[ToolSpec], words: Sequence[frozenset[str]]) -> int | None:
    """Return the tool with a similar name and another description that shares most words; the first by name."""
    name = stems(snake(tools[index].name))
    described = (
        other
        for other, tool in enumerate(tools)
        if tool.description.strip() not in ("", tools[index].description.strip())
        and name & stems(snake(tool.name))
    )
    return min(
        described, key=lambda other: (-len(words[index] & words[other]), tools[other].name), default=None
    )


def _out_of_use(name: str) -> str:
    return f"Deprecated: use {next_version(name)} instead."


@operator(
    "tool.blank_description",
    why="A docstring is deleted or not exported, and nobody reads what the model is sent.",
    examples=[tools_example((LOOK_UP, CANCEL), (_BLANK, CANCEL))],
)
def blank_description(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per tool with a description: only its name and parameters are left."""
    for index, tool in enumerate(config.tools):
        if tool.description.strip():
            yield Candidate(
                edits=_described(index, tool, ""),
                description=f"leave out what the tool {tool.name} does",
                anchor=tool.name,
                subject=tool.name,
            )


@operator(
    "tool.swap_descriptions",
    why="Two descriptions change places when a list of tools is sorted or merged by hand.",
    examples=[tools_example((LOOK_UP, CANCEL), (_MIXED_UP, _OTHER_WAY))],
)
def swap_descriptions(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per tool and the one most like it in name, each pair once: the descriptions are swapped."""
    tools, vocabularies = config.tools, _vocabularies(config.tools)
    done: set[frozenset[int]] = set()
    for index, tool in enumerate(tools):
        other = _nearest(index, tools, vocabularies) if tool.description.strip() else None
        if other is None or frozenset((index, other)) in done:
            continue
        done.add(frozenset((index, other)))
        # By name, so that the order in which tools are offered is not in the mutant's id.
        first, second = sorted((index, other), key=lambda place: tools[place].name)
        one, two = tools[first], tools[second]
        yield Candidate(
            edits=(*_described(first, one, two.description), *_described(second, two, one.description)),
            description=f"swap the descriptions of {one.name} and {two.name}",
            anchor=" and ".join(sorted((one.name, two.name))),
            subject=tool.name,
        )


@operator(
    "tool.describe_parameter_wrongly",
    why="A parameter's description is copied from its neighbour, or stays when its unit changes.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(order=_ORDER, note=_NOTE),
            an_object(order={**_ORDER, "description": _NOTE["description"]}, note=_NOTE),
        ),
        schema_example(an_object(wait=_DAYS), an_object(wait=_HOURS)),
    ],
)
def describe_parameter_wrongly(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per described parameter: another unit or format, or else the description of another one.

    The other one stands next to it, is of the same kind, and is the next in the list.
    Parameters for which neither can be had are left alone.
    """
    for place, siblings in _with_siblings(config):
        description = place.parameter.description
        unit = _other_unit(description) if takes_english(config, description) else ""
        wrong = (unit or _of_another(place, siblings)) if description else ""
        if wrong:
            path = (*place.parameter.path, "description")
            edit = place.edit(path, place.parameter.stated.get("description"), wrong)
            yield place.candidate((edit,), f"describe {place.parameter.name} as {quoted(wrong)}")


def _with_siblings(config: AgentConfig) -> Iterator[tuple[ParameterPlace, list[ParameterPlace]]]:
    """Yield each parameter with those of the same object, from the next one round to itself."""
    by_object: dict[tuple[int, Path], list[ParameterPlace]] = {}
    for place in places(config):
        by_object.setdefault((place.number, place.parameter.owner), []).append(place)
    for listed in by_object.values():
        for at, place in enumerate(listed):
            yield place, [*listed[at + 1 : at + 1 + _NEAR], *listed[max(0, at - _NEAR) : at]]


def _of_another(place: ParameterPlace, siblings: Sequence[ParameterPlace]) -> str:
    described = [
        other for other in siblings if other.parameter.description not in ("", place.parameter.description)
    ]
    kind = _kind_of(place)
    return next((other.parameter.description for other in described if _kind_of(other) == kind), "")


def _kind_of(place: ParameterPlace) -> tuple[str, bool, JsonValue]:
    """Return the type of a parameter, whether it has a list of values, and its format."""
    schema = place.parameter.schema
    return kind_of(schema), "enum" in schema, schema.get("format")


def _other_unit(description: str) -> str:
    """Return the description with its first unit or format replaced; empty where it has none.

    >>> _other_unit("Date as YYYY-MM-DD.")
    'Date as DD/MM/YYYY.'
    """
    found = _UNIT.search(description)
    if found is None:
        return ""
    unit = found.group()
    other = _UNITS[unit.lower()]
    other = other.capitalize() if unit.istitle() and other.islower() else other
    return description[: found.start()] + other + description[found.end() :]
