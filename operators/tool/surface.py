"""The list of tools as a whole: a flood, nothing, schemas in another form."""

import re
from collections.abc import Iterator
from itertools import pairwise

from pydantic import JsonValue

from agentmut.language import parse
from agentmut.nouns import EMPTY_SCHEMA, AgentConfig, Candidate, Edit, FaultKind, Reach, ToolFault, ToolSpec
from agentmut.operators.tool.example_tools import LOOK_UP, REFUND, an_object, schema_example, tools_example
from agentmut.operators.tool.parameter_places import own_places, places
from agentmut.seams import OperatorOptions, operator

_VERBS = ("list", "create", "update", "archive", "export")
_THINGS = ("calendar_event", "meeting_room", "invoice_draft", "wiki_page", "build_job", "mailing_list")
_KIND = {
    "list": "List every",
    "create": "Create a",
    "update": "Update a",
    "archive": "Archive a",
    "export": "Export a",
}


def _strangers(taken: frozenset[str]) -> tuple[ToolSpec, ...]:
    """Return thirty tools of other servers; they find nothing."""
    return tuple(
        ToolSpec(
            name=name,
            description=f"{_KIND[verb]} {thing.replace('_', ' ')}.",
            parameters={"type": "object", "properties": {"id": {"type": "string"}}},
            fault=ToolFault(kind=FaultKind.DECOY),
        )
        for verb in _VERBS
        for thing in _THINGS
        if (name := f"{verb}_{thing}") not in taken
    )


def _listed(tools: tuple[ToolSpec, ...]) -> JsonValue:
    return [tool.model_dump(mode="json") for tool in tools]


