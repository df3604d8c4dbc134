"""What `--json` prints keeps the schema that `agentmut schema` publishes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import VERBS, app, main
from agentmut.cli.json_documents import DOCUMENTS, schema_text
from agentmut.project.places import runs_folder
from tests.cli.json_of_verbs import problems
from tests.cli.ran_project import ran

PUBLISHED = Path(__file__).parents[2] / "docs" / "output.schema.json"
HAVE_NO_JSON = {"baseline", "store", "schema"}
"""`baseline` and `store` have verbs of their own; `schema` prints JSON anyway."""
ELSEWHERE = {
    "merge": "tests/cli/test_shards_and_pairs.py",
    "replay": "tests/cli/test_replay_verb.py",
    "simulate": "tests/cli/test_json_of_servers.py",
    "proxy": "tests/cli/test_json_of_servers.py",
}
"""Verbs whose documents another file holds against the schema, since it has what they need."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = ran(tmp_path_factory.mktemp("schemed"))
    settings = yaml.safe_load((folder / "agentmut.yaml").read_text())
    settings["execution"] = {"record": True}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    return folder


def printed(arguments: list[str]) -> Any:
    done = CliRunner().invoke(app, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return json.loads(done.stdout)


@pytest.mark.whole
def test_real_outputs_of_the_verbs_are_valid(project: Path, tmp_path: Path) -> None:
    mutant = printed(["mutants", "--json", "--project", str(project)])["mutants"][0]["id"]
    copy = str(tmp_path / "copy.db")
    commands: dict[str, list[list[str]]] = {
        "init": [[str(tmp_path / "new")]],
        "mutants": [[]],
        "plan": [[]],
        "run": [["--yes"], ["--yes", "--gate"], ["--yes", "--fresh", "--trials", "25"]],
        "resume": [[]],
        "report": [[]],
        "show": [[mutant]],
        "trials": [[], ["--trial", "1"]],
        "test": [["--yes"], ["--preview"]],
        "coverage": [[]],
        "suggest": [[]],
        "rescore": [[]],
        "gate": [[]],
        "trend": [[]],
        "doctor": [["--yes"]],
        "baseline save": [["now", "--yes"]],
        "baseline compare": [["now", "--preview"], ["now", "--yes"]],
        "relations": [
            ["--preview"],
            ["--yes", "--relation", "perturbation.noise", "--pairs", "10"],
            ["--survivors", "--yes", "--relation", "perturbation.noise", "--pairs", "10"],
        ],
        "export": [[str(tmp_path / "traces.jsonl")]],
        "import": [[str(tmp_path / "traces.jsonl")]],
        "analyze": [[]],
        "watch": [[str(tmp_path / "traces.jsonl"), "--reference", "20"]],
        "serve": [["--bundle", str(tmp_path / "site")]],
        "store copy": [[copy]],
        "clean": [["--dry-run"]],
    }
    assert {*commands, *ELSEWHERE} == set(DOCUMENTS)
    for verb, several in commands.items():
        for options in several:
            where = [] if verb in ("init", "serve") else ["--project", str(project)]
            places = [str(project)] if verb == "serve" else []
            document = printed([*verb.split(), *places, *options, *where, "--json"])
            assert problems(verb, document) == [], (verb, options)
            assert "error" not in document, (verb, options, document)


@pytest.mark.whole
def test_a_document_with_a_key_too_few_is_not_valid(project: Path) -> None:
    campaign = next(runs_folder(project).glob("*/result.json")).parent.name
    document = printed(["report", campaign, "--json", "--project", str(project)])
    assert problems("report", document | {"news": 1}) == []
    for key in ("schema_version", "score", "mutants", "cost"):
        assert problems("report", {name: value for name, value in document.items() if name != key}), key
    assert problems("report", document | {"mutants": "none"})
    assert problems("mutants", document)


def test_every_verb_has_json_and_a_schema() -> None:
    known = {name.split()[0] for name in DOCUMENTS}
    assert set(VERBS) - HAVE_NO_JSON <= known
    for verb in set(VERBS) - HAVE_NO_JSON:
        assert "--json" in CliRunner().invoke(app, [verb, "--help"]).stdout, verb


@pytest.mark.parametrize("verb", ELSEWHERE)
def test_the_other_file_holds_the_verb_against_its_schema(verb: str) -> None:
    text = (PUBLISHED.parents[1] / ELSEWHERE[verb]).read_text()
    assert f'problems("{verb}"' in text or (f'"{verb}"' in text and "problems(verb" in text)


def test_an_error_is_a_document_with_a_version(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["gate", "--json", "--project", str(tmp_path / "nowhere")])
    document = json.loads(capsys.readouterr().out)
    assert left.value.code == document["exit_code"] == 2
    assert problems("gate", document) == []


def test_the_published_schema_is_that_of_this_version() -> None:
    command = "agentmut schema --output docs/output.schema.json"
    assert PUBLISHED.read_text() == schema_text(), f"out of date; run: {command}"
    Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text()))


def test_the_schema_of_a_verb_is_written_and_an_unknown_verb_refused(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["schema", "baseline", "save", "--output", str(tmp_path / "s.json")])
    assert "baseline save" in json.loads((tmp_path / "s.json").read_text())["title"]
    done = CliRunner().invoke(app, ["schema", "rnu"])
    assert isinstance(done.exception, UsageError) and "Did you mean 'run'?" in str(done.exception)
