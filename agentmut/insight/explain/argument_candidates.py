"""Candidates from the arguments of tool calls: values, and the form of values."""

import json
import re
from collections.abc import Collection, Iterator
from functools import partial

from pydantic import JsonValue

from agentmut.insight.explain.candidates import Candidate, Contrast, candidate, common
from agentmut.insight.explain.shapes import is_prose, shape_of
from agentmut.insight.explain.views import ArgumentValue, View
from agentmut.judging import as_text, same_json, written_json

_NO_JSON = re.compile(r"\b(?:Infinity|NaN)\b")
LONGEST_VALUE = 120
"""Characters: a longer value is an answer of the model, not a choice."""


def of_arguments(contrast: Contrast) -> Iterator[Candidate]:
    """Yield `tool_called_with`: one argument, all usual arguments, and patterns."""
    constant = _constant(contrast)
    for tool, name, value in constant:
        yield _called_with(tool, {name: json.loads(value)}, 0.8)
    for tool in sorted({tool for tool, _, _ in constant}):
        made = {name: json.loads(value) for t, name, value in constant if t == tool}
        if len(made) > 1:
            yield _called_with(tool, made, 0.65)
    yield from _patterns(contrast, {(tool, name) for tool, name, _ in constant})


def _constant(contrast: Contrast) -> list[ArgumentValue]:
    """Return the values that most runs of the original have, at most one for each argument."""
    rows = [[written_json(list(value)) for value in view.values] for view in contrast.original]
    usual = [tuple(json.loads(row)) for row in common(rows, contrast.least, len(rows))]
    return [
        value
        for value in usual
        if len(value[2]) <= LONGEST_VALUE and not is_prose(value[2]) and not _NO_JSON.search(value[2])
    ]


def _called_with(tool: str, made: dict[str, JsonValue], generality: float) -> Candidate:
    listed = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in made.items())
    argument: JsonValue = {"tool": tool, "arguments": made}
    return candidate(
        "tool_called_with",
        argument,
        f"{tool} is called with {listed}",
        generality,
        partial(_is_called_with, tool, made),
    )


def _is_called_with(tool: str, wanted: dict[str, JsonValue], view: View) -> bool:
    return any(
        called == tool
        and all(name in made and same_json(value, made[name]) for name, value in wanted.items())
        for called, made in view.calls
    )


def _patterns(contrast: Contrast, constant: Collection[tuple[str, str]]) -> Iterator[Candidate]:
    """Yield the form of each argument that differs from run to run."""
    shapes = [list(_shapes(view)) for view in contrast.original]
    for row in common(shapes, contrast.least, len(shapes)):
        tool, name, shape = row.split("\n", 2)
        if (tool, name) in constant:
            continue
        says = f"{tool} is called with {name} of the form {shape}"
        argument: JsonValue = {"tool": tool, "matching": {name: shape}}
        yield candidate(
            "tool_called_with", argument, says, 0.82, partial(_matches, tool, name, re.compile(shape))
        )


def _shapes(view: View) -> Iterator[str]:
    for tool, made in view.calls:
        for name, value in made.items():
            if shape := _shape(value):
                yield f"{tool}\n{name}\n{shape}"


def _shape(value: JsonValue) -> str:
    return shape_of(value) if isinstance(value, str) and "\n" not in value else ""


def _matches(tool: str, name: str, pattern: re.Pattern[str], view: View) -> bool:
    return any(
        called == tool and name in made and pattern.fullmatch(as_text(made[name])) is not None
        for called, made in view.calls
    )
