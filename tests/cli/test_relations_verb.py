"""`agentmut relations`, as a user drives it."""

import contextlib
import json
import subprocess
from io import StringIO
from pathlib import Path

import pytest

from agentmut.cli import main
from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = """
SHOUTED = False

def run(config, input):
    print("noise on stdout")
    if "Greet" not in config.prompt:
        return "hm"
    return "It costs 99 euros." if SHOUTED and input.isupper() else "It costs 12 euros."
"""
RELATIONS = """
from agentmut.nouns.relation import Expectation, Family, FollowUp, FollowUpRun
from agentmut.nouns.trace import Check


class Upper:
    id = "perturbation.upper"
    version = 1
    family = Family.PERTURBATION
    expectation = Expectation.INVARIANT
    why = "capitals matter"

    def __init__(self, argument):
        pass

    def lack(self, scenario, config):
        return "" if scenario.name == "price" else "it is about something else"

    def follow_up(self, source):
        turns = tuple(turn.upper() for turn in source.scenario.turns)
        return FollowUp(runs=(FollowUpRun(turns=turns),), description="in \\x1b[31mcapitals")

    def holds(self, pair):
        same = pair.source.text == pair.trace.text
        return Check(evaluator=self.id, passed=same, reason=f"{pair.source.text} became {pair.trace.text}")

    def examples(self):
        return ()
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Greet the user."}
relations: {own: ["my_relations:Upper"], use: [perturbation.upper], sources: 30, pairs: 20}
"""
SCENARIOS = """
- name: price
  input: "what does it cost?"
  evaluators: [{contains: euros}]
- name: other
  input: "what?"
  evaluators: [{contains: euros}]
"""


class Command:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.verb("relations", *arguments)

    def verb(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_agentmut(self.folder, *arguments)

    def here(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same in this process, for what runs no agent."""
        out, err = StringIO(), StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            main(["relations", *arguments])  # without a supervisor, which would fork this process
        return subprocess.CompletedProcess(
            arguments, int(left.value.code or 0), out.getvalue(), err.getvalue()
        )

    def shouts(self) -> None:
        (self.folder / "my_agent.py").write_text(AGENT.replace("SHOUTED = False", "SHOUTED = True"))


@pytest.fixture
def relations(tmp_path: Path) -> Command:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "my_relations.py").write_text(RELATIONS)
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "scenarios" / "s.yaml").write_text(SCENARIOS)
    return Command(tmp_path)


def test_an_agent_that_keeps_its_relations_passes_with_exit_code_zero(relations: Command) -> None:
    done = relations("--yes")
    assert done.returncode == 0, done.stderr
    assert "PASS: 1 check (a relation on a scenario): 1 pass; 1 not applicable" in done.stdout
    said = " ".join(done.stdout.split())
    assert "PASS on every scenario: perturbation.upper" in said
    assert "`agentmut report --full` shows every row, why 1 check did not apply." in said


def test_a_violated_relation_exits_with_one_and_shows_cleaned_texts(relations: Command) -> None:
    relations.shouts()
    done = relations("--yes")
    assert done.returncode == 1, done.stderr
    assert "WHAT DOES IT COST?" in done.stdout and "became It costs 99 euros." in done.stdout
    assert "\x1b" not in done.stdout and "noise on stdout" not in done.stdout


def test_json_stands_alone_on_stdout_and_a_report_is_printed_again(relations: Command) -> None:
    report = json.loads(relations("--yes", "--json").stdout)
    assert report["kind"] == "relations" and report["finding"] == "PASS"
    assert [row["finding"] for row in report["rows"]] == ["PASS", "not_applicable"]
    assert len(list((relations.folder / ".agentmut" / "runs").glob("*/relations.json"))) == 1
    run = report["run_id"]
    assert "PASS: 1 check (a relation on a scenario)" in relations.verb("report", run).stdout
    assert json.loads(relations.verb("report", run, "--json").stdout)["run_id"] == run
    stored = json.loads(relations("--stored", "--json").stdout)["run_id"]
    assert stored != run
    assert relations.verb("report", stored, "--format", "markdown").stdout.startswith(
        "## Metamorphic relations: PASS"
    )
    assert json.loads(relations.verb("report", "--json").stdout)["run_id"] == stored
    # each kind keeps its latest
    assert "there is nothing to remove" in relations.verb("clean", "--dry-run").stdout


def test_a_preview_shows_what_fits_and_runs_nothing(relations: Command) -> None:
    done = relations.here("--preview")
    assert done.returncode == 0, done.stderr
    assert "perturbation.upper: price" in done.stdout and "Nothing was run." in done.stdout
    assert not (relations.folder / ".agentmut").exists()


def test_where_nothing_applies_the_exit_code_is_three(relations: Command) -> None:
    done = relations.here("--yes", "--scenario", "other")
    assert done.returncode == 3, done.stderr
    assert "not_applicable: none of 1 check (a relation on a scenario) applies" in done.stdout


def test_a_change_for_the_worse_exits_with_one(relations: Command) -> None:
    assert relations("--yes", "--save", "good").returncode == 0
    relations.shouts()
    done = relations("--yes", "--against", "good")
    assert done.returncode == 1, done.stderr
    assert "worse than 'good'" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "1 relation on 1 scenario: about 50 agent runs at most"),
        (["--stored"], "nothing in the store can be used"),
        (["--relation", "perturbation.uper"], "Did you mean 'perturbation.upper'?"),
        (["--run", "x"], "--run is for --survivors"),
        (["--stored", "--fresh"], "--stored and --fresh cannot be given together"),
        (["--save", "a/b", "--yes"], "the name of a saved report has letters"),
        (["--save", ""], "--save: the name is empty"),
        (["--against", "nobody", "--yes"], "there is no saved report 'nobody'"),
        (["--survivors", "--yes"], "there is no stored campaign"),
        (["--survivors", "--seed", "2"], "--survivors uses the seed of the run"),
        (["--pairs", "0"], "pairs"),
    ],
)
def test_bad_options_are_refused_with_a_reason(relations: Command, options: list[str], said: str) -> None:
    done = relations.here(*options)
    assert done.returncode == 2 and said in done.stderr.replace("\n", " ")
    assert not list((relations.folder).glob(".agentmut/runs/*"))
