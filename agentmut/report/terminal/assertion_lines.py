"""Proposed assertions, ready to be copied: lines of YAML for the scenario file, and of Python for a pytest."""

import json
import re
from collections.abc import Mapping
from textwrap import wrap

import yaml
from pydantic import JsonValue

from agentmut.nouns import AssertionSuggestion, EvaluatorSpec
from agentmut.report.paint import WIDTH, Page, clean

_WIDTH = 76
SEEN_TO_DIFFER = "Seen to differ: a person must decide whether the agent is right"
"""The heading of proposals for which neither the prompt nor the user asks."""


def yaml_lines(spec: EvaluatorSpec) -> str:
    """Return the entry of the scenario's `evaluators`.

    >>> print(yaml_lines(EvaluatorSpec(name="tool_order", argument=["look", "pay"])))
    - tool_order: [look, pay]
    """
    text = _dumped(spec, allow_unicode=True)
    # marks that turn the direction of text, and the like, are written as escapes
    return text if clean(text) == text else _dumped(spec, allow_unicode=False)


def _dumped(spec: EvaluatorSpec, *, allow_unicode: bool) -> str:
    # None: what fits on the line of its key
    in_line = None if isinstance(spec.argument, dict | list) else False
    entry = [{spec.name: spec.argument}]
    text: str = yaml.safe_dump(
        entry, default_flow_style=in_line, sort_keys=False, width=_WIDTH, allow_unicode=allow_unicode
    )
    return text.rstrip("\n")


def pytest_lines(spec: EvaluatorSpec) -> str:
    """Return statements that hold of `trace`, an `agentmut.nouns.trace.AgentTrace`, where the evaluator does.

    >>> print(pytest_lines(EvaluatorSpec(name="tool_called", argument="look")))
    assert "look" in trace.tools_called
    """
    plain = _plain(spec.name, spec.argument)
    if plain:
        return plain
    return (
        f"from agentmut.testing import check_trace\ncheck_trace(trace, {_python({spec.name: spec.argument})})"
    )


def _plain(name: str, argument: JsonValue) -> str:
    """Return an assert that needs nothing of agentmut; empty where it would be longer than the evaluator."""
    if isinstance(argument, str):
        return _of_text(name, argument)
    if name == "max_steps":
        return f"assert len(trace.steps) <= {argument}"
    if name == "tool_count" and isinstance(argument, dict) and isinstance(argument.get("tool"), str):
        signs = {"exactly": "==", "at_least": ">=", "at_most": "<="}
        tool = _python(argument["tool"])
        limits = [
            f"trace.tools_called.count({tool}) {signs[b]} {n}" for b, n in argument.items() if b in signs
        ]
        return f"assert {' and '.join(limits)}"
    return ""


def _of_text(name: str, argument: str) -> str:
    written, folded = _python(argument), _python(argument.casefold())
    return {
        "tool_called": f"assert {written} in trace.tools_called",
        "tool_not_called": f"assert {written} not in trace.tools_called",
        "contains": f"assert {folded} in trace.text.casefold()",
        "not_contains": f"assert {folded} not in trace.text.casefold()",
        "regex": f"import re\nassert re.search({written}, trace.text)",
    }.get(name, "")


_LITERALS = re.compile(r'"(?:[^"\\]|\\.)*+"?|\b(?:true|false|null)\b')
_NAMES = {"true": "True", "false": "False", "null": "None"}


def _python(value: JsonValue) -> str:
    """Return a JSON value as Python, in ASCII, so that no mark in it can turn what is read."""
    return _LITERALS.sub(lambda match: _NAMES.get(match[0], match[0]), json.dumps(value))


def add_assertion(page: Page, suggestion: AssertionSuggestion, where: Mapping[str, str]) -> None:
    """Add an assertion with its reason and the lines to copy. `where`: scenario -> file and line."""
    place = where.get(suggestion.scenario, "")
    page.add()
    page.add(f"{suggestion.id}  {clean(suggestion.why)}.")
    others = len(suggestion.mutants) - 1
    more = f"; kills {others} other survivor{'' if others == 1 else 's'} as well" if others else ""
    page.hang(
        f"it holds in {suggestion.held_out} runs of the original that were not used to find it{more}", 4
    )
    under = clean(f"{place + ', ' if place else ''}scenario {suggestion.scenario}, under evaluators:")
    for line in wrap(under, WIDTH - 6, break_on_hyphens=False, break_long_words=False):
        page.line(f"    # {line}")
    for line in yaml_lines(suggestion.evaluator).splitlines():
        page.line(f"    {line}")
    page.line("    # in a pytest, where trace is the AgentTrace of such a run:")
    for line in pytest_lines(suggestion.evaluator).splitlines():
        page.line(f"    {line}")


def add_difference(page: Page, suggestion: AssertionSuggestion) -> None:
    """Add a proposal that neither the prompt nor the user asks for, without lines for a pytest."""
    page.add()
    page.add(f"{suggestion.id}  {clean(suggestion.why)}.")
    page.line(clean(f"    # scenario {suggestion.scenario}"))
    for line in yaml_lines(suggestion.evaluator).splitlines():
        page.line(f"    {line}")


def suggestion_document(suggestion: AssertionSuggestion, where: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return the proposal with its lines, for `--json`."""
    return {
        **suggestion.model_dump(mode="json"),
        "where": where.get(suggestion.scenario, ""),
        "yaml": yaml_lines(suggestion.evaluator),
        "pytest": pytest_lines(suggestion.evaluator),
    }
