"""A project can say what is secret: names whose values are, and regular expressions."""

import json
from pathlib import Path

import pytest

from agentmut._base import ProjectError, RunError
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.loading import load_project
from agentmut.project.redacting import redactor
from agentmut.recording.declared_secrets import DeclaredSecrets
from agentmut.recording.redaction import MASK, Redactor

DECLARED = DeclaredSecrets(["customer_pin", "SSN"], [r"EMP-\d{6}"])
REDACTOR = Redactor((), declared=DECLARED)
PROJECT = """
version: 1
agent:
  adapter: python
  run: some.module:run
  env: {BADGE: v1, PLAIN: v2}
  config: {prompt: "Ask EMP-000001 about it."}
suite: {scenarios: s.yaml}
secrets: {names: [badge, SHOE_SIZE], patterns: ['EMP-\\d{6}']}
"""
SCENARIOS = "- {name: s, input: hi, evaluators: [{contains: x}]}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssn=078-05-1120; x", f"ssn={MASK}; x"),
        ("SSN: 078051120, Customer_PIN=9", f"SSN: {MASK}, Customer_PIN={MASK}"),
        ('{"a": "\\nssn=1\\n", "ssn": "1 2"}', f'{{"a": "\\nssn={MASK}\\n", "ssn": "{MASK}"}}'),
        ("EMP-123456 and EMP-1", f"{MASK} and EMP-1"),
        ("the ssn is asked for; lessn: 5", "the ssn is asked for; lessn: 5"),
    ],
)
def test_names_and_patterns_are_masked(text: str, expected: str) -> None:
    assert REDACTOR.text(text) == expected
    assert REDACTOR.text(expected) == expected


def test_a_number_behind_a_declared_name_leaves_json_whole() -> None:
    inner = json.dumps({"customer_pin": 4711, "n": 1})
    outer = json.loads(REDACTOR.text(json.dumps({"body": inner, "ssn": 5})))
    assert (json.loads(outer["body"]), outer["ssn"]) == ({"customer_pin": MASK, "n": 1}, MASK)


def test_a_number_in_the_arguments_of_a_tool_is_masked() -> None:
    step = Step(action=Action.CALL_TOOL, tool="pay", arguments={"customer_pin": 4711, "amount": 5})
    kept = REDACTOR.execution(Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=(step,))))
    assert kept.trace.steps[0].arguments == {"customer_pin": MASK, "amount": 5}


def test_a_project_declares_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    monkeypatch.setenv("SHOE_SIZE", "44")
    of_project = redactor(load_project(tmp_path))
    assert (
        of_project.text("v1 wears 44, not 440; v2, EMP-222222") == f"{MASK} wears {MASK}, not 440; v2, {MASK}"
    )
    assert of_project.text("EMP-000001") == "EMP-000001"  # it stands in the prompt


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("'EMP-('", "expects a regular expression"), ("'(EMP)?'", "fits an empty text"), ("5", "patterns")],
)
def test_a_wrong_pattern_is_named(tmp_path: Path, wrong: str, said: str) -> None:
    (tmp_path / "agentmut.yaml").write_text(PROJECT.replace("'EMP-\\d{6}'", wrong))
    (tmp_path / "s.yaml").write_text(SCENARIOS)
    with pytest.raises(ProjectError, match=r"agentmut.yaml:9.*secrets.patterns") as raised:
        load_project(tmp_path)
    assert said in str(raised.value)


def test_a_pattern_that_does_not_end_is_an_error_and_keeps_nothing() -> None:
    endless = DeclaredSecrets(patterns=["(.*?,){25}P"], seconds=0.2)
    with pytest.raises(RunError, match=r"took more than 0\.2 s"):
        Redactor((), declared=endless).text(",".join(map(str, range(60))))
