"""DSPy's programs, whose inputs, outputs and tools are fields in text: read as such, and answered in their terms.

`ChatAdapter` wants `[[ ## field ## ]]` before each value, `JSONAdapter` an object, and `XMLAdapter` elements. A `ReAct`
has its tools described in its instructions and its calls in the field `trajectory`. Examples before the last message
are not read.
"""

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentmut._base import inlined
from agentmut.nouns import Message, ModelReply, ModelRequest, Role, ToolCall, ToolSpec
from agentmut.simulator.mind.behave import CHARS_PER_TOKEN, ended
from agentmut.simulator.service import xml_fields

_OUTPUTS = re.compile(r"^Your output fields are:\n(.*?)^All interactions will be structured", re.M | re.S)
_OUTPUT = re.compile(r"^\d+\. `(\w+)` \((.*)\):(.*)$", re.M)
_OBJECTIVE = re.compile(r"^In adhering to this structure, your objective is: *\n", re.M)
_LOOP = re.compile(r"^You are an Agent\. In each episode, you will be given the fields? ", re.M)
_TOOL = re.compile(
    r"^\(\d+\) (\w+), whose description is <desc>(.*?)</desc>\. It takes arguments (\{.*?\})\.$", re.M | re.S
)
_FIELD = re.compile(r"^\[\[ ## (\w+) ## \]\]$\n?", re.M)
_ASKED = re.compile(r"^Respond with (?:the corresponding output fields|a JSON object)", re.M)
_NOTE = r'[ "]*\{{{name}\}}\s+# note: the value you produce must (.*?)"?,?$'
_STEP = re.compile(r"trajectory|(?:thought|tool_name|tool_args|observation)_\d+")
"""What a trajectory is told by."""
_REASONING = "reasoning"
_CALL = ("next_thought", "next_tool_name", "next_tool_args")
_END = "finish"
_SCALARS: Mapping[str, Mapping[str, str]] = {
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
}


def answered(request: ModelRequest, reply: Callable[..., ModelReply], **options: Any) -> ModelReply:
    """Return what `reply` answers to a request, as fields where the request asks for fields."""
    outputs = _outputs(request.system_text)
    if not outputs:
        return reply(request, **options)
    said = reply(_understood(request, outputs), **{**options, "parallel": False})
    values = _of_call(said) if set(_CALL) <= outputs.keys() else _of_answer(said, outputs)
    wanted = _last_said(request).rpartition("\n\n")[2]
    if xml_fields.is_wanted(wanted):
        text = xml_fields.spelled(values, outputs)
    else:
        text = json.dumps(values) if "JSON object" in wanted else _spelled(values)
    limit = request.max_tokens * CHARS_PER_TOKEN if request.max_tokens else None
    kept = ended(text, request.stop, limit)
    return said.model_copy(update={"text": kept.text, "tool_calls": (), "finish_reason": kept.finish_reason})


def _outputs(system: str) -> dict[str, dict[str, Any]]:
    """Return the schemas of the wanted fields by name; nothing for a request of any other agent."""
    listed = _OUTPUTS.search(system)
    found = _OUTPUT.findall(listed[1]) if listed else []
    plain = {name: (kind, _plain_schema(system, name, kind)) for name, kind, _ in found}
    of_types = {kind: schema for kind, schema in plain.values() if "enum" in schema}
    of_names = {name: schema for name, (_, schema) in plain.items() if "enum" in schema}
    known = xml_fields.KnownSchemas({**_SCALARS, **of_types}, of_names)
    return {
        name: {
            "description": said.strip(),
            **(
                plain[name][1] if (nested := xml_fields.schema(system, name, kind, known)) is None else nested
            ),
        }
        for name, kind, said in found
    }


def _plain_schema(system: str, name: str, kind: str) -> dict[str, Any]:
    """Return the schema that the note behind a field tells, or else its type."""
    noted = re.search(_NOTE.format(name=name), system, re.M)
    note = noted[1] if noted else ""
    if " one of: " in note:
        return {"enum": note.partition(" one of: ")[2].split("; ")}
    if "JSON schema: " in note:
        return _read_schema(note.partition("JSON schema: ")[2])
    return dict(_SCALARS.get(kind, {"type": "string"}))


