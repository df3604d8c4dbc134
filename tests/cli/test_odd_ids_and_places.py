"""What a user mistypes is answered with what there is: ids, filters, empty files, missing folders, other databases."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import AgentmutError
from agentmut.cli.entry import app
from tests.cli.ran_project import ran


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("odd_ids"))


def said(*arguments: str | Path) -> str:
    """The message of a command that is refused."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert isinstance(done.exception, AgentmutError), done.output
    return str(done.exception)


def test_an_ambiguous_id_names_the_mutants_that_begin_so(project: Path) -> None:
    listed = json.loads(CliRunner().invoke(app, ["mutants", "--json", "--project", str(project)]).stdout)[
        "mutants"
    ]
    message = said("show", "", "--project", project)
    assert all(f"{row['id']} (prompt.drop_instruction)" in message for row in listed)
    assert message.endswith("Give more of the id.")
    assert "`agentmut mutants`" in said("show", "zzz", "--project", project)


def test_filters_that_fit_no_imported_run_are_named(project: Path, tmp_path: Path) -> None:
    traces = tmp_path / "traces.jsonl"
    CliRunner().invoke(app, ["export", str(traces), "--project", str(project)])
    assert CliRunner().invoke(app, ["import", str(traces), "--project", str(project)]).exit_code == 0
    message = said("analyze", "--version", "nope", "--project", project)
    assert "no imported run fits the filters" in message and "Leave --version" in message

    span = json.loads(traces.read_text().splitlines()[0])
    span["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["startTimeUnixNano"] = "-1"
    (tmp_path / "early.jsonl").write_text(json.dumps(span) + "\n")
    assert "before 1970" in said("import", tmp_path / "early.jsonl", "--project", project)


def test_what_is_empty_or_no_file_holds_no_runs(project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    assert "is empty: no run is recorded in it" in said(
        "import", tmp_path / "empty.jsonl", "--project", project
    )
    assert "is no file" in said("import", "/dev/null", "--project", project)
    assert "no file fits" in said("import", tmp_path / "none.jsonl", "--project", project)


def test_a_copy_of_a_store_says_which_folder_it_made_and_leaves_no_lock(
    project: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "copy.db"
    done = CliRunner().invoke(app, ["store", "copy", str(target), "--project", str(project)])
    assert done.exit_code == 0 and f"made the folder {target.parent}" in done.stderr
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]


@pytest.mark.parametrize("verb", [["mutants"], ["plan"], ["doctor"], ["gate"], ["serve"], ["run"]])
def test_a_store_of_another_kind_is_refused_by_every_verb(
    project: Path, tmp_path: Path, verb: list[str]
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for name in ("prompt.md", "s.yaml", "agentmut.yaml"):
        (folder / name).write_text((project / name).read_text())
    with (folder / "agentmut.yaml").open("a") as file:
        file.write("store: mysql://me:hunter22@db/trials\n")
    where = [str(folder)] if verb == ["serve"] else ["--project", str(folder)]
    message = said(*verb, *where)
    assert "store.url: a store's URL is written as in postgresql://" in message and "hunter22" not in message


def test_the_starter_of_a_file_says_which_extra_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.json").write_text(
        '{"name": "Desk", "instructions": "Always greet.", "model": "gpt-5"}'
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["init", str(tmp_path / "new"), "--from", str(tmp_path / "agent.json")])
    assert "pip install 'agentmut[openai]'" in done.stdout


def test_a_project_that_is_not_there_is_named_as_what_it_is(tmp_path: Path) -> None:
    message = said("mutants", "--project", tmp_path)
    assert message.startswith(f"there is no agentmut.yaml in {tmp_path}. Run `agentmut init` there")
    for name in ("nonexistent", "other.yaml"):
        missing = tmp_path / name
        assert said("mutants", "--project", missing).startswith(
            f"there is no file or folder {missing}. Name an"
        )
