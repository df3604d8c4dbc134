"""An expression that a run's data does not allow is an error of the evaluator in every verb, with file and line."""

import json
from pathlib import Path

import pytest
import yaml

from agentmut.cli import main
from tests.cli.ran_project import ran

UNFIT = "json['id'] == 7"


def told(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main([*words, "--project", str(folder)])
    output = capsys.readouterr()
    return int(str(left.value.code or 0)), " ".join((output.out + output.err).split())


def judged_by(folder: Path, *evaluators: object) -> None:
    """Write the suite of `folder` anew; its first evaluator stands in line 4."""
    written = "\n".join(f"  - {json.dumps(one)}" for one in evaluators)
    (folder / "s.yaml").write_text(f"- name: where\n  input: Where is it?\n  evaluators:\n{written}\n")


def test_every_verb_that_judges_names_the_expression_and_keeps_what_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ran(tmp_path)
    assert told(capsys, folder, "baseline", "save", "first", "--yes")[0] == 0
    judged_by(folder, {"contains": "hello"}, {"expression": UNFIT})
    for words in (
        ("run", "--yes"),
        ("test", "--yes"),
        ("rescore",),
        ("baseline", "save", "second", "--yes"),
        ("baseline", "compare", "first", "--yes"),
    ):
        code, said = told(capsys, folder, *words)
        assert code == 4, (words, said)
        place = "s.yaml:5: evaluator 'expression' of scenario 'where'"
        assert f"{place}: `{UNFIT}` cannot be evaluated: " in said, (words, said)
        assert "`otherwise: fail`" in said and "Finished trials are kept" in said
    judged_by(folder, {"contains": "hello"}, {"expression": "json is None"})
    assert told(capsys, folder, "run", "--yes")[0] == 0


def test_relations_name_the_expression_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ran(tmp_path)
    settings = yaml.safe_load((folder / "agentmut.yaml").read_text())
    settings["relations"] = {"sources": 10, "use": ["perturbation.noise"]}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    judged_by(folder, {"expression": UNFIT})
    code, said = told(capsys, folder, "relations", "--yes")
    assert (code, f"s.yaml:4: evaluator 'expression' of scenario 'where': `{UNFIT}`" in said) == (4, True), (
        said
    )


def test_such_a_run_fails_where_the_file_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ran(tmp_path)
    judged_by(folder, {"expression": {"check": UNFIT, "otherwise": "fail"}})
    code, said = told(capsys, folder, "test", "--yes")
    assert code == 1 and "cannot be evaluated" in said, said


def test_a_precondition_that_does_not_fit_is_told_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ran(tmp_path)
    contract = {
        "name": "c",
        "preconditions": [{"id": "second", "check": "turns[1] == 'a'"}],
        "governance": {"max_steps": 9},
    }
    judged_by(folder, {"contract": contract})
    (folder / f"agent_of_{folder.name}.py").write_text("raise SystemError('no run')")
    code, said = told(capsys, folder, "test", "--yes")
    assert (
        code == 4 and "s.yaml:4: " in said and "clause second: `turns[1] == 'a'` cannot be evaluated" in said
    ), said
