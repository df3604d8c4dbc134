"""`agentmut trials`: what is stored, one by one, and what an outage has spoiled."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.store.rows import StoredTrial
from agentmut.store.store import Store


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "trials_agent.py").write_text("def run(config, input):\n    return config.prompt\n")
    agent = {"adapter": "python", "run": "trials_agent:run", "config": {"prompt": "Say hello."}}
    (tmp_path / "agentmut.yaml").write_text(
        yaml.safe_dump({"version": 1, "agent": agent, "suite": {"scenarios": "s.yaml"}})
    )
    suite = [{"name": "greets", "input": "hi", "evaluators": [{"contains": "hello"}]}]
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(suite))
    return tmp_path


def stored(project: Path) -> None:
    store = Store(project / ".agentmut" / "store.db")
    call = Step(action=Action.CALL_TOOL, tool="look", arguments={"at": "P-1"}, output="81")
    for number, (mutant, said) in enumerate([("", "hello"), ("abc1", "no"), ("abc2", "nope")]):
        trace = AgentTrace(steps=(call,), outputs=(said,))
        execution = Execution(ending=Ending.ANSWERED, trace=trace)
        store.save("r", [StoredTrial(f"k{number}", mutant, "greets", number, execution, 1000.0 + number)])
    store.quarantine.add("r", ["k2"], "the service was in trouble")
    store.close()


def told(project: Path, *arguments: str) -> list[dict[str, object]]:
    done = CliRunner().invoke(app, ["trials", *arguments, "--json", "--project", str(project)])
    assert done.exit_code == 0, done.output
    found: list[dict[str, object]] = json.loads(done.stdout)["trials"]
    return found


def test_trials_are_listed_by_scenario_mutant_and_outcome(project: Path) -> None:
    stored(project)
    rows = told(project)
    assert [(row["mutant"], row["outcome"]) for row in rows] == [
        ("", "pass"),
        ("abc1", "fail"),
        ("abc2", "fail"),
    ]
    assert [row["repeat"] for row in told(project, "--failed")] == [1, 2]
    assert [row["repeat"] for row in told(project, "--mutant", "original")] == [0]
    assert [row["repeat"] for row in told(project, "greets", "--mutant", "abc")] == [1, 2]


def test_what_was_set_aside_is_shown_with_its_reason(project: Path) -> None:
    stored(project)
    (row,) = told(project, "--quarantined")
    assert (row["mutant"], row["quarantined"], row["finished"]) == (
        "abc2",
        "the service was in trouble",
        1002.0,
    )
    done = CliRunner().invoke(app, ["trials", "--quarantined", "--project", str(project)])
    assert "1970-01-01 00:16:42" in done.stdout and "set aside: the service was in trouble" in done.stdout


def test_one_trial_is_printed_with_its_calls_and_answer(project: Path) -> None:
    stored(project)
    number = str(told(project, "--mutant", "abc1")[0]["trial"])
    done = CliRunner().invoke(app, ["trials", "--trial", number, "--project", str(project)])
    assert "look({'at': 'P-1'}): 81" in done.stdout
    assert "  user 0: hi\n" in done.stdout
    assert "answer 0: no" in done.stdout and "failed  contains" in done.stdout


def test_without_trials_it_says_what_to_do(project: Path) -> None:
    done = CliRunner().invoke(app, ["trials", "--project", str(project)])
    assert done.exit_code != 0
    stored(project)
    done = CliRunner().invoke(app, ["trials", "--trial", "99", "--project", str(project)])
    assert done.exit_code != 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("greet",), "there is no scenario 'greet'; there are greets"),
        (
            ("--mutant", "zz"),
            "no trial is stored of a mutant that begins with 'zz'; the first of 2 are abc1, abc2",
        ),
    ],
)
def test_what_there_is_not_is_an_error_that_names_what_there_is(
    project: Path, asked: tuple[str, ...], message: str
) -> None:
    stored(project)
    done = CliRunner().invoke(app, ["trials", *asked, "--project", str(project)])
    assert isinstance(done.exception, UsageError) and message in str(done.exception)


def test_a_scenario_of_the_suite_without_trials_is_no_error(project: Path) -> None:
    stored(project)
    suite = [{"name": name, "input": "hi", "evaluators": [{"contains": "a"}]} for name in ("greets", "new")]
    (project / "s.yaml").write_text(yaml.safe_dump(suite))
    assert told(project, "new") == []


def test_trials_are_written_as_csv(project: Path) -> None:
    stored(project)
    done = CliRunner().invoke(app, ["trials", "--csv", "--project", str(project)])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["mutant"], row["scenario"], row["outcome"]) for row in rows] == [
        ("", "greets", "pass"),
        ("abc1", "greets", "fail"),
        ("abc2", "greets", "fail"),
    ]
    both = CliRunner().invoke(app, ["trials", "--csv", "--json", "--project", str(project)])
    assert isinstance(both.exception, UsageError)


EVIL = "ok\x1b]0;mine\x07\x9b31m\u202e\n::error::no finding"


def test_what_models_and_users_said_steers_no_terminal_and_orders_no_ci(project: Path) -> None:
    text = (project / "s.yaml").read_text().replace("greets", json.dumps(f"{EVIL} name"))
    (project / "s.yaml").write_text(text)
    store = Store(project / ".agentmut" / "store.db")
    call = Step(action=Action.CALL_TOOL, tool=EVIL, arguments={"at": EVIL}, output=EVIL)
    execution = Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=(call,), outputs=(EVIL,)))
    store.save("r", [StoredTrial("k", "", f"{EVIL} name", 0, execution, 1000.0)])
    store.close()
    for words in ([], ["--trial", "1"], ["--json"], ["--trial", "1", "--json"]):
        done = CliRunner().invoke(app, ["trials", *words, "--project", str(project)], color=True)
        assert done.exit_code == 0, done.output
        assert not set("\x1b\x07\x9b\u202e") & set(done.stdout)
        assert not re.search(r"^\s*::error", done.stdout, re.MULTILINE)
    assert json.loads(done.stdout)["row"]["scenario"] == f"{EVIL} name"
