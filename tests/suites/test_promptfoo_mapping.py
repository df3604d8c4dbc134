"""What promptfoo's results say, on results that the real command line tool (0.121.20) wrote.

`testdata/promptfoo_results/results.json` was recorded with the config beside it and a provider that echoes; long
stack traces and figures of time were cut. Its second test was told that its answer was not asked for.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import CaseError, UsageError
from agentmut.nouns.config import AgentConfig
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.suites.promptfoo import bench
from agentmut.suites.promptfoo.cases import cases_of
from agentmut.suites.promptfoo.cli import environment, written
from agentmut.suites.promptfoo.outcome import judged
from agentmut.suites.promptfoo.promptfoo_settings import PromptfooSettings, command_of, read_settings
from agentmut.suites.promptfoo.providers import led_through
from agentmut.suites.promptfoo.suite import PromptfooSuite

DATA = Path(__file__).parents[1] / "testdata" / "promptfoo_results"
FOUND: dict[str, Any] = json.loads((DATA / "results.json").read_text())
REFUND, ONE, TWO = cases_of(FOUND)


def row(test: int) -> dict[str, Any]:
    return next(row for row in FOUND["results"]["results"] if row["testIdx"] == test)


def altered(**test: Any) -> dict[str, Any]:
    return {"results": {"results": [{**row(0), "testCase": {**row(0)["testCase"], **test}}]}}


def test_every_test_with_every_value_of_its_variables_is_a_case() -> None:
    assert [case.name for case in (REFUND, ONE, TWO)] == ["refund", "question=one", "question=two"]


def test_every_assertion_is_a_check_and_a_set_of_them_is_one() -> None:
    assert REFUND.check_names == (
        "not-contains: XXXX", "contains: 30 days", "javascript: JSON.parse(output).a == 1", "assert-set",
    )  # fmt: skip


def test_an_assertion_that_promptfoo_never_lets_fail_is_no_check() -> None:
    assert ONE.check_names == ("not-contains: XXXX", "llm-rubric: polite", "python: 1/0")


def test_an_assertion_whose_own_code_raised_is_no_evidence_unless_the_project_says_so() -> None:
    with pytest.raises(CaseError, match="Unexpected token"):
        judged(row(0), REFUND, "error")
    assert [check.passed for check in judged(row(0), REFUND, "fail")] == [True, False, False, True]


def test_a_grader_that_failed_is_no_evidence_whatever_the_project_says() -> None:
    with pytest.raises(CaseError, match="grader failed: API call error"):
        judged(row(1), ONE, "fail")


def test_a_provider_that_failed_is_no_evidence() -> None:
    with pytest.raises(CaseError, match="not wanted"):
        judged(row(2), TWO, "fail")


def test_a_test_with_a_threshold_is_judged_as_a_whole() -> None:
    (case,) = cases_of(altered(threshold=0.3))
    (check,) = judged({**row(0), "success": True}, case, "fail")
    assert case.check_names == ("promptfoo",) and check.passed


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ({"assert": [{"type": "select-best", "value": "short"}]}, "select-best, which compares answers"),
        ({"options": {"storeOutputAs": "first"}}, "cannot be run alone"),
        ({"provider": "openai:gpt-4o"}, "a provider of its own"),
    ],
)
def test_a_test_that_says_nothing_about_one_run_is_refused(test: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        cases_of(altered(**test))


@pytest.mark.parametrize(
    ("kind", "reason", "score"),
    [
        ("similar", "API error: 503", 0),
        ("not-similar:dot", "fetch failed", 0),
        ("similar", "None of the provided values met the similarity threshold", 0),
        ("not-classifier", "rate limited", 1),
        ("answer-relevance", "No embedding", 0),
        ("context-recall", "No output", 0),
        ("context-relevance", "No output", 0),
        ("context-faithfulness", "No output", 0),
        ("model-graded-closedqa", "Model grader produced a malformed response: hm", 0),
        ("factuality", "Invalid category value: F", 0),
        ("not-search-rubric", "Output does not require it: Search rubric evaluation failed: x", 1),
    ],
)
def test_an_error_of_a_grader_that_promptfoo_does_not_mark_is_no_judgement(
    kind: str, reason: str, score: int
) -> None:
    component = {"pass": bool(score), "score": score, "reason": reason, "assertion": {"type": kind}}
    result = {"success": bool(score), "gradingResult": {"componentResults": [component]}}
    (case,) = cases_of(altered(**{"assert": [{"type": kind, "value": "x"}]}))
    with pytest.raises(CaseError, match="grader failed: "):
        judged(result, case, "fail")


def test_a_config_without_tests_is_refused() -> None:
    asked = {"results": {"results": [{**row(0), "testCase": {"vars": {}}}]}, "config": {"tests": []}}
    with pytest.raises(UsageError, match=r"has no test\. Add one under `tests`"):
        cases_of(asked)


def test_a_promptfoo_that_does_not_say_which_test_it_asks_for_is_too_old(tmp_path: Path) -> None:
    slot = (Path(bench.__file__).parent / "slot.cjs").read_text()
    (said,) = re.findall(r'error: "(agentmut: this version[^"]*)"', slot)
    found = {"results": {"results": [{**row(0), "error": said}]}, "metadata": {"promptfooVersion": "0.1.2"}}
    with pytest.raises(UsageError, match=r"promptfoo 0\.1\.2 .* npm install --save-dev promptfoo@latest"):
        bench.suite_of(found, tmp_path)


def test_tests_of_one_name_are_told_apart() -> None:
    rows = [row(0), {**row(0), "testIdx": 1}, {**row(0), "testIdx": 0, "promptIdx": 1}]
    names = [case.name for case in cases_of({"results": {"results": rows}})]
    assert names == ["refund [prompt 1]", "refund [prompt 2]", "refund [prompt 1] (2)"]


def test_the_grader_keeps_the_services_of_the_user_and_the_provider_is_led_elsewhere() -> None:
    chosen = led_through(["openai:gpt-4o"], None, "t", {"OPENAI_BASE_URL": "http://127.0.0.1:1/t/x/v1"})
    assert chosen == {
        "id": "openai:gpt-4o",
        "options": {"env": {"OPENAI_BASE_URL": "http://127.0.0.1:1/t/x/v1"}},
    }
    kept = environment({"OPENAI_BASE_URL": "http://judge"}, Path("/t"))
    assert kept["OPENAI_BASE_URL"] == "http://judge"
    assert kept["PROMPTFOO_CONFIG_DIR"] == "/t/promptfoo" and kept["PROMPTFOO_DISABLE_TELEMETRY"] == "1"


@pytest.mark.parametrize(
    ("providers", "wanted", "said"),
    [
        (["openai:a", "openai:b"], None, "The config has: openai:a, openai:b"),
        ([{"id": "openai:a", "label": "A"}], "B", "The config has: A"),
        (["openai:a", {"openai:a": {}}], "openai:a", "has openai:a more than once. Give each a label"),
        (["openai:a", "openai:a"], None, "has openai:a more than once. Give each a label"),
        ([], None, "The config has: none"),
        (["ollama:llama3"], None, "Name your agent with agent.adapter"),
        (
            [{"id": "openai:a", "config": {"apiBaseUrl": "http://x"}}],
            None,
            "set OPENAI_BASE_URL in agent.env",
        ),
    ],
)
def test_a_provider_that_mutants_cannot_reach_is_refused(providers: Any, wanted: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        led_through(providers, wanted, "t", {})


def test_settings_say_what_they_expect(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("")
    for argument, said in (
        ({"path": "c.yaml", "filter": "x"}, "unknown key 'filter'. Did you mean 'filters'"),
        ({"path": "c.yaml", "filters": "--verbose"}, r"suite\.promptfoo\.filters: expects filters"),
        ({"path": "c.yaml", "patience": 0}, r"suite\.promptfoo\.patience: .* greater than 0"),
        ("d.yaml", r"there is no config d\.yaml"),
        ({}, r"suite\.promptfoo\.path"),
    ):
        with pytest.raises(UsageError, match=said):
            read_settings(argument, str(tmp_path))  # type: ignore[arg-type]


def test_where_promptfoo_is_not_installed_the_error_says_how_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("AGENTMUT_PROMPTFOO", raising=False)
    with pytest.raises(UsageError, match="npm install --save-dev promptfoo"):
        command_of(PromptfooSettings(path="c.yaml"), str(tmp_path))
    monkeypatch.setenv("AGENTMUT_PROMPTFOO", "nowhere/promptfoo")
    with pytest.raises(UsageError, match="there is no program 'nowhere/promptfoo'"):
        command_of(PromptfooSettings(path="c.yaml"), str(tmp_path))


def test_what_nothing_would_use_is_refused() -> None:
    config = AgentConfig(prompt="Help.")
    suite = PromptfooSuite(PromptfooSettings(path="c.yaml", provider="openai:a"), ("promptfoo",), ".")
    with pytest.raises(UsageError, match=r"agent\.run is given without agent\.adapter"):
        suite.adapter(AgentSpec(adapter="promptfoo", run="desk:run"), config)
    with pytest.raises(UsageError, match=r"suite\.promptfoo\.provider: .* leave one of the two out"):
        suite.adapter(AgentSpec(adapter="command", command=(sys.executable, "{input}")), config)


def test_of_what_a_program_says_the_last_error_is_told_without_its_stack(tmp_path: Path) -> None:
    said = b"starting\nfile.mjs:3\n  YAMLException: bad indentation (2:1)\n    at parse (a.mjs:1:2)\nNode.js v20\n"
    with pytest.raises(CaseError, match=r"It says: YAMLException: bad indentation \(2:1\) Node\.js v20$"):
        written(tmp_path, said, 1)
