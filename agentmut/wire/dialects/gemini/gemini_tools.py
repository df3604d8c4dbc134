"""Tools of Gemini: groups of declarations, with schemas in the style of JSON Schema or of OpenAPI."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentmut.nouns import EMPTY_SCHEMA, Body, OfferedTool, ToolSpec
from agentmut.wire import bodies
from agentmut.wire.dialects.gemini.spelling import snake, used
from agentmut.wire.dialects.offers import read_spec, with_spec
from agentmut.wire.dialects.places import same

_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_AS_THEY_ARE = frozenset({"default", "example", "enum", "const", "examples"})
_SCHEMA_KEYS = ("parameters", "parametersJsonSchema", "parameters_json_schema")


def offered(body: Body) -> Iterator[OfferedTool]:
    """Yield the declared tools, and without a spec each that the service brings along (search, code execution)."""
    for index, found in enumerate(bodies.listing(body.get("tools"), "tools")):
        group = bodies.mapping(found, f"tools[{index}]")
        for key, value in group.items():
            if key != used(group, "functionDeclarations"):
                yield OfferedTool(None, {key: value})
                continue
            for i, entry in enumerate(bodies.listing(value, f"tools[{index}].{key}")):
                yield OfferedTool(_spec(entry, f"tools[{index}].{key}[{i}]"), entry)


def with_tools(body: Body, tools: Sequence[OfferedTool]) -> Body:
    """Return the body with these tools: declarations in the place of the first group, others in their places."""
    entries = [_written(tool) for tool in tools if tool.spec is not None]
    brought = [tool.raw for tool in tools if tool.spec is None]
    groups: list[Body] = []
    for group in body.get("tools") or ():
        key = used(group, "functionDeclarations")
        kept = {name: entries if name == key else value for name, value in group.items()}
        groups.append(
            {n: v for n, v in kept.items() if (v and n == key) or any(same({n: v}, raw) for raw in brought)}
        )
        entries = [] if key in group else entries
    if entries:
        groups.append({"functionDeclarations": entries})
    return {**body, "tools": [group for group in groups if group]}


def normalised(schema: Any) -> Any:
    """Return a schema as JSON Schema: types in lower case, keys in camelCase, counts as numbers.

    The order of properties, which the service takes as a list of its own, goes: it must not name one that is gone.
    """
    if isinstance(schema, list):
        return [normalised(found) for found in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        _camel(key): _normal_value(key, value)
        for key, value in schema.items()
        if _camel(key) != "propertyOrdering"
    }


def written_like(raw: Any, schema: Any, *, upper: bool) -> Any:
    """Return a JSON Schema in the style of `raw`, wherever both have the same meaning."""
    if isinstance(raw, dict | list) and same(normalised(raw), schema):
        return raw
    if isinstance(schema, list):
        return [written_like(None, found, upper=upper) for found in schema]
    if not isinstance(schema, dict):
        return schema
    old = raw if isinstance(raw, dict) else {}
    return {
        used(old, key): _value_like(old.get(used(old, key)), key, value, upper=upper)
        for key, value in schema.items()
    }


def is_upper(schema: Any) -> bool:
    """Return whether a schema writes its types in upper case."""
    return isinstance(schema, dict) and schema.get("type") in _TYPES


def _spec(entry: Any, where: str) -> ToolSpec:
    declared = bodies.mapping(entry, where)
    key = _schema_key(declared)
    schema = {} if key is None else bodies.mapping(declared[key], f"{where}.{key}")
    plain = {"name": declared.get("name"), "description": declared.get("description")}
    return read_spec({**plain, "parameters": normalised(schema)}, where)


def _schema_key(entry: Mapping[str, Any]) -> str | None:
    return next((key for key in _SCHEMA_KEYS if entry.get(key) is not None), None)


def _written(tool: OfferedTool) -> Body:
    if tool.spec is None or tool.raw is None:
        return _entry(tool.spec) if tool.spec else tool.raw
    entry, key = with_spec(tool.raw, tool.spec, None), _schema_key(tool.raw)
    if same(_spec(tool.raw, "the tool").parameters, tool.spec.parameters):
        return entry
    raw = tool.raw.get(key) if key else None
    schema = written_like(raw, tool.spec.parameters, upper=is_upper(raw))
    return {**entry, key or "parametersJsonSchema": schema}


def _entry(spec: ToolSpec) -> Body:
    """Return a declaration; the service refuses an object without properties, so that a tool without any
    has no schema.
    """
    described = {"description": spec.description} if spec.description else {}
    schema = {} if same(spec.parameters, dict(EMPTY_SCHEMA)) else {"parametersJsonSchema": spec.parameters}
    return {"name": spec.name, **described, **schema}


def _normal_value(key: str, value: Any) -> Any:
    if key in _AS_THEY_ARE:
        return value
    if key == "type":
        return value.lower() if isinstance(value, str) and value in _TYPES else normalised(value)
    if key in ("properties", "$defs", "defs") and isinstance(value, dict):
        return {name: normalised(found) for name, found in value.items()}
    counts = key.startswith(("min", "max")) and isinstance(value, str) and value.isdecimal()
    return int(value) if counts else normalised(value)


def _value_like(raw: Any, key: str, value: Any, *, upper: bool) -> Any:
    if key in _AS_THEY_ARE:
        return value
    if key == "type" and isinstance(value, str):
        return raw if isinstance(raw, str) and raw.lower() == value else value.upper() if upper else value
    if key in ("properties", "$defs", "defs") and isinstance(value, dict):
        old = raw if isinstance(raw, dict) else {}
        return {name: written_like(old.get(name), found, upper=upper) for name, found in value.items()}
    return (
        raw
        if raw is not None and same(_normal_value(key, raw), value)
        else written_like(raw, value, upper=upper)
    )


def _camel(key: str) -> str:
    head, *humps = key.split("_")
    camel = head + "".join(hump.capitalize() for hump in humps)
    return camel if humps and head and snake(camel) == key else key
