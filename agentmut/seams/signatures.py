"""Whether a plugin has the methods and arguments of its seam, and if not, which one is wrong."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from inspect import Parameter
from types import FunctionType
from typing import Any, ClassVar, get_origin, get_type_hints

from agentmut.nouns import Codec
from agentmut.seams.capability import capability_faults
from agentmut.seams.protocols.adapter import Adapter
from agentmut.seams.protocols.config_reader import ConfigReader
from agentmut.seams.protocols.evaluator import Evaluator
from agentmut.seams.protocols.operator import Operator
from agentmut.seams.protocols.relation import Relation
from agentmut.seams.protocols.report_format import ReportFormat
from agentmut.seams.protocols.suite import Importer
from agentmut.seams.protocols.trace_format import TraceFormat

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_PROTOCOLS: Mapping[str, type[Any]] = {
    "adapters": Adapter,
    "codecs": Codec,
    "operators": Operator,
    "relations": Relation,
    "evaluators": Evaluator,
    "importers": Importer,
    "config_readers": ConfigReader,
    "report_formats": ReportFormat,
    "trace_formats": TraceFormat,
}


def signature_faults(plugin: Any, group: str, name: str) -> tuple[str, ...]:
    """Return what is wrong with `plugin` as a member of `group`, one phrase a fault; empty when nothing is."""
    if not inspect.isclass(plugin):
        return (f"expected a class, found {type(plugin).__name__}",)
    kind: Any = plugin  # mypy takes __hash__ of a class for that of its instances
    return _class_faults(kind, group, name)


@lru_cache(maxsize=1024)  # a campaign asks for each of a hundred operators several times
def _class_faults(plugin: Any, group: str, name: str) -> tuple[str, ...]:
    shape = protocol_faults(plugin, _PROTOCOLS[group], name)
    return (*_construction_faults(plugin, group), *shape, *capability_faults(plugin, group))


def protocol_faults(plugin: type[Any], protocol: type[Any], name: str) -> tuple[str, ...]:
    """Return what a class lacks of a protocol, one phrase a fault."""
    faults = [*_attribute_faults(plugin, protocol, name)]
    for method, expected in vars(protocol).items():
        if not method.startswith("_") and isinstance(expected, classmethod | FunctionType):
            faults += _method_faults(plugin, method, expected)
    return tuple(faults)


def _attribute_faults(plugin: type[Any], protocol: type[Any], name: str) -> Iterator[str]:
    for attribute, hint in get_type_hints(protocol).items():
        if get_origin(hint) is not ClassVar:
            continue
        if not hasattr(plugin, attribute):
            yield f"class attribute {attribute!r} is missing"
        elif attribute in ("id", "name") and getattr(plugin, attribute) != name:
            yield f"its {attribute} is {getattr(plugin, attribute)!r}, but it is registered as {name!r}"


def _construction_faults(plugin: type[Any], group: str) -> Iterator[str]:
    if group in ("adapters", "importers"):  # built by their own `create`
        return
    given = ("argument",) if group in ("evaluators", "relations") else ()
    try:
        inspect.signature(plugin).bind(*given)
    except TypeError as error:
        yield f"{plugin.__name__}() must be callable with ({', '.join(given)}): {error}"
    except ValueError:  # classes written in C have no signature to compare
        return


def _method_faults(plugin: type[Any], method: str, expected: Any) -> Iterator[str]:
    found = inspect.getattr_static(plugin, method, None)
    if found is None:
        yield f"method {method}() is missing; expected {_signature_text(_names(expected))}"
        return
    if isinstance(expected, classmethod) and not isinstance(found, classmethod | staticmethod):
        yield f"{method}() must be a classmethod"
        return
    if not callable(_function(found)):
        yield f"{method} is not a method"
        return
    yield from _parameter_faults(method, _parameters(found), _names(expected))
    if inspect.iscoroutinefunction(_function(expected)) and not inspect.iscoroutinefunction(_function(found)):
        yield f"{method}() must be an async function"
    if inspect.iscoroutinefunction(_function(found)) and not inspect.iscoroutinefunction(_function(expected)):
        yield f"{method}() must be no async function"


def _parameter_faults(method: str, found: list[Parameter], expected: list[str]) -> Iterator[str]:
    named = [parameter.name for parameter in found if parameter.kind not in VARIADIC]
    takes_any = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in found)
    missing = [] if takes_any else [name for name in expected if name not in named]
    required = [p.name for p in found if p.kind not in VARIADIC and p.default is Parameter.empty]
    unknown = [name for name in required if name not in expected]
    shown = _signature_text(expected)
    for name in missing:
        yield f"{method}() has no parameter {name!r}; expected {shown}"
    for name in unknown:
        yield f"{method}() has the unknown parameter {name!r}; expected {shown}"
    in_order = [name for name in named if name in expected]
    if not missing and not unknown and in_order != [name for name in expected if name in named]:
        yield f"{method}() takes its parameters in the order {_signature_text(in_order)}; expected {shown}"


def _function(member: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(member, "__func__", member)
    return function


def _parameters(member: Any) -> list[Parameter]:
    parameters = list(inspect.signature(_function(member)).parameters.values())
    bound = not isinstance(member, staticmethod) and parameters and parameters[0].kind not in VARIADIC
    return parameters[1:] if bound else parameters


def _names(member: Any) -> list[str]:
    return [parameter.name for parameter in _parameters(member)]


def _signature_text(parameters: list[str]) -> str:
    return f"({', '.join(parameters)})"
