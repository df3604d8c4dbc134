"""Whether a tester would write the candidate for this mutant, and how close it is to the change."""

import json
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.insight.explain.candidates import Candidate
from agentmut.insight.explain.meaning import Meaning, tools_named
from agentmut.insight.explain.of_endings import ENDINGS
from agentmut.insight.explain.views import View
from agentmut.language import stems
from agentmut.nouns import Action, EvaluatorSpec, OperatorClass

STATED = 2
"""The changed rule itself asks for it."""
NEAR = 1
"""It speaks of what the changed rule or tool speaks of."""
NEAR_ENOUGH = 0.5
"""The share of a text's stems that a rule has to share with it."""
_OF_TOOLS = ("tool_called", "tool_not_called", "tool_count", "tool_called_with", "tool_order")
_OF_LIMITS = ("max_steps", "max_cost", "expression")
_OF_TEXTS = ("contains", "not_contains", "states")
_SIZE = frozenset(stems(shipped("agentmut.insight", "words_of_size")["words"]))
"""Stems of words with which a rule speaks of the length of an answer, or of how much is done."""


def grounding(spec: EvaluatorSpec, meaning: Meaning) -> int:
    """Return `STATED`, `NEAR` or 0: what the evaluator has to do with the change."""
    if spec.name in _OF_TOOLS:
        tools = set(_tools(spec))
        named = {tool for _, tool in tools_named(meaning.rule, meaning.tool_names)} | meaning.tools
        return NEAR * (bool(tools) and tools <= named)
    if spec.name in _OF_LIMITS:
        return NEAR * _speaks_of_size(meaning)
    if spec.name in _OF_TEXTS:
        said = stems(" ".join(_strings(spec.argument)))
        return NEAR * (bool(said) and len(said & meaning.stems) >= NEAR_ENOUGH * len(said))
    return 0


def is_sensible(one: Candidate, meaning: Meaning, original: Sequence[View]) -> bool:
    """Return whether a candidate makes sense for the change, independently of the runs that decide about it.

    Not sensible: a word or name that comes from the mutant's own diff; a bound of length, steps or cost where the
    changed rule speaks of something else; an order of tools that no rule and no data asks for.
    """
    if meaning.is_of_its_diff(_strings(one.spec.argument)) and one.grounded < STATED:
        return False
    if one.spec.name in _OF_LIMITS and one.spec.argument not in ENDINGS:
        return one.grounded > 0 or meaning.operator_class is not OperatorClass.PROMPT
    if one.spec.name == "tool_order":
        return one.grounded == STATED or _is_meant(one.spec, meaning, original)
    return True


def _is_meant(spec: EvaluatorSpec, meaning: Meaning, original: Sequence[View]) -> bool:
    """Return whether a rule names both tools, or the later tool gets a value that the earlier one returned."""
    if not isinstance(spec.argument, list):  # the whole sequence, call by call
        return False
    first, second = map(str, spec.argument)
    for rule in meaning.prompt.splitlines():
        named = {tool for _, tool in tools_named(rule, (first, second))}
        if len(named) == 2:
            return True
    fed = sum(_feeds(first, second, view) for view in original)
    return bool(original) and 2 * fed > len(original)


def _feeds(first: str, second: str, view: View) -> bool:
    """Return whether an argument of `second` comes from an earlier result of `first`, and from nowhere before."""
    results: list[str] = []
    known: set[str] = set()
    for step in view.trace.steps:
        if step.action is not Action.CALL_TOOL:
            continue
        given = {text for text in _strings(step.arguments) if len(text) > 2}
        if step.tool == second and any(text in result for text in given - known for result in results):
            return True
        known |= given
        if step.tool == first:
            results.append(json.dumps(step.output, ensure_ascii=False, default=str))
    return False


def _speaks_of_size(meaning: Meaning) -> bool:
    return not _SIZE.isdisjoint(meaning.stems)


def _tools(spec: EvaluatorSpec) -> Iterator[str]:
    argument = spec.argument
    named: JsonValue = argument
    if isinstance(argument, dict):
        named = argument.get("tool", argument.get("tools"))
    yield from map(str, named if isinstance(named, list) else [named])


def _strings(value: JsonValue) -> Iterator[str]:
    """Yield all texts and numbers of a JSON value, as texts."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (str(key), *_strings(each))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str | int | float):
        yield str(value)
