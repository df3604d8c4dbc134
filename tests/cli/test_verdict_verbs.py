"""`agentmut test` and `agentmut baseline`, as a user drives them."""

import json
import shutil
import subprocess
from math import comb
from pathlib import Path

import pytest

from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = """
import hashlib
from agentmut.recording.current import current_trial

def run(config, input):
    lucky = int(hashlib.sha256(current_trial().id.encode()).hexdigest(), 16) % 100 < RATE
    return "hello" if "greet" in config.prompt and lucky else "hm"

RATE = 97
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Always greet the user. Be brief."}
suite: {threshold: 0.8}
"""
SCENARIOS = """
- name: greets
  input: "hi"
  evaluators: [{contains: hello}]
- name: answers
  input: "what?"
  evaluators: [{regex: "h"}]
"""


class Command:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_agentmut(self.folder, *arguments)

    def agent(self, rate: int) -> None:
        (self.folder / "my_agent.py").write_text(AGENT.replace("RATE = 97", f"RATE = {rate}"))
        # what was compiled of another text of this size within the same second would be taken for its own
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)


@pytest.fixture
def agentmut(tmp_path: Path) -> Command:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "scenarios" / "s.yaml").write_text(SCENARIOS)
    command = Command(tmp_path)
    command.agent(97)
    return command


def test_a_good_agent_passes_with_exit_code_zero(agentmut: Command) -> None:
    done = agentmut("test", "--yes")
    assert done.returncode == 0, done.stderr
    assert "PASS:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_bad_agent_fails_with_exit_code_one_and_says_why(agentmut: Command) -> None:
    agentmut.agent(40)
    done = agentmut("test", "--yes")
    assert done.returncode == 1, done.stderr
    assert "greets: FAIL" in done.stdout
    assert "first failure:" in done.stdout


def test_too_little_evidence_has_exit_code_three_and_says_what_it_would_take(agentmut: Command) -> None:
    done = agentmut("test", "--yes", "--method", "fixed", "--trials", "10")
    assert done.returncode == 3, done.stderr
    assert "a new sample of" in done.stdout
    assert "cannot PASS with 10 trials" in done.stdout.replace("\n", " ")


def test_json_is_one_document_alone_on_stdout(agentmut: Command) -> None:
    done = agentmut("test", "--yes", "--json", "--correction", "benjamini-hochberg")
    report = json.loads(done.stdout)
    assert (report["verdict"], report["correction"]) == ("PASS", "benjamini-hochberg")
    kept = agentmut.folder / ".agentmut" / "runs" / report["run_id"] / "verdicts.json"
    assert json.loads(kept.read_text()) == report


def test_an_unbounded_test_is_not_started_by_a_script_that_cannot_be_asked(agentmut: Command) -> None:
    done = agentmut("test")
    assert done.returncode == 2
    assert "at most 200 agent runs" in done.stderr


def test_a_preview_runs_nothing(agentmut: Command) -> None:
    (agentmut.folder / "my_agent.py").write_text("raise RuntimeError('the agent was imported')")
    done = agentmut("test", "--preview")
    assert done.returncode == 0, done.stderr
    assert "at the threshold" in done.stdout
    assert not (agentmut.folder / ".agentmut" / "runs").exists()


def test_a_preview_tells_the_chances_at_an_assumed_rate(agentmut: Command) -> None:
    done = agentmut("test", "--preview", "--rate", "1", "--method", "fixed", "--trials", "20", "--json")
    (line,) = json.loads(done.stdout)["lines"]
    # 0.8^20 = 0.0115 <= 0.05 / 2: twenty passes in a row pass, and a flawless agent has no others
    assert (line["suite"]["passed"], line["suite"]["failed"], line["suite"]["trials"]) == (1.0, 0.0, 40.0)
    assert line["suite"]["cost"] is None


@pytest.mark.parametrize("rate", ["1.5", "-0.1", "nan"])
def test_a_rate_that_is_none_is_refused(agentmut: Command, rate: str) -> None:
    done = agentmut("test", "--preview", "--rate", rate)
    assert done.returncode == 2
    assert "--rate: a pass rate is between 0 and 1" in done.stderr


def test_a_baseline_tells_a_regression_from_a_change_of_nothing(agentmut: Command) -> None:
    saved = agentmut("baseline", "save", "--yes", "--trials", "60")
    assert saved.returncode == 0, saved.stderr
    assert "agentmut baseline compare" in saved.stdout
    same = agentmut("baseline", "compare", "--yes")
    assert same.returncode == 0, same.stderr
    assert "only a drift of the model service" in same.stdout.replace("\n", " ")
    agentmut.agent(50)
    worse = agentmut("baseline", "compare", "--yes")
    assert worse.returncode == 1, worse.stderr
    assert "greets: FAIL" in worse.stdout
    assert "Cohen's h" in worse.stdout


