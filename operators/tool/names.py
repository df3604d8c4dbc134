"""What a tool is called, and tools that look like another."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.nouns import AgentConfig, Candidate, Edit, FaultKind, ToolFault, ToolSpec
from agentmut.operators.shared_edits import takes_english
from agentmut.operators.tool.example_tools import LOOK_UP, REFUND, tools_example
from agentmut.seams import OperatorOptions, operator

_GET = LOOK_UP.model_copy(update={"name": "get_order"})
_RENAMED = _GET.model_copy(update={"name": "fetch_order", "implemented_by": "get_order"})
_DECOY = _GET.model_copy(
    update={
        "name": "get_order_v2",
        "description": "Look up an order by its number. (new version)",
        "fault": ToolFault(kind=FaultKind.DECOY),
    }
)
LONGEST_NAME = 64
"""What services take."""

_VERBS: Mapping[str, str] = shipped("agentmut.operators.tool", "other_words")["verbs"]


@operator(
    "tool.rename",
    why="Tools are renamed to a new convention, and the prompt goes on with the old names.",
    examples=[tools_example((_GET, REFUND), (_RENAMED, REFUND))],
)
def rename(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Up to three mutants per tool: another verb, another style of writing, a version at the end.

    What the tool does stays the same, and so do the prompt and other descriptions, which may speak of it
    by its old name. Names that are taken or too long are left out.
    """
    taken = set(config.tool_names)
    for index, tool in enumerate(config.tools):
        for name in dict.fromkeys((_other_verb(tool.name), _other_style(tool.name), next_version(tool.name))):
            if name and name not in taken and len(name) <= LONGEST_NAME:
                yield _renamed(index, tool, name)


def _renamed(index: int, tool: ToolSpec, name: str) -> Candidate:
    called = Edit(pointer=f"/tools/{index}/name", before=tool.name, after=name)
    carried_out = Edit(
        pointer=f"/tools/{index}/implemented_by", before=tool.implemented_by, after=tool.own_name
    )
    return Candidate(
        edits=(called, carried_out),
        description=f"rename the tool {tool.name} to {name}",
        anchor=tool.name,
        subject=tool.name,
    )


def _other_verb(name: str) -> str:
    """Return the name with another verb in front, in the same style; empty where the verb is not known.

    >>> [_other_verb(name) for name in ("get_order", "getOrder", "look_up_order", "gettext")]
    ['fetch_order', 'fetchOrder', 'find_order', '']
    """
    joined = snake(name)
    verb = max((verb for verb in _VERBS if f"{joined}_".startswith(f"{verb}_")), key=len, default="")
    if not verb:
        return ""
    other = _VERBS[verb] + joined[len(verb) :]
    return other if name == joined else _camel(other)


def _other_style(name: str) -> str:
    """Snake case as camel case and back; empty where a name is neither."""
    if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", name):
        return _camel(name)
    return snake(name) if re.fullmatch(r"[a-z]+([A-Z][a-z0-9]+)+", name) else ""


def next_version(name: str) -> str:
    """Return the name of the tool's successor.

    >>> [next_version(name) for name in ("find", "findOrder", "find_v2")]
    ['find_v2', 'findOrderV2', 'find_v3']
    """
    numbered = re.fullmatch(r"(.+?_?[vV])(\d{1,3})", name)
    if numbered:
        return numbered[1] + str(int(numbered[2]) + 1)
    return name + ("V2" if re.search("[a-z][A-Z]", name) and "_" not in name else "_v2")


def snake(name: str) -> str:
    """Return a name with its words joined by underscores.

    >>> snake("refundOrder")
    'refund_order'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@operator(
    "tool.decoy",
    why="The successor of a tool, or its forgotten predecessor, is registered next to it.",
    examples=[tools_example((_GET, REFUND), (_GET, _DECOY, REFUND))],
)
def decoy(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per tool: behind it stands a newer version (an older one, where that name is taken).

    It takes the same arguments and has nothing: every call is answered with nothing found. A description that is not
    English is the same for both, without an English remark.
    """
    taken = set(config.tool_names)
    for index, tool in enumerate(config.tools):
        known = ((next_version(tool.name), "(new version)"), (f"{tool.name}_legacy", "(legacy)"))
        for name, remark in known:
            if name not in taken and len(name) <= LONGEST_NAME:
                yield _decoy(index, tool, name, remark if takes_english(config, tool.description) else "")
                break


def _decoy(index: int, tool: ToolSpec, name: str, remark: str) -> Candidate:
    description = f"{tool.description.rstrip()} {remark}".strip()
    twin = ToolSpec(
        name=name,
        description=description,
        parameters=tool.parameters,
        fault=ToolFault(kind=FaultKind.DECOY),
    )
    inserted: JsonValue = twin.model_dump(mode="json")
    return Candidate(
        edits=(Edit(pointer=f"/tools/{index + 1}", before=None, after=inserted),),
        description=f"offer {name} next to {tool.name}; it finds nothing",
        anchor=tool.name,
        subject=tool.name,
    )