def _read_schema(text: str) -> dict[str, Any]:
    """Read a schema, with its definitions in their places; within an object its quotation marks are escaped."""
    for written in (text, text.replace('\\"', '"')):
        try:
            found = json.loads(written)
        except ValueError:
            continue
        return inlined(found) if isinstance(found, dict) else {}
    return {}


def _understood(request: ModelRequest, outputs: Mapping[str, Any]) -> ModelRequest:
    """Return the request as an agent with native tools and a response format would have made it."""
    objective = textwrap.dedent(_OBJECTIVE.split(request.system_text)[-1])
    loops = set(_CALL) <= outputs.keys()
    given = _values(_last_said(request))
    asked = "\n".join(value for name, value in given.items() if value and not _STEP.fullmatch(name))
    messages = (
        Message(role=Role.SYSTEM, text=_LOOP.split(objective)[0].strip()),
        Message(role=Role.USER, text=asked),
        *_calls(given),
    )
    wanted = {name: schema for name, schema in outputs.items() if name != _REASONING}
    schema = {"type": "object", "properties": wanted, "required": list(wanted)}
    form = None if loops else {"type": "json_schema", "json_schema": {"name": "fields", "schema": schema}}
    return request.model_copy(
        update={
            "messages": messages,
            "tools": tuple(_tools(objective)) if loops else (),
            "response_format": form,
            "max_tokens": None,
            "stop": (),
        }
    )


def _last_said(request: ModelRequest) -> str:
    return next((m.text for m in reversed(request.messages) if m.role is Role.USER), "")


def _values(text: str) -> dict[str, str]:
    """Return the values of fields by name, in their order."""
    _, *parts = _FIELD.split(_ASKED.split(text)[0])
    if not parts:
        return xml_fields.values(_ASKED.split(text)[0])
    return {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}


def _calls(steps: Mapping[str, str]) -> Iterator[Message]:
    """Yield the calls of a trajectory and their results; the end of the loop is none."""
    for number in range(len(steps)):
        name = steps.get(f"tool_name_{number}")
        if name is None:
            return
        if name != _END:
            call = ToolCall(id=f"field-{number}", name=name, arguments=steps.get(f"tool_args_{number}", "{}"))
            yield Message(role=Role.ASSISTANT, tool_calls=(call,))
            result = steps.get(f"observation_{number}", "")
            yield Message(role=Role.TOOL, text=result, tool_call_id=call.id)


def _tools(text: str) -> Iterator[ToolSpec]:
    for name, description, arguments in _TOOL.findall(text):
        try:
            properties = ast.literal_eval(arguments)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            properties = {}
        if name != _END and isinstance(properties, dict):
            needed = [
                key for key, body in properties.items() if not (isinstance(body, dict) and "default" in body)
            ]
            parameters = {"type": "object", "properties": properties, "required": needed}
            yield ToolSpec(name=name, description=description, parameters=parameters)


def _of_call(reply: ModelReply) -> dict[str, Any]:
    if not reply.tool_calls:
        return dict(zip(_CALL, ("I know what there is to know.", _END, {}), strict=True))
    call = reply.tool_calls[0]
    return dict(zip(_CALL, ("I need to use a tool.", call.name, json.loads(call.arguments)), strict=True))


def _of_answer(reply: ModelReply, outputs: Mapping[str, Any]) -> dict[str, Any]:
    values = json.loads(reply.text)
    thought = {_REASONING: "This is what the fields tell."}
    return {name: {**thought, **values}.get(name) for name in outputs}


def _spelled(values: Mapping[str, Any]) -> str:
    """Return the values, each below its name, as Python and JSON write them.

    >>> _spelled({"urgent": True, "tags": ["new"]})
    '[[ ## urgent ## ]]\\nTrue\\n\\n[[ ## tags ## ]]\\n["new"]\\n\\n[[ ## completed ## ]]'
    """
    written = (
        f"[[ ## {name} ## ]]\n{value if isinstance(value, str | bool) else json.dumps(value)}"
        for name, value in values.items()
    )
    return "\n\n".join([*written, "[[ ## completed ## ]]"])