def test_a_preview_of_a_comparison_runs_nothing_and_shows_what_it_notices(agentmut: Command) -> None:
    agentmut("baseline", "save", "--yes", "--trials", "20")
    runs = sorted((agentmut.folder / ".agentmut" / "runs").glob("*"))
    (agentmut.folder / "my_agent.py").write_text("raise RuntimeError('the agent was imported')")
    done = agentmut("baseline", "compare", "--preview", "--method", "fixed", "--trials", "30", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["kind"], found["method"]) == ("comparison-preview", "fixed")
    power = found["scenarios"]["greets"]["power"]
    assert sorted({cell["trials"] for cell in power}) == [20, 30, 50]
    assert {cell["drop"] for cell in power} == {0.05, 0.1, 0.2, 0.3}
    page = agentmut("baseline", "compare", "--preview").stdout
    assert "Chance of FAIL, greets" in page
    assert max(map(len, page.splitlines())) <= 80
    assert sorted((agentmut.folder / ".agentmut" / "runs").glob("*")) == runs
    unknown = agentmut("baseline", "compare", "--preview", "--scenario", "grets")
    assert unknown.returncode == 2
    assert "--scenario grets: baseline 'default' has no such scenario" in unknown.stderr.replace("\n", " ")


def test_an_update_says_what_it_takes_before_and_what_became_of_the_baseline_after(agentmut: Command) -> None:
    agentmut.agent(100)
    agentmut("baseline", "save", "--yes", "--trials", "20")
    compare = ("baseline", "compare", "--method", "fixed", "--trials", "30", "--update")
    asked = agentmut(*compare, "--update-trials", "7")
    assert asked.returncode == 2
    assert "at most 74 agent runs" in asked.stderr.replace("\n", " ")  # 2 scenarios x (30 + 7)
    assert "Note: greets: after PASS 7 further runs" in asked.stderr
    done = agentmut(*compare, "--update-trials", "7", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    update = json.loads(done.stdout)["update"]
    assert [(row["trials"], row["total_trials"]) for row in update["scenarios"]] == [(7, 27), (7, 27)]
    refused = agentmut("baseline", "compare", "--update", "--preview")
    assert refused.returncode == 2
    assert "--preview runs nothing" in refused.stderr
    alone = agentmut("baseline", "compare", "--update-trials", "7")
    assert alone.returncode == 2
    assert "--update-trials is for --update" in alone.stderr


def test_a_comparison_without_a_baseline_says_how_to_get_one(agentmut: Command) -> None:
    done = agentmut("baseline", "compare", "--yes")
    assert done.returncode == 2
    assert "`agentmut baseline save` makes one" in done.stderr


def test_clean_keeps_the_trials_of_a_baseline(agentmut: Command) -> None:
    agentmut("baseline", "save", "--yes", "--trials", "40")
    agentmut("test", "--yes")
    done = agentmut("clean", "--keep", "0", "--yes", "--json")
    assert len(json.loads(done.stdout)["runs_kept"]) == 1
    again = agentmut("baseline", "save", "other", "--yes", "--trials", "40", "--json")
    assert json.loads(again.stdout)["scenarios"]["greets"]["trials"] == 40


def test_resume_says_what_to_do_instead_for_a_test(agentmut: Command) -> None:
    run_id = json.loads(agentmut("test", "--yes", "--json").stdout)["run_id"]
    done = agentmut("resume", run_id)
    assert done.returncode == 2
    assert "is one of `agentmut test`: give that command again" in done.stderr
    assert "no unfinished run" in agentmut("resume").stderr


def test_a_margin_out_of_range_is_refused(agentmut: Command) -> None:
    done = agentmut("test", "--yes", "--margin", "1.5")
    assert done.returncode == 2
    assert "test.margin: should be less than 1, got 1.5" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("test", "--rate", "0.9"), "--rate is an assumption for --preview"),
        (("test", "--method", "fixed", "--margin", "0.2"), "--margin is for --method sequential"),
        (("test", "--method", "fixed", "--warm-start"), "--warm-start is for --method sequential"),
        (("baseline", "compare", "--trials", "5"), "--trials is for --method fixed"),
        (("baseline", "compare", "--test", "z"), "--test is for --method fixed"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    agentmut: Command, arguments: tuple[str, ...], message: str
) -> None:
    done = agentmut(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_stored_test_is_printed_again(agentmut: Command) -> None:
    first = agentmut("test", "--yes")
    run_id = first.stdout.split()[3]
    assert agentmut("report", run_id).stdout == first.stdout
    assert json.loads(agentmut("report", run_id, "--json").stdout)["run_id"] == run_id


def test_what_cannot_pass_is_said_before_anything_is_run(agentmut: Command) -> None:
    done = agentmut("test", "--method", "fixed", "--trials", "10")
    assert done.returncode == 2
    assert done.stderr.startswith("Note: greets cannot PASS with 10 trials: PASS takes at least 17 passes.")
    assert (
        "cannot PASS with 10" in agentmut("test", "--preview", "--method", "fixed", "--trials", "10").stdout
    )


@pytest.mark.parametrize("statistics", ["{alpha: 0.5, power: 0.5}", "{delta: 0.96}"])
def test_settings_that_no_sequential_rule_can_have_are_an_error_and_no_crash(
    agentmut: Command, statistics: str
) -> None:
    (agentmut.folder / "agentmut.yaml").write_text(PROJECT + f"statistics: {statistics}\n")
    agentmut("baseline", "save", "--yes", "--trials", "40")
    for verb in (("test",), ("baseline", "compare")):
        done = agentmut(*verb, "--yes")
        assert done.returncode in (0, 2), done.stderr
        assert "this is a bug" not in done.stderr


def test_reliability_is_shown_by_test_report_gate_and_trend(agentmut: Command) -> None:
    agentmut.agent(60)
    done = agentmut("test", "--yes", "--method", "fixed", "--trials", "40", "--json")
    found = json.loads(done.stdout)
    rows = {row["scenario"]: row for row in found["reliability"]["scenarios"]}
    passes = rows["greets"]["passes"]
    assert rows["greets"]["flaky"] and not rows["answers"]["flaky"]
    assert rows["answers"]["passes"] == 40
    four = found["reliability"]["chances"][3]
    assert four["pass_hat"]["estimate"] == pytest.approx((comb(passes, 4) / comb(40, 4) + 1) / 2, abs=1e-6)
    assert len(rows["greets"]["decay_curve"]) == 40
    shown = agentmut("report", found["run_id"]).stdout
    assert (
        f"Flaky: on 1 of 2 scenarios some runs pass and some do not. Runs that passed: greets {passes}/40."
        in " ".join(shown.split())
    )
    with (agentmut.folder / "agentmut.yaml").open("a") as file:
        file.write("gate: {verdict: false, require: ['reliability.flaky <= 0']}\n")
    decided = agentmut("gate", "--json")
    assert decided.returncode == 1
    assert json.loads(decided.stdout)["requirements"][0]["reason"].startswith("1, as counted")
    assert (
        json.loads(agentmut("trend", "--json").stdout)["rows"][0]["pass_hat"]["4"]
        == four["pass_hat"]["estimate"]
    )


def test_a_changed_behaviour_is_told_though_every_run_passes(agentmut: Command) -> None:
    agentmut.agent(100)
    assert agentmut("baseline", "save", "good", "--yes", "--trials", "30").returncode == 0
    own = agentmut("test", "--yes", "--method", "fixed", "--trials", "30", "--behaviour", "good", "--json")
    assert "not the baseline's own" in json.loads(own.stdout)["behaviour"]["scenarios"][0]["note"]
    chatty = AGENT.replace('"hello"', '"hello, what else? Shall I go on?"').replace("RATE = 97", "RATE = 100")
    (agentmut.folder / "my_agent.py").write_text(chatty)
    shutil.rmtree(agentmut.folder / "__pycache__", ignore_errors=True)
    options = ("--yes", "--method", "fixed", "--trials", "20", "--behaviour")
    done = agentmut("baseline", "compare", "good", *options)
    assert done.returncode != 1, done.stderr
    shown = " ".join(done.stdout.split())
    assert "greets: CHANGED" in shown
    assert "in 0 of 12 runs before, in 5 of 5 now" in shown
    assert "Changed says neither better nor worse" in shown
    assert max(map(len, done.stdout.splitlines())) <= 80
    told = agentmut("report", "--format", "markdown", _run_of(done.stdout)).stdout
    assert "| `greets` | 20/20 | 30/30 |" in told
    assert "- `greets`: CHANGED" in told
    assert "in 0 of 12 runs before, in 5 of 5 now" in told
    assert "The chance that all of k runs of a scenario pass (pass^k): 1.000" in told


def _run_of(page: str) -> str:
    return page.split("\n", 1)[0].rsplit(maxsplit=1)[-1]
