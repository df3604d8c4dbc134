"""DSPy's fields in XML, as its `XMLAdapter` asks for them: `<name>` around each value, and elements in elements.

Of a nested value the request shows the elements, and not the types of what stands in them:
`<person><vip>...</vip></person>`. So these elements get a text that is read as any of the usual types. The words of an
enum are known where the type of the field spells them, or where another field has the same type or name. Nothing in the
request tells any other enum; there the reply is not parsed, and DSPy asks again by its `JSONAdapter`, with a schema.
"""

import ast
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

_OPENING = re.compile(r"^<(\w+)>\n", re.M)
_NESTED = r"^(<{name}>.+</{name}>)$"
_OF_ANY_TYPE: Mapping[str, Any] = {"const": "1"}
"""What stands in an element of unknown type: read as a text, a number and a truth value alike."""
_LIST = re.compile(r"(?:Optional\[|Union\[)?list\[(\w+(?:\[.*?\])?)\]")
_WORDS = re.compile(r"Literal(\[.*\])")


def is_wanted(asked: str) -> bool:
    """Return whether the end of a request asks for fields in XML."""
    return "wrapped in XML tags" in asked


def values(text: str) -> dict[str, str]:
    """Return the values of fields by name, and those within a trajectory after it.

    >>> values("<ask>\\nWhere?\\n</ask>\\n\\n<trajectory>\\n<thought_0>\\nI look.\\n</thought_0>\\n</trajectory>")
    {'ask': 'Where?', 'trajectory': '<thought_0>\\nI look.\\n</thought_0>', 'thought_0': 'I look.'}
    """
    found = {name: value.strip() for name, value in _fields(text)}
    return found | (values(found["trajectory"]) if found.get("trajectory") else {})


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the outermost elements that begin on a line of their own, in one walk over the text."""
    at, never_closed = 0, set[str]()
    while opening := _OPENING.search(text, at):
        name, at = opening[1], opening.end()
        closing = None if name in never_closed else re.compile(rf"</{name}>$", re.M).search(text, at)
        if closing is None:
            never_closed.add(name)
        else:
            yield name, text[at : closing.start()]
            at = closing.end()


class KnownSchemas(NamedTuple):
    """The schemas that the request tells: by the type of a field, and by its name."""

    types: Mapping[str, Mapping[str, Any]]
    names: Mapping[str, Mapping[str, Any]]


def schema(system: str, name: str, kind: str, known: KnownSchemas) -> dict[str, Any] | None:
    """Return the schema of a field whose elements the request shows; None for any other field."""
    shown = re.search(_NESTED.format(name=name), system, re.M)
    if shown is None:
        return None
    if kind.startswith("dict"):
        return {"type": "object"}
    if (of := _LIST.match(kind)) and (item := _of_type(of[1], known)) is not None:
        return {"type": "array", "items": item}
    try:
        return _schema_of(ET.fromstring(shown[1]), known)
    except ET.ParseError:
        return dict(_OF_ANY_TYPE)


def _of_type(kind: str, known: KnownSchemas) -> Mapping[str, Any] | None:
    """Return the schema of a type by its name.

    >>> _of_type("Literal['new', 'old']", KnownSchemas({}, {}))
    {'enum': ['new', 'old']}
    """
    if words := _WORDS.fullmatch(kind):
        try:
            return {"enum": list(ast.literal_eval(words[1]))}
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return known.types.get(kind)


def spelled(fields: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the values as elements; an object whose parts have no names in the schema is written as JSON.

    >>> print(spelled({"urgent": True, "people": [{"name": "Ann & Bo"}], "args": {"number": 3}}, {}))
    <urgent>
    True
    </urgent>
    <BLANKLINE>
    <people>
    <item><name>Ann &amp; Bo</name></item>
    </people>
    <BLANKLINE>
    <args>
    {"number": 3}
    </args>
    """
    return "\n\n".join(
        f"<{name}>\n{_element_text(value, schemas.get(name, {}))}\n</{name}>"
        for name, value in fields.items()
    )


def _schema_of(element: ET.Element, known: KnownSchemas) -> dict[str, Any]:
    if not len(element):
        return dict(known.names.get(element.tag, _OF_ANY_TYPE))
    if [child.tag for child in element] == ["item"]:
        return {"type": "array", "items": _schema_of(element[0], known)}
    parts = {child.tag: _schema_of(child, known) for child in element}
    return {"type": "object", "properties": parts, "required": list(parts)}


def _element_text(value: Any, schema: Mapping[str, Any]) -> str:
    if isinstance(value, dict) and "properties" not in schema:
        return escape(json.dumps(value))
    return _elements(value)


def _elements(value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"<item>{_elements(item)}</item>" for item in value)
    if isinstance(value, dict):
        return "".join(f"<{name}>{_elements(part)}</{name}>" for name, part in value.items())
    return escape("" if value is None else str(value))
