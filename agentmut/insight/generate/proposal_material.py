"""The material of proposals: the agent's texts, the suite's inputs, and values seen in runs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import Parameter, canonical_json, parameters
from agentmut.insight.generate.drawing import UNUSABLE
from agentmut.insight.generate.user_wording import in_words
from agentmut.language import FactKind, facts, stems
from agentmut.nouns import AgentConfig, AgentTrace, Scenario

LONGEST_VALUE = 60
"""Characters of a value that a user would spell out."""

_EXAMPLE = re.compile(
    r"(?:such as|e\.g\.,?|for example,?|like|as in)\s+[\"'“]?(?P<value>[^\s,;\"'”)]+)", re.I
)
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]+\.[\w.-]*\w")


class Material(NamedTuple):
    """The material in a fixed order, so that proposals are reproducible."""

    config: AgentConfig
    """The suite's full config."""
    scenarios: tuple[Scenario, ...]
    observed: Mapping[str, tuple[JsonValue, ...]]
    """By name of parameter: the values that stored runs have given to it."""
    results: Mapping[str, tuple[JsonValue, ...]]
    """By name of a field: the values that results of tools have had in it, those of lists one by one."""
    traces: Mapping[str, AgentTrace]
    """A run of the original on each scenario that has one."""


def material(
    config: AgentConfig, scenarios: Iterable[Scenario], traces: Mapping[str, tuple[AgentTrace, ...]]
) -> Material:
    """`traces` are stored runs of the original by scenario."""
    suite = tuple(scenarios)
    ordered = [trace for scenario in suite for trace in traces.get(scenario.name, ())]
    first = {s.name: traces[s.name][0] for s in suite if traces.get(s.name)}
    return Material(config, suite, _observed(ordered), _in_results(ordered), first)


def texts(turns: Iterable[JsonValue]) -> tuple[str, ...]:
    """Return the turns as text."""
    return tuple(turn if isinstance(turn, str) else canonical_json(turn) for turn in turns)


def whole(turns: Iterable[JsonValue]) -> str:
    """Return the user's side of a conversation as one text."""
    return "\n".join(texts(turns))


def known_values(known: Material, parameter: Parameter) -> tuple[JsonValue, ...]:
    """Return plausible values of a parameter, the likeliest first; empty where nothing is known of it.

    The values were seen in runs, or stand in its description, in its schema or in inputs.
    """
    if _names_one(parameter):
        return _fitting(_identifiers(known, parameter), parameter)
    found = [*known.observed.get(parameter.name, ()), *_listed(parameter)]
    if not found:
        found = [*_in_inputs(known, parameter), *_exemplified(parameter), *_of_results(known, parameter)]
    return _fitting(found, parameter)


def _names_one(parameter: Parameter) -> bool:
    """Return whether the parameter's name shows that its values are identifiers."""
    return in_words(parameter.name).split()[-1:] in (["id"], ["ids"], ["uuid"])


def _identifiers(known: Material, parameter: Parameter) -> Iterator[JsonValue]:
    """Yield the parameter's values in runs; else values from inputs and results that may be identifiers."""
    name = in_words(parameter.name)
    own = [
        *known.observed.get(parameter.name, ()),
        *_listed(parameter),
        *known.results.get(parameter.name, ()),
    ]
    inputs = [*_exemplified(parameter), *_in_inputs(known, parameter)]
    plain = [value for field in ("id", "id_", "_id") for value in known.results.get(field, ())]
    found = own or [value for value in inputs if not _is_moment(value)] or plain
    yield from (value for value in found if name not in ("", str(value)) and not isinstance(value, bool))


def _is_moment(value: JsonValue) -> bool:
    """Return whether a value is a date or a time, or an ordinal as in "the 24th"."""
    text = str(value)
    kinds = {fact.kind for fact in facts(f"It is {text}.")}
    return bool(kinds & {FactKind.DATE, FactKind.TIME} or re.fullmatch(r"\d+(?:st|nd|rd|th)", text, re.I))


def _fitting(values: Iterable[JsonValue], parameter: Parameter) -> tuple[JsonValue, ...]:
    return tuple({canonical_json(value): value for value in values if fits(value, parameter)}.values())


