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


def add_assertion(
    page: Page, suggestion: AssertionSuggestion, where: Mapping[str, str], suite: str = ""
) -> None:
    """Add an assertion with its reason and the lines to copy.

    `where`: scenario -> file and line. `suite`: the tool of an imported suite; empty for scenario files.
    """
    page.add()
    page.add(f"{suggestion.id}  {clean(suggestion.why)}.")
    others = len(suggestion.mutants) - 1
    more = f"; kills {others} other survivor{'' if others == 1 else 's'} as well" if others else ""
    page.hang(
        f"it holds in {suggestion.held_out} runs of the original that were not used to find it{more}", 4
    )
    if suite:
        _comment(page, place_in_suite(suggestion.scenario, suite))
        for line in lines_for_suite(suggestion.evaluator, suite).splitlines():
            page.line(f"    {line}")
        return
    place = where.get(suggestion.scenario, "")
    _comment(page, f"{place + ', ' if place else ''}scenario {suggestion.scenario}, under evaluators:")
    for line in yaml_lines(suggestion.evaluator).splitlines():
        page.line(f"    {line}")
    page.line("    # in a pytest, where trace is the AgentTrace of such a run:")
    for line in pytest_lines(suggestion.evaluator).splitlines():
        page.line(f"    {line}")


def _comment(page: Page, text: str) -> None:
    for line in wrap(clean(text), WIDTH - 6, break_on_hyphens=False, break_long_words=False):
        page.line(f"    # {line}")


def place_in_suite(scenario: str, suite: str) -> str:
    """Return where a person writes an assertion for a test of another tool, as the head of its lines.

    >>> place_in_suite("tests/test_shop.py::TestRefund::test_time[May I?]", "pytest")
    'tests/test_shop.py, test TestRefund.test_time, for its case [May I?], where trace is what agentmut_agent.run \
returns and trace.text is the reply:'
    >>> place_in_suite("refund", "promptfoo")
    'test refund of the promptfoo suite has to check by its own means what this evaluator checks:'
    """
    if suite != "pytest":
        return (
            f"test {scenario} of the {suite} suite has to check by its own means what this evaluator checks:"
        )
    named, bracket, case = scenario.partition("[")
    file, _, test = named.partition("::")
    only = f", for its case {bracket}{case}" if bracket else ""
    return (
        f"{file}, test {test.replace('::', '.')}{only}, where trace is what agentmut_agent.run returns and trace.text "
        "is the reply:"
    )


def lines_for_suite(spec: EvaluatorSpec, suite: str) -> str:
    """Return the lines of an assertion for a test of another tool: Python for pytest, else the evaluator as YAML."""
    return pytest_lines(spec) if suite == "pytest" else yaml_lines(spec)


def by_hand_in_suite(suggestion: AssertionSuggestion, suite: str) -> str:
    """Return why agentmut writes no assertion into a test of another tool, and what a person writes."""
    return (
        f"agentmut writes no assertion into a {suite} suite. Write it by hand: "
        f"{clean(place_in_suite(suggestion.scenario, suite))}\n{lines_for_suite(suggestion.evaluator, suite)}"
    )


def add_difference(page: Page, suggestion: AssertionSuggestion, suite: str = "") -> None:
    """Add a proposal that neither the prompt nor the user asks for, without lines for a pytest.

    A proposal for a test of another tool has the lines of that tool: nothing else can be written there.
    """
    page.add()
    page.add(f"{suggestion.id}  {clean(suggestion.why)}.")
    _comment(page, place_in_suite(suggestion.scenario, suite) if suite else f"scenario {suggestion.scenario}")
    for line in lines_for_suite(suggestion.evaluator, suite).splitlines():
        page.line(f"    {line}")


def suggestion_document(suggestion: AssertionSuggestion, where: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return the proposal with its lines, for `--json`."""
    return {
        **suggestion.model_dump(mode="json"),
        "where": where.get(suggestion.scenario, ""),
        "yaml": yaml_lines(suggestion.evaluator),
        "pytest": pytest_lines(suggestion.evaluator),
    }