@operator(
    "tool.flood",
    why="Further tool servers are connected, and the agent's own tools are a few of many.",
    examples=[tools_example((LOOK_UP,), (LOOK_UP, *_strangers(frozenset())))],
    on_demand=True,
)
def flood(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: thirty tools of other tasks stand behind the agent's own."""
    if config.tools:
        strangers = _strangers(frozenset(config.tool_names))
        # All refer to the original's list: each is put before the one that was put in last.
        edits = [
            Edit(pointer=f"/tools/{len(config.tools)}", before=None, after=tool.model_dump(mode="json"))
            for tool in reversed(strangers)
        ]
        yield Candidate(edits=tuple(edits), description=f"offer {len(strangers)} more tools", anchor="flood")


@operator(
    "tool.remove_all",
    why="A server does not answer when tools are listed, and the agent begins without any.",
    examples=[tools_example((LOOK_UP, REFUND), ())],
    on_demand=True,
)
def remove_all(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant of an agent with several tools: no tool is offered. The prompt still speaks of them."""
    if len(config.tools) > 1:
        edit = Edit(pointer="/tools", before=_listed(config.tools), after=[])
        yield Candidate(edits=(edit,), description="offer no tools", anchor="none")


@operator(
    "tool.empty_schema",
    why="A reader of schemas finds no parameters where a new version writes them otherwise.",
    reach=Reach.CALLED,
    examples=[schema_example(an_object(order={"type": "string"}), dict(EMPTY_SCHEMA))],
    on_demand=True,
)
def empty_schema(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each tool with parameters: the model is told of none."""
    for index, tool in enumerate(config.tools):
        if tool.parameters.get("properties"):
            edit = Edit(
                pointer=f"/tools/{index}/parameters", before=tool.parameters, after=dict(EMPTY_SCHEMA)
            )
            yield Candidate(
                edits=(edit,),
                description=f"leave out the parameters of {tool.name}",
                anchor=tool.name,
                subject=tool.name,
            )


@operator(
    "tool.rename_parameter",
    why="A parameter is renamed in the schema, and results, prompt and code go on with the old name.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(("order_id",), order_id={"type": "string"}),
            an_object(("orderId",), orderId={"type": "string"}),
        )
    ],
    on_demand=True,
)
def rename_parameter(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each parameter of a tool's own object: the model is told another name.

    The tool's code has the old name: a call with the new one fails, or the argument is passed over.
    """
    for place in places(config):
        name, properties = place.parameter.name, place.tool.parameters.get("properties")
        if (
            not isinstance(properties, dict)
            or name not in properties
            or place.parameter.path != ("properties", name)
        ):
            continue
        other = _other_style(name)
        if other in properties:
            continue
        renamed = {other if key == name else key: value for key, value in properties.items()}
        required = place.tool.parameters.get("required")
        edits = [place.edit(("properties",), properties, renamed)]
        if isinstance(required, list) and name in required:
            edits.append(place.edit(("required", str(required.index(name))), name, other))
        yield place.candidate(edits, f"call the parameter {name} {other}")


def _other_style(name: str) -> str:
    head, *rest = name.split("_")
    if rest:
        return head + "".join(map(str.capitalize, rest))
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return snake if snake != name else f"{name}_value"


@operator(
    "tool.enum_as_any_of",
    why="A schema library writes the values of an enumeration in another form.",
    reach=Reach.CALLED,
    examples=[
        schema_example(
            an_object(state={"type": "string", "enum": ["open", "sent"]}),
            an_object(
                state={"anyOf": [{"const": "open", "type": "string"}, {"const": "sent", "type": "string"}]}
            ),
        )
    ],
    lack="no parameter has an enumeration of texts",
    on_demand=True,
)
def enum_as_any_of(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each enumeration of texts: its values are alternatives, each a constant."""
    for place in own_places(config):
        values = place.parameter.schema.get("enum")
        if isinstance(values, list) and values and all(isinstance(value, str) for value in values):
            constants: list[JsonValue] = [{"const": value, "type": "string"} for value in values]
            edits = [place.change("enum", None), place.change("anyOf", constants)]
            if "type" in place.parameter.schema:
                edits.append(place.change("type", None))
            yield place.candidate(edits, f"write the values of {place.parameter.name} as alternatives")


@operator(
    "tool.shorten_description",
    why="What tells two tools apart is cut from their descriptions to save tokens.",
    examples=[
        tools_example(
            (LOOK_UP.model_copy(update={"description": "Look up an order. Use find_orders for several."}),),
            (LOOK_UP.model_copy(update={"description": "Look up an order."}),),
        )
    ],
    lack="no tool's description has several sentences",
    on_demand=True,
)
def shorten_description(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each description of several sentences: only the first one is left."""
    for index, tool in enumerate(config.tools):
        sentences = parse(tool.description).instructions
        if len(sentences) > 1:
            first = tool.description[: sentences[0].end].rstrip()
            edit = Edit(pointer=f"/tools/{index}/description", before=tool.description, after=first)
            yield Candidate(
                edits=(edit,),
                description=f"keep the first sentence of what {tool.name} does",
                anchor=tool.name,
                subject=tool.name,
            )


@operator(
    "tool.share_name",
    why="Two servers have a tool of the same name: the model is told of one, and the call goes to the other.",
    examples=[
        tools_example(
            (LOOK_UP, REFUND),
            (
                LOOK_UP.model_copy(
                    update={"description": REFUND.description, "parameters": REFUND.parameters}
                ),
            ),
        )
    ],
    lack="the agent has fewer than two tools",
    on_demand=True,
)
def share_name(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each tool but the last: the next tool is told under its name, and is not there any more."""
    for index, (tool, other) in enumerate(pairwise(config.tools)):
        edits = tuple(
            Edit(pointer=f"/tools/{index}/{name}", before=getattr(tool, name), after=getattr(other, name))
            for name in ("description", "parameters")
            if getattr(tool, name) != getattr(other, name)
        )
        gone = Edit(pointer=f"/tools/{index + 1}", before=other.model_dump(mode="json"), after=None)
        yield Candidate(
            edits=(*edits, gone),
            description=f"tell of {other.name} under the name {tool.name}",
            anchor=f"{tool.name} {other.name}",
            subject=tool.name,
        )
