"""Where a proposed assertion is written if the tests are those of another tool, such as pytest."""

import json
from pathlib import Path

import pytest

from agentmut.nouns import EvaluatorSpec
from agentmut.nouns.suggestion import AssertionSuggestion, Basis, Rate, Suggestions
from agentmut.project import load_project
from agentmut.report.paint import Page
from agentmut.report.terminal.assertion_lines import add_assertion, add_difference
from agentmut.report.terminal.suggestions_page import render_suggestions
from agentmut.usecases import keep_suggestions
from agentmut.usecases.suggestions import Proposed
from tests.warm_command import run_agentmut

TEST = "tests/test_shop.py::TestRefund::test_time[May I?]"
FOUND = AssertionSuggestion(
    id="c87b75bb",
    scenario=TEST,
    evaluator=EvaluatorSpec(name="contains", argument="Ride safely"),
    why="the answer says it",
    mutants=("aaaa0001",),
    baseline=Rate(held=20, of=20),
    held_out=Rate(held=10, of=10),
    mutant=Rate(held=0, of=5),
    margin=0.4,
    generality=0.5,
    basis=Basis.RULE,
)
PROJECT = """
version: 1
agent: {run: "shop:answer"}
suite: {pytest: tests}
"""


def flat(page: Page) -> str:
    return " ".join(page.text().replace("#", " ").split())


def test_a_pytest_gets_its_file_its_function_and_an_assert() -> None:
    page, differing = Page(False), Page(False)
    add_assertion(page, FOUND, {}, "pytest")
    add_difference(differing, FOUND, "pytest")
    for text in (flat(page), flat(differing)):
        assert "tests/test_shop.py, test TestRefund.test_time, for its case [May I?]," in text
        assert 'assert "ride safely" in trace.text.casefold()' in text
        assert "evaluators" not in text and "- contains" not in text


def test_another_tool_gets_the_evaluator_and_is_told_to_check_the_same() -> None:
    page = Page(False)
    add_assertion(page, FOUND.model_copy(update={"scenario": "refund"}), {}, "promptfoo")
    assert "test refund of the promptfoo suite has to check by its own means" in flat(page)
    assert "- contains: Ride safely" in flat(page) and "trace" not in flat(page)


def test_apply_names_the_test_and_the_assert_in_place_of_a_scenario_file(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "shop.py").write_text("def answer(question: str) -> str:\n    return question\n")
    kept = Suggestions(run_id="r", assertions=(FOUND,))
    keep_suggestions(load_project(tmp_path), kept)
    ended = run_agentmut(tmp_path, "suggest", "--apply", FOUND.id, "--json")
    said = json.loads(ended.stdout)["error"]
    assert ended.returncode == 2
    assert "no scenario file" not in said and "- contains" not in said
    assert "writes no assertion into a pytest suite" in said
    assert "tests/test_shop.py, test TestRefund.test_time" in said
    assert said.endswith('assert "ride safely" in trace.text.casefold()')


def test_without_a_proposal_nothing_is_to_be_written() -> None:
    page = render_suggestions(Proposed(Suggestions(run_id="r"), own_scenarios=False))
    assert "by hand" not in page and "More runs find more: `agentmut run`" in page


@pytest.mark.parametrize("verb", ["suggest", "mutants", "plan"])
def test_a_verb_says_that_it_collects_the_tests(verb: str, tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    ended = run_agentmut(tmp_path, verb)
    assert ended.stderr.count("agentmut: collecting the tests of the pytest suite\n") == 1
    assert "collecting" not in ended.stdout
