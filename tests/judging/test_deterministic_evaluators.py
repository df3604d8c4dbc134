"""Evaluators of the final output, each held against outputs judged by hand."""

from typing import Any

import pytest

from agentmut.judging.evaluators.deterministic import (
    Contains,
    ExactMatch,
    Expect,
    JsonSchema,
    NotContains,
    Regex,
)
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace, Check

SCENARIO = Scenario(name="s", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))


def check(evaluator: Any, output: Any) -> Check:
    outputs = () if output is None else (output,)
    result = evaluator.evaluate(SCENARIO, AgentTrace(outputs=outputs))
    assert isinstance(result, Check)
    return result


@pytest.mark.parametrize(
    ("evaluator", "output", "passed"),
    [
        (ExactMatch("billing"), " billing\n", True),
        (ExactMatch("billing"), "Billing", False),
        (ExactMatch("billing"), None, False),
        (ExactMatch({"n": 1}), {"n": 1.0}, True),
        (ExactMatch({"n": 1}), '{"n": 1}', True),
        (ExactMatch({"n": 1}), {"n": True}, False),
        (ExactMatch({"n": 1}), "not json", False),
        (ExactMatch([1, {"a": None}]), [1, {"a": None}], True),
        (ExactMatch(True), "true", True),
        (Contains("refund"), "Your REFUND is due", True),
        (Contains({"text": "refund", "case": True}), "Your REFUND is due", False),
        (Contains(["refund", "5 days"]), "refund in 5 days", True),
        (Contains(["refund", "5 days"]), "refund in 6 days", False),
        (Contains("Straße"), "die STRASSE", True),
        (Contains("billing"), {"department": "billing"}, True),
        (Contains("x"), None, False),
        (NotContains("guarantee"), "we promise nothing", True),
        (NotContains("guarantee"), "A Guarantee!", False),
        (NotContains({"text": "guarantee", "case": True}), "A Guarantee!", True),
        (NotContains(["a1", "b2"]), "only b2", False),
        (Regex(r"\b\d{3}\b"), "code 042 given", True),
        (Regex("^refund"), "a refund", False),
        (Regex("(?i)REFUND"), "a refund", True),
        (JsonSchema({"type": "object", "required": ["id"]}), '{"id": 1}', True),
        (JsonSchema({"type": "object", "required": ["id"]}), {"di": 1}, False),
        (JsonSchema({"type": "object"}), "```json\n{}\n```", False),
        (JsonSchema({"type": "number"}), "NaN", False),
        (Expect({"department": "billing"}), {"department": "billing", "p": 1}, True),
        (Expect({"department": "billing"}), '{"department": "billing"}', True),
        (Expect({"department": "billing"}), {"department": "Billing"}, False),
        (Expect({"department": None}), {}, False),
        (Expect({"urgent": True}), {"urgent": 1}, False),
        (Expect({"department": "billing"}), "[1]", False),
        (Expect({"department": "billing"}), "billing", False),
    ],
)
def test_an_output_is_judged_as_a_reader_would(evaluator: Any, output: Any, passed: bool) -> None:
    assert check(evaluator, output).passed is passed


@pytest.mark.parametrize(
    ("evaluator", "output", "pieces"),
    [
        (ExactMatch("a"), "b", ["output is 'b'", "expected 'a'"]),
        (Contains(["refund", "5 days"]), "a refund", ["lacks '5 days'", "'a refund'"]),
        (NotContains("sure"), "Surely", ["forbidden 'sure'", "'Surely'"]),
        (Regex("a+"), "bbb", ["does not match /a+/", "'bbb'"]),
        (JsonSchema({"properties": {"n": {"type": "integer"}}}), {"n": "x"}, ["$.n", "'x'", "integer"]),
        (JsonSchema({}), "no json", ["not JSON", "'no json'"]),
        (Expect({"a": 1, "b": 2}), {"a": 3}, ["field 'a' is 3, expected 1", "field 'b' is missing"]),
    ],
)
def test_a_failed_check_says_what_was_expected_and_what_came(
    evaluator: Any, output: Any, pieces: list[str]
) -> None:
    reason = check(evaluator, output).reason
    assert [piece for piece in pieces if piece not in reason] == []


def test_a_long_output_is_cut_in_the_reason() -> None:
    assert len(check(Contains("x"), "y" * 10_000).reason) < 250


@pytest.mark.parametrize(
    ("evaluator", "argument", "expected"),
    [
        (Contains, 42, "quote it"),
        (Contains, False, "quote it"),
        (Contains, "", "a text"),
        (Contains, [], "empty list"),
        (Contains, {"txt": "a"}, "Did you mean 'text'?"),
        (Contains, {"text": "a", "case": "yes"}, "true or false"),
        (NotContains, ["a", 1], "quote it"),
        (ExactMatch, None, "got nothing"),
        (Regex, "(", "unterminated"),
        (Regex, ["a"], "a regular expression"),
        (JsonSchema, {"type": "objekt"}, "$.type"),
        (JsonSchema, "object", "as a mapping"),
        (Expect, {}, "{department: billing}"),
        (Expect, "billing", "{department: billing}"),
    ],
)
def test_a_bad_argument_says_what_is_expected(evaluator: Any, argument: Any, expected: str) -> None:
    with pytest.raises(ValueError) as error:
        evaluator(argument)
    assert expected in str(error.value)


def test_a_remote_schema_reference_is_not_fetched() -> None:
    evaluator = JsonSchema({"$ref": "http://127.0.0.1:9/never.json"})
    with pytest.raises(Exception, match=r"127\.0\.0\.1"):
        check(evaluator, {})
