"""Suggestions are written into scenario files; nothing else in them changes."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut._base.errors import StoreError, UsageError
from agentmut.nouns.scenario import EvaluatorSpec, Scenario, ToolDouble
from agentmut.nouns.suggestion import AssertionSuggestion, Rate, ScenarioSuggestion
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.project.scenario_edit import apply_suggestions, with_evaluator
from agentmut.project.scenario_text import evaluator_text, scenario_item
from agentmut.report.paint import clean

CALLED = EvaluatorSpec(name="tool_called", argument="refund")
PROJECT = """\
version: 1
agent: {adapter: python, run: my_agent:run, config: {prompt: Be kind.}}
suite: {scenarios: "scenarios/*.yaml"}
"""
FIRST = """\
# what customers ask
- name: one   # the first
  input: "Hello"
  evaluators:
    - contains: "hello"   # case matters

- name: two
  turns: ["a", "b"]
  evaluators: [{contains: a}]
"""


def assertion(scenario: str, spec: EvaluatorSpec) -> AssertionSuggestion:
    rate = Rate(held=10, of=10)
    return AssertionSuggestion(
        id="0" * 8, scenario=scenario, evaluator=spec, why="", mutants=("m",), baseline=rate, held_out=rate,
        mutant=Rate(held=0, of=10), margin=0.4, generality=1.0,
    )  # fmt: skip


def proposal(scenario: Scenario) -> ScenarioSuggestion:
    return ScenarioSuggestion(id="1" * 8, scenario=scenario, origin="", why="", passes=Rate(held=5, of=5))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "my_agent.py").write_text("def run(config, said):\n    return 'hello'\n")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "first.yaml").write_text(FIRST)
    return load_project(tmp_path)


def test_an_evaluator_is_added_below_the_last_one_and_comments_stay() -> None:
    changed = with_evaluator(FIRST, "one", CALLED)
    assert changed == FIRST.replace(
        '    - contains: "hello"   # case matters\n',
        '    - contains: "hello"   # case matters\n    - tool_called: refund\n',
    )


def test_an_evaluator_is_added_to_a_list_in_brackets() -> None:
    assert with_evaluator(FIRST, "two", CALLED) == FIRST.replace(
        "[{contains: a}]", "[{contains: a}, {tool_called: refund}]"
    )


def test_an_evaluator_is_added_at_the_end_of_a_file_without_a_last_line_break() -> None:
    text = "- name: one\n  input: x\n  evaluators:\n  - contains: y"
    assert with_evaluator(text, "one", CALLED) == text + "\n  - tool_called: refund\n"


def test_an_evaluator_is_added_below_a_block_of_text() -> None:
    text = "- name: one\n  evaluators:\n    - contains: |\n        two\n        lines\n\n- name: two\n  input: b\n"
    value = yaml.safe_load(with_evaluator(text, "one", CALLED))
    assert value[0]["evaluators"] == [{"contains": "two\nlines\n"}, {"tool_called": "refund"}]
    assert value[1] == {"name": "two", "input": "b"}


def test_line_breaks_of_windows_and_a_byte_order_mark_are_kept() -> None:
    text = "\ufeff" + FIRST.replace("\n", "\r\n")
    changed = with_evaluator(text, "one", CALLED)
    assert changed.startswith("\ufeff# what")
    assert "    - tool_called: refund\r\n" in changed
    assert changed.replace("    - tool_called: refund\r\n", "") == text


@pytest.mark.parametrize("mark", ["&e", "!!seq", "&e !!seq"])
def test_an_evaluator_is_added_to_a_list_with_an_anchor_or_a_tag(mark: str) -> None:
    before = f"- name: one\n  evaluators: {mark}\n    - contains: a-b\n- name: two\n"
    after = with_evaluator(before, "one", CALLED)
    assert after == before.replace("a-b\n", "a-b\n    - tool_called: refund\n")


def test_evaluators_that_are_shared_through_an_alias_are_not_changed() -> None:
    text = "- name: one\n  evaluators: &all\n    - contains: y\n- name: two\n  evaluators: *all\n"
    with pytest.raises(UsageError, match=r"alias.*- tool_called: refund"):
        with_evaluator(text, "two", CALLED)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x, max_size=3)))
@settings(deadline=None, max_examples=60)
@example(["\u202eevil\u2066", "l1\n\n  l2", "\x1b[31m\x9b\x85", "\ue000\U000e0001", "\ud800", "é ünd"])
def test_any_argument_is_read_as_it_was_written(argument: JsonValue) -> None:
    spec = EvaluatorSpec(name="tool_called_with", argument=argument)
    written = evaluator_text(spec)
    assert "\n" not in written and clean(written) == written
    assert yaml.safe_load(written) == {"tool_called_with": argument}


def test_applied_suggestions_are_read_with_the_project(project: Project) -> None:
    new = Scenario(
        name="three",
        turns=("Cancel: it!\nNow", {"a": [1, None]}),
        evaluators=(EvaluatorSpec(name="contains", argument="# no comment"),),
        tools={"refund": ToolDouble(returns=None)},
        threshold=0.5,
    )
    spec = EvaluatorSpec(name="regex", argument="a: 'b' \"c\"")
    changed = apply_suggestions(project, [assertion("one", spec), assertion("two", spec), proposal(new)])
    again = {scenario.name: scenario for scenario in load_project(project.root).scenarios}
    assert [path.name for path in changed] == ["first.yaml", "suggested.yaml"]
    assert again["three"] == new
    assert again["one"].evaluators[-1] == again["two"].evaluators[-1] == spec


def test_applying_twice_changes_nothing_more(project: Project) -> None:
    spec = EvaluatorSpec(name="contains", argument="hi")
    apply_suggestions(project, [assertion("one", spec)])
    once = (project.root / "scenarios/first.yaml").read_text()
    assert apply_suggestions(load_project(project.root), [assertion("one", spec)]) == ()
    assert (project.root / "scenarios/first.yaml").read_text() == once


def test_nothing_is_written_where_the_project_could_not_be_read_afterwards(project: Project) -> None:
    before = (project.root / "scenarios/first.yaml").read_bytes()
    with pytest.raises(UsageError, match=r"not changed.*nonsense"):
        apply_suggestions(project, [assertion("one", EvaluatorSpec(name="nonsense", argument=1))])
    assert (project.root / "scenarios/first.yaml").read_bytes() == before


def test_a_name_that_is_taken_is_refused(project: Project) -> None:
    taken = Scenario(name="two", turns=("x",), evaluators=(EvaluatorSpec(name="contains", argument="y"),))
    with pytest.raises(UsageError, match="two already"):
        apply_suggestions(project, [proposal(taken)])


def test_new_scenarios_go_to_the_last_file_where_another_would_not_be_read(
    tmp_path: Path, project: Project
) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT.replace("scenarios/*.yaml", "scenarios/first.yaml"))
    new = Scenario(name="three", turns=("x",), evaluators=(EvaluatorSpec(name="contains", argument="y"),))
    (changed,) = apply_suggestions(load_project(tmp_path), [proposal(new)])
    assert changed.name == "first.yaml"
    assert changed.read_text().startswith(FIRST)
    assert scenario_item(new)[:12] in changed.read_text()


def test_texts_with_line_breaks_and_letters_are_written_as_a_reader_expects() -> None:
    assert evaluator_text(EvaluatorSpec(name="contains", argument="é\n\n  b")) == r'contains: "é\n\n  b"'
    assert evaluator_text(EvaluatorSpec(name="contains", argument="a\u202eb")) == r'contains: "a\u202Eb"'


def test_a_read_only_file_is_refused_and_no_other_is_changed(project: Project) -> None:
    other = project.root / "scenarios/second.yaml"
    other.write_text("- name: three\n  input: x\n  evaluators:\n    - contains: y\n")
    other.chmod(0o444)
    spec = EvaluatorSpec(name="contains", argument="hi")
    with pytest.raises(UsageError, match=r"not changed: .*second\.yaml: it is read-only"):
        apply_suggestions(load_project(project.root), [assertion("one", spec), assertion("three", spec)])
    assert (project.root / "scenarios/first.yaml").read_text() == FIRST
    assert sorted(path.name for path in other.parent.iterdir()) == ["first.yaml", "second.yaml"]


def test_files_that_were_written_before_one_that_cannot_be_are_put_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.root / "scenarios/second.yaml").write_text(FIRST.replace("one", "three").replace("two", "four"))
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "second.yaml":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="not changed: No space left"):
        apply_suggestions(load_project(project.root), [assertion("one", CALLED), assertion("three", CALLED)])
    assert (project.root / "scenarios/first.yaml").read_text() == FIRST
    assert sorted(path.name for path in (project.root / "scenarios").iterdir()) == [
        "first.yaml",
        "second.yaml",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- name: one\n  input: x\n  evaluators: &e\n    - contains: y\n- name: two\n  input: z\n  evaluators: *e\n",
        '[{"name": "one", "input": "x", "evaluators": [{"contains": "y"}]}]\n',
        "  - name: one\n    input: x\n    evaluators: [contains: y]\n",
    ],
)
def test_a_layout_that_cannot_be_added_to_is_told_with_what_to_write(tmp_path: Path, text: str) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT.replace("scenarios/*.yaml", "all.yaml"))
    (tmp_path / "my_agent.py").write_text("def run(config, said):\n    return 'hello'\n")
    (tmp_path / "all.yaml").write_text(text)
    new = Scenario(name="new", turns=("x",), evaluators=(EvaluatorSpec(name="contains", argument="y"),))
    chosen: list[AssertionSuggestion | ScenarioSuggestion] = [proposal(new)]
    if "&e" in text:
        chosen.append(assertion("one", CALLED))
    with pytest.raises(UsageError, match=r"(?s)Write by hand:.*- (tool_called|name)") as caught:
        apply_suggestions(load_project(tmp_path), chosen)
    assert "Correct the YAML" not in str(caught.value)
    assert (tmp_path / "all.yaml").read_text() == text


def test_a_new_scenario_takes_the_line_breaks_of_its_file(project: Project) -> None:
    path = project.root / "scenarios/suggested.yaml"
    path.write_bytes(b"- name: three\r\n  input: x\r\n  evaluators:\r\n    - contains: y\r\n")
    new = Scenario(name="new", turns=("a\nb",), evaluators=(EvaluatorSpec(name="contains", argument="y"),))
    apply_suggestions(load_project(project.root), [proposal(new)])
    written = path.read_bytes()
    assert b"name: new" in written and written.count(b"\n") == written.count(b"\r\n")
