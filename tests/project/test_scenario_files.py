"""Scenario files, good and bad."""

import sys
from pathlib import Path

import pytest

from agentmut._base.errors import ProjectError
from agentmut.nouns.scenario import Scenario
from agentmut.project.loading import load_project
from agentmut.project.project import Project

AGENT = "version: 1\nagent: {adapter: python, run: my_agent:run, config: {tools: tools.yaml}}\n"
ONE = "- name: one\n  input: hi\n  evaluators: [{contains: hello}]\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(AGENT)
    (tmp_path / "tools.yaml").write_text("- name: issue_refund\n- name: lookup_order\n")
    return tmp_path


def load(root: Path, **files: str) -> Project:
    for name, text in files.items():
        (root / "scenarios" / f"{name}.yaml").write_text(text)
    return load_project(root)


def refused(root: Path, *pieces: str, **files: str) -> None:
    with pytest.raises(ProjectError) as error:
        load(root, **files)
    said = str(error.value)
    assert [piece for piece in pieces if piece not in said] == [], said


def only(root: Path, text: str) -> Scenario:
    (scenario,) = load(root, a=text).scenarios
    return scenario


def test_a_scenario_has_one_turn_or_several(root: Path) -> None:
    assert only(root, ONE).turns == ("hi",)
    assert only(root, ONE.replace("input: hi", "turns: [hi, {id: 7}]")).turns == ("hi", {"id": 7})


def test_doubles_hooks_and_threshold_are_kept(root: Path) -> None:
    more = (
        "  threshold: 0.5\n  setup: hooks:begin\n  teardown: hooks:end\n"
        "  tools: {issue_refund: {returns: null}, lookup_order: {raises: down}}\n"
    )
    scenario = only(root, ONE + more)
    assert scenario.threshold == 0.5
    assert (scenario.setup, scenario.teardown) == ("hooks:begin", "hooks:end")
    assert scenario.tools["issue_refund"].model_fields_set == {"returns"}
    assert scenario.tools["lookup_order"].raises == "down"


def test_a_scenarios_own_threshold_wins(root: Path) -> None:
    project = load(root, a=ONE + "  threshold: 0.5\n", b=ONE.replace("one", "two"))
    assert [project.threshold_of(scenario) for scenario in project.scenarios] == [0.5, 0.9]


def test_files_are_read_in_sorted_order_and_scenarios_in_written_order(root: Path) -> None:
    project = load(root, b=ONE, a=ONE.replace("one", "z") + ONE.replace("one", "y"))
    assert [scenario.name for scenario in project.scenarios] == ["z", "y", "one"]
    assert project.sources.scenarios == {
        "z": "scenarios/a.yaml:1",
        "y": "scenarios/a.yaml:4",
        "one": "scenarios/b.yaml:1",
    }


def test_no_scenario_file_is_an_error_at_the_pattern(root: Path) -> None:
    refused(root, "agentmut.yaml:1: suite.scenarios", "'scenarios/*.yaml'", "agentmut init")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("name: one\ninput: hi\n", ["scenarios/a.yaml:1", "expected a list of scenarios"]),
        ("[]\n", ["scenarios/a.yaml:1", "no scenarios"]),
        ("", ["scenarios/a.yaml is empty"]),
        ("- name: one\n  input: hi\n", ["scenarios/a.yaml:1: [0].evaluators", "is missing"]),
        ("- name: one\n  input: hi\n  evaluators: []\n", ["[0].evaluators", "should not be empty"]),
        ("- input: hi\n  evaluators: [{contains: a}]\n", ["[0].name", "is missing"]),
        (ONE.replace("  input: hi\n", ""), ["scenario 'one' needs input"]),
        (ONE + "  turns: [a]\n", ["scenario 'one' has both input and turns"]),
        (ONE.replace("input: hi", "turns: []"), ["[0].turns", "should not be empty"]),
        (ONE.replace("input", "inptu"), ["scenarios/a.yaml:2: [0].inptu", "Did you mean 'input'?"]),
        (ONE + "  threshold: 90\n", ["scenarios/a.yaml:4: [0].threshold", "less than 1, got 90"]),
        (ONE + "  setup: begin\n", ["[0].setup", "module:object", '"begin"']),
        (ONE + "  context: [a.md]\n", ["[0].context", "no file 'a.md'", "relative to the project file"]),
        (ONE.replace("contains", "contians"), ["[0].evaluators[0]", "Did you mean 'contains'?"]),
        (ONE.replace("hello", "no"), ["[0].evaluators[0]", "'contains'", "quote it"]),
        (
            ONE.replace("{contains: hello}", "{contains: hello, regex: a}"),
            ["[0].evaluators[0]", "one key", "contains, regex"],
        ),
        (ONE.replace("{contains: hello}", "{}"), ["[0].evaluators[0]", "one key", "none"]),
        (ONE.replace("{contains: hello}", "contains"), ["[0].evaluators[0]", "a mapping", '"contains"']),
        (ONE + "  tools: {issue_refnd: {returns: 1}}\n", ["[0].tools.issue_refnd", "'issue_refund'?"]),
        (ONE + "  tools: {issue_refund: {}}\n", ["[0].tools.issue_refund", "exactly one of returns"]),
        (ONE + "  tools: {issue_refund: {return: 1}}\n", ["issue_refund.return", "'returns'?"]),
        (ONE + "  tools: {issue_refund: {returns: 1, raises: x}}\n", ["exactly one of returns"]),
        (ONE + ONE, ["scenarios/a.yaml:4", "'one' is taken (scenarios/a.yaml:1)"]),
    ],
)
def test_a_bad_scenario_file_is_explained(root: Path, text: str, pieces: list[str]) -> None:
    refused(root, *pieces, a=text)


def test_names_are_unique_across_files(root: Path) -> None:
    refused(root, "scenarios/b.yaml:1", "'one' is taken (scenarios/a.yaml:1)", a=ONE, b=ONE)


def test_problems_of_all_files_are_shown_together(root: Path) -> None:
    bad = ONE.replace("contains", "contians")
    refused(root, "scenarios/a.yaml:3", "scenarios/b.yaml:3", a=bad, b=bad.replace("one", "two"))


def test_a_python_evaluator_is_found_beside_the_project_file(root: Path) -> None:
    (root / "own_checks.py").write_text("def polite(trace): return True\n")
    spec = only(root, ONE.replace("contains: hello", "python: 'own_checks:polite'")).evaluators[0]
    assert (spec.name, spec.argument) == ("python", "own_checks:polite")
    refused(root, "Did you mean 'polite'", a=ONE.replace("contains: hello", "python: 'own_checks:polte'"))


@pytest.mark.parametrize(
    ("ending", "proposed"),
    [
        ("yaml", "write 'scenarios/*.yaml'"),
        ("yml", "write 'scenarios/*.yml'"),
        ("", "and a scenario file in it"),
    ],
)
def test_a_folder_is_refused_with_the_pattern_that_fits_its_files(
    root: Path, ending: str, proposed: str
) -> None:
    (root / "agentmut.yaml").write_text(f"{AGENT}suite: {{scenarios: scenarios/}}\n")
    if ending:
        (root / "scenarios" / f"a.{ending}").write_text(ONE)
    with pytest.raises(ProjectError) as raised:
        load_project(root)
    assert "no scenario file matches 'scenarios/'" in str(raised.value)
    assert "It is a folder; " in str(raised.value) and proposed in str(raised.value)