def fits(value: JsonValue, parameter: Parameter) -> bool:
    """Return whether a value is valid by the parameter's own schema, as far as this schema is complete."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        return bool(Draft202012Validator(dict(parameter.schema)).is_valid(value))
    except (SchemaError, Unresolvable, *UNUSABLE):
        return False


def arguments_named(tool_parameters: Mapping[str, JsonValue]) -> tuple[Parameter, ...]:
    """Return the top-level parameters of a tool."""
    return tuple(p for p in parameters(tool_parameters) if not p.owner)


def _observed(traces: Iterable[AgentTrace]) -> dict[str, tuple[JsonValue, ...]]:
    seen: dict[str, dict[str, JsonValue]] = {}
    for trace in traces:
        for call in trace.tool_calls:
            for name, value in (call.arguments or {}).items():
                if not isinstance(value, dict | list) and value not in (None, ""):
                    seen.setdefault(name, {})[canonical_json(value)] = value
    return {name: tuple(values.values()) for name, values in seen.items()}


def _in_results(traces: Iterable[AgentTrace]) -> dict[str, tuple[JsonValue, ...]]:
    seen: dict[str, dict[str, JsonValue]] = {}
    outputs = (_parsed(call.output) for trace in traces for call in trace.tool_calls)
    for output in chain.from_iterable(map(_objects, outputs)):
        for name, value in output.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, str | int | float) and len(str(each)) <= LONGEST_VALUE:
                    seen.setdefault(name, {})[canonical_json(each)] = each
    return {name: tuple(values.values()) for name, values in seen.items()}


def _objects(value: JsonValue, depth: int = 4) -> Iterator[dict[str, JsonValue]]:
    """Yield the objects in a result, each before the objects inside it."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if depth:
            yield from _objects(part, depth - 1)


def _parsed(output: JsonValue) -> JsonValue:
    if not isinstance(output, str) or not output.startswith(("{", "[")):
        return output
    try:
        found: JsonValue = json.loads(output)
    except (ValueError, RecursionError):
        return output
    return found


def _of_results(known: Material, parameter: Parameter) -> Iterator[JsonValue]:
    """Yield values of fields that the parameter's name or description names; for lack of these, of fields in the
    plural: they list things, while others say how something is.
    """
    about = stems(f"{in_words(parameter.name)} {parameter.description}")
    named = [values for name, values in known.results.items() if stems(in_words(name)) & about]
    lists = (
        v for name, v in known.results.items() if name.endswith("s") and not name.endswith(("ss", "us", "is"))
    )
    yield from chain.from_iterable(named or lists)


def _exemplified(parameter: Parameter) -> Iterator[JsonValue]:
    yield from (match["value"].rstrip(".") for match in _EXAMPLE.finditer(parameter.description))


def _listed(parameter: Parameter) -> Iterator[JsonValue]:
    for key in ("examples", "enum"):
        values = parameter.schema.get(key)
        yield from values if isinstance(values, list) else ()
    if "default" in parameter.schema:
        yield parameter.schema["default"]


def _in_inputs(known: Material, parameter: Parameter) -> Iterator[JsonValue]:
    """Yield figures and addresses of the suite's inputs that may fit the parameter."""
    said = f"{parameter.name} {parameter.description}".lower()
    numeric = parameter.schema.get("type") in ("number", "integer")
    for text in (whole(scenario.turns) for scenario in known.scenarios):
        if numeric:
            yield from (
                float(text[f.value.start : f.value.end].replace(",", ""))
                for f in facts(text)
                if f.kind in (FactKind.AMOUNT, FactKind.QUANTITY) and text[f.value.start].isdigit()
            )
        elif "mail" in said:
            yield from _EMAIL.findall(text)
        elif re.search(r"\b(?:id|number|code|order|reference)\b|_id\b", said):
            yield from (
                text[f.value.start : f.value.end] for f in facts(text) if f.kind is FactKind.IDENTIFIER
            )
        elif "date" in said or "day" in said:
            yield from (text[f.span.start : f.span.end] for f in facts(text) if f.kind is FactKind.DATE)
