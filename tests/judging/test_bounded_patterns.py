"""Regular expressions of users: the meaning of `re`, and an end."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.bounded_pattern import BoundedPattern
from agentmut._base.errors import RunError
from agentmut.judging.building import build
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace

PATTERNS = [
    r"refund", r"(?i)REFUND", r"(?s)a.b", r"(?m)^b$", r"\bfive\s+days?\b", r"[^a-z]", r"(?P<x>a)(?P=x)", r"a{2,3}?",
    r"^\d+(?:[.,]\d{2})?\Z", r"(a|ab)(c|bcd)", r"(?<=a)b(?!c)", r"a++b", r"(?>a|ab)c", r"\w+@\w+\.\w+", r"a*", r"",
    r"[[a]",
    r"x|y|", r"(?x) a  b # comment", r"\u00e4|\xe4", r"(a)?(?(1)b|c)", r"[\w.-]+", r"$", r"^", r"\.", r"é",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(deadline=None, max_examples=40)
@given(text=st.text(alphabet="abcdxyzéäößÅЖ漢 059.,@\n\t-_!?()", max_size=14))
def test_a_match_is_that_of_re(pattern: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        known = re.compile(pattern)
    bounded = BoundedPattern(pattern)
    for ours, theirs in (
        (bounded.search(text), known.search(text)),
        (bounded.fullmatch(text), known.fullmatch(text)),
    ):
        assert (ours and (ours.span(), ours.groups())) == (theirs and (theirs.span(), theirs.groups()))


def test_the_words_of_unicode_are_the_one_difference() -> None:
    assert BoundedPattern(r"^\w+$").search("e\u0301") and not re.search(r"^\w+$", "e\u0301")
    assert not BoundedPattern(r"\w").search("½") and re.search(r"\w", "½")


@pytest.mark.parametrize("pattern", ["(", "[a", "(?P<n>", "a**", r"\p{L}", "x" * 3 + "{9999999999999}"])
def test_what_re_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="expects a regular expression"):
        BoundedPattern(pattern)


def test_a_search_ends_at_its_bound() -> None:
    endless = BoundedPattern("(.*?,){25}P", seconds=0.2)  # with `re` this takes years
    for find in (endless.search, endless.fullmatch):
        with pytest.raises(
            RunError, match=r"took more than 0\.2 s on a text of 80 characters\. Write it without"
        ):
            find("1," * 40)


def test_nested_repeats_that_re_never_ends_are_quick() -> None:
    assert BoundedPattern(r"^(a+)+$").search("a" * 41 + "!") is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [("regex", "^(a+)+$"), ("tool_called_with", {"tool": "pay", "matching": {"to": "^(a+)+$"}})],
)
def test_evaluators_use_them(name: str, argument: object) -> None:
    spec = EvaluatorSpec.model_validate({"name": name, "argument": argument})
    scenario = Scenario(name="s", turns=("hi",), evaluators=(spec,))
    assert not build(spec).evaluate(scenario, AgentTrace(outputs=("a" * 41 + "!",))).passed
