"""What proposals are made from: the agent's texts, the suite's inputs, and values seen in runs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from agentmut.config import AgentConfig
from agentmut.frozen import canonical_json
from agentmut.scenario import Scenario
from agentmut.schemas import Parameter, parameters
from agentmut.text.facts import FactKind, facts
from agentmut.trace import AgentTrace

_EXAMPLE = re.compile(
    r"(?:such as|e\.g\.,?|for example,?|like|as in)\s+[\"'“]?(?P<value>[^\s,;\"'”)]+)", re.I
)
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w")


class Material(NamedTuple):
    """Everything is in a fixed order, so that what is made of it is too."""

    config: AgentConfig
    """The suite's full config."""
    scenarios: tuple[Scenario, ...]
    observed: Mapping[str, tuple[JsonValue, ...]]
    """By name of parameter: the values that stored runs have given to it."""
    traces: Mapping[str, AgentTrace]
    """A run of the original on each scenario that has one."""


def material(
    config: AgentConfig, scenarios: Iterable[Scenario], traces: Mapping[str, tuple[AgentTrace, ...]]
) -> Material:
    """`traces` are stored runs of the original by scenario."""
    suite = tuple(scenarios)
    ordered = [trace for scenario in suite for trace in traces.get(scenario.name, ())]
    first = {s.name: traces[s.name][0] for s in suite if traces.get(s.name)}
    return Material(config, suite, _observed(ordered), first)


def texts(turns: Iterable[JsonValue]) -> tuple[str, ...]:
    """The turns as text."""
    return tuple(turn if isinstance(turn, str) else canonical_json(turn) for turn in turns)


def whole(turns: Iterable[JsonValue]) -> str:
    """A conversation's user side as one text."""
    return "\n".join(texts(turns))


def known_values(known: Material, parameter: Parameter) -> tuple[JsonValue, ...]:
    """Plausible values of a parameter, the likeliest first: seen in runs, named in its description, listed in its
    schema, found in inputs. Empty where nothing is known of it.
    """
    found = [*known.observed.get(parameter.name, ()), *_listed(parameter)]
    if not found:
        found = [*_in_inputs(known, parameter), *_exemplified(parameter)]
    return tuple({canonical_json(value): value for value in found}.values())


def arguments_named(tool_parameters: Mapping[str, JsonValue]) -> tuple[Parameter, ...]:
    """The parameters of a tool at the top level of its schema."""
    return tuple(p for p in parameters(tool_parameters) if not p.owner)


def _observed(traces: Iterable[AgentTrace]) -> dict[str, tuple[JsonValue, ...]]:
    seen: dict[str, dict[str, JsonValue]] = {}
    for trace in traces:
        for call in trace.tool_calls:
            for name, value in (call.arguments or {}).items():
                if not isinstance(value, dict | list) and value not in (None, ""):
                    seen.setdefault(name, {})[canonical_json(value)] = value
    return {name: tuple(values.values()) for name, values in seen.items()}


def _exemplified(parameter: Parameter) -> Iterator[JsonValue]:
    yield from (match["value"].rstrip(".") for match in _EXAMPLE.finditer(parameter.description))


def _listed(parameter: Parameter) -> Iterator[JsonValue]:
    for key in ("examples", "enum"):
        values = parameter.schema.get(key)
        yield from values if isinstance(values, list) else ()
    if "default" in parameter.schema:
        yield parameter.schema["default"]


def _in_inputs(known: Material, parameter: Parameter) -> Iterator[JsonValue]:
    """Figures and addresses of the suite's inputs that may be meant."""
    said = f"{parameter.name} {parameter.description}".lower()
    inputs = [whole(scenario.turns) for scenario in known.scenarios]
    for text in inputs:
        if "mail" in said:
            yield from _EMAIL.findall(text)
        elif re.search(r"\b(?:id|number|code|order|reference)\b|_id\b", said):
            yield from (
                text[f.value.start : f.value.end] for f in facts(text) if f.kind is FactKind.IDENTIFIER
            )
        elif "date" in said or "day" in said:
            yield from (text[f.span.start : f.span.end] for f in facts(text) if f.kind is FactKind.DATE)
