"""Options and files that make no sense get one line with the remedy; what a file imports is not lost."""

import json
from pathlib import Path

import pytest
import yaml

from agentmut.cli import main

STEPS = (
    '{"schema_version": "ATIF-v1.6", "session_id": "a", "agent": {"name": "a", "version": "1"}, "steps": 5}'
)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    output = capsys.readouterr()
    return int(str(left.value.code or 0)), " ".join((output.out + output.err).split())


def test_a_number_that_no_trial_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path)
    assert told(capsys, "init", folder)[0] == 0
    assert told(capsys, "run", "--yes", "--baseline-only", "--project", folder)[0] == 0
    code, said = told(capsys, "trials", "--trial", str(10**23), "--project", folder)
    assert (code, "there is no such trial" in said) == (2, True)


def test_a_file_that_is_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as place:
        place.chdir(tmp_path)
        assert told(capsys, "init")[0] == 0
        code, said = told(capsys, "store", "copy", "x.db", "--from", "agentmut.yaml")
    assert code != 0
    assert "The file is no store of agentmut, or it is damaged. Name another file" in said


def test_a_starter_and_a_file_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n- Always greet.\n")
    words = ("init", str(tmp_path / "p"), "--from", str(tmp_path / "AGENTS.md"), "--framework", "crewai")
    code, said = told(capsys, *words)
    assert (code, "leave one out" in said) == (2, True)
    assert not (tmp_path / "p").exists()


def test_what_a_file_imports_is_a_document_of_the_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "style.md").write_text("Keep answers short.\n")
    (tmp_path / "AGENTS.md").write_text("# Rules\n\n- Always greet.\n\n@docs/style.md\n")
    assert told(capsys, "init", str(tmp_path / "p"), "--from", str(tmp_path / "AGENTS.md"))[0] == 0
    config = yaml.safe_load((tmp_path / "p" / "agentmut.yaml").read_text())["agent"]["config"]
    assert config["context"] == ["docs/style.md"]
    assert (tmp_path / "p" / "docs" / "style.md").read_text() == "Keep answers short.\n"


def test_a_record_with_a_field_of_another_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(STEPS)
    _, said = told(capsys, "import", str(tmp_path / "a.json"), "--format", "atif", "--project", str(tmp_path))
    assert "a field is of another type than the format has it" in said


def test_a_field_to_group_by_that_no_record_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    runs = [{"task_id": 0, "reward": 1.0, "trial": i, "info": {}, "traj": talk} for i in range(3)]
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    assert told(capsys, "import", str(tmp_path / "runs.json"), "--project", str(tmp_path))[0] == 0
    code, said = told(capsys, "analyze", "--by", "nofield", "--project", str(tmp_path))
    assert code == 2
    assert "--by: the record in" in said and "--scenario-by" not in said


def test_a_variable_that_is_not_set_names_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as place:
        place.chdir(tmp_path)
        place.delenv("AGENTMUT_NOWHERE", raising=False)
        place.setenv("AGENTMUT_HERE", "copied")
        assert told(capsys, "init")[0] == 0
        assert told(capsys, "run", "--yes", "--baseline-only")[0] == 0
        code, said = told(capsys, "store", "copy", "${AGENTMUT_NOWHERE}")
        assert code == 2 and "the environment variable AGENTMUT_NOWHERE is not set" in said
        assert told(capsys, "store", "copy", "${AGENTMUT_HERE}.db")[0] == 0
    assert (tmp_path / "copied.db").is_file()
    assert not list(tmp_path.glob("$*"))


def test_a_merge_of_a_file_that_is_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "init", str(tmp_path))[0] == 0
    project = str(tmp_path / "agentmut.yaml")
    code, said = told(capsys, "merge", project, "--project", str(tmp_path))
    assert code == 2
    assert f"{project} is no store. Name the .agentmut folder of a shard" in said
