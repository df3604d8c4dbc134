"""Capabilities: features of a plugin beyond its protocol. A plugin declares one by inheriting its class.

This is the one way for plugins of all kinds. An attribute that merely has the name of a capability's member does
nothing. When a plugin is loaded, `capability_faults` checks what it declares.
"""

import inspect
from abc import ABC
from collections.abc import Iterator
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from agentmut._base import one_line

_SHOWN = 80
"""Characters of a value that an error shows."""


class Capability(ABC):
    """The base of all capabilities. Its direct subclasses are the capabilities that agentmut knows."""

    kind: ClassVar[str]
    """The group of plugins that the capability is for, such as `evaluators`."""

    def __init_subclass__(cls, *, kind: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        if kind:
            cls.kind = kind


def declared(plugin: type[Any]) -> tuple[type[Capability], ...]:
    """Return the capabilities that a plugin's class declares, in the order of their inheritance."""
    return tuple(one for one in plugin.__mro__ if Capability in one.__bases__ and "kind" in vars(one))


def capability_faults(plugin: type[Any], group: str) -> Iterator[str]:
    """Yield the faults of the capabilities that a plugin's class declares, one phrase each."""
    for capability in declared(plugin):
        name = capability.__name__
        if capability.kind != group:
            yield f"it declares {name}, which is a capability of {capability.kind}"
            continue
        for attribute, hint in get_type_hints(capability).items():
            if get_origin(hint) is ClassVar:
                yield from _class_attribute_faults(plugin, name, attribute, get_args(hint)[0])
        for member, expected in vars(capability).items():
            if not member.startswith("_") and member != "kind":
                yield from _member_faults(plugin, name, member, expected)


def _class_attribute_faults(
    plugin: type[Any], capability: str, attribute: str, expected: Any
) -> Iterator[str]:
    try:
        value = getattr(plugin, attribute)
    except AttributeError:
        yield f"it declares {capability}, but has no class attribute {attribute}"
        return
    if not fits(value, expected):
        yield f"it declares {capability}: {attribute} is {shown(value)}; expected {type_name(expected)}"


def _member_faults(plugin: type[Any], capability: str, member: str, expected: Any) -> Iterator[str]:
    found = inspect.getattr_static(plugin, member)
    if found is expected and getattr(getattr(expected, "__func__", expected), "__isabstractmethod__", False):
        yield f"it declares {capability}, but has no {member}{'' if isinstance(expected, property) else '()'}"
    elif isinstance(expected, property):
        if inspect.isfunction(getattr(found, "__func__", found)):
            yield f"it declares {capability}: {member} must be a property or an attribute, and no method"
    else:
        yield from _method_faults(capability, member, found, expected)


def _method_faults(capability: str, member: str, found: Any, expected: Any) -> Iterator[str]:
    found, expected = (getattr(one, "__func__", one) for one in (found, expected))
    if not inspect.isfunction(found):
        yield f"it declares {capability}: {member} must be a method"
    elif inspect.iscoroutinefunction(found) != inspect.iscoroutinefunction(expected):
        kind = "an async" if inspect.iscoroutinefunction(expected) else "no async"
        yield f"it declares {capability}: {member}() must be {kind} method"
    else:
        given, wanted = (list(inspect.signature(one).parameters)[1:] for one in (found, expected))
        if given != wanted:
            yield f"it declares {capability}: {member}() takes ({', '.join(given)}); expected ({', '.join(wanted)})"


def attribute_faults(plugin: object) -> Iterator[str]:
    """Yield the faults of the attributes that declared capabilities promise, one phrase each."""
    for capability in declared(type(plugin)):
        for attribute, hint in get_type_hints(capability).items():
            if get_origin(hint) is not ClassVar:
                yield from _attribute_faults(plugin, capability.__name__, attribute, hint)


def _attribute_faults(plugin: object, capability: str, attribute: str, expected: Any) -> Iterator[str]:
    try:
        value = getattr(plugin, attribute, None)
    except Exception as error:  # a property may raise anything at all
        yield f"it declares {capability}, but its attribute {attribute} raised {one_line(error)}"
        return
    if value is None:
        yield f"it declares {capability}, but its attribute {attribute} is missing or None"
    elif not fits(value, expected):
        yield f"it declares {capability}: its attribute {attribute} is {shown(value)}; expected {type_name(expected)}"


def fits(value: object, expected: Any) -> bool:
    """Return whether a value is of a type, a generic type or a literal. It is not converted."""
    if isinstance(expected, type):
        return isinstance(value, expected)
    try:
        TypeAdapter(expected).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def shown(value: object) -> str:
    """Return a value in the form that errors show: the beginning of its `repr`, or its type if `repr` fails."""
    try:
        return repr(value)[:_SHOWN]
    except Exception:  # its own repr may be what is broken
        return f"a {type(value).__name__}"


def type_name(expected: Any) -> str:
    """Return a type in the form that errors show."""
    return (
        expected.__name__
        if isinstance(expected, type)
        else str(expected).replace("collections.abc.", "").replace("typing.", "")
    )
