"""`agentmut plan`, `gate` and `trend`, as a user drives them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agentmut as package
from agentmut.errors import UsageError

ROOT = Path(__file__).parents[2]
AGENTMUT = [sys.executable, "-IS", str(ROOT / "tests" / "testdata" / "warm_cli.py")]
AGENT = """
import hashlib
from agentmut.trace import Action, AgentTrace, Step, Usage
from agentmut.trial import current_trial

def run(config, input):
    lucky = int(hashlib.sha256(current_trial().id.encode()).hexdigest(), 16) % 100 < RATE
    said = " ".join(word for word in ("hello", "bye", "thanks", "sorry") if word in config.prompt)
    call = Step(action=Action.REASON, model="m", usage=Usage(input_tokens=1000, output_tokens=100))
    return AgentTrace(steps=(call,), outputs=(said if lucky else "hm",), seconds=0.5)

RATE = 97
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Say hello. Say bye. Say thanks. Say sorry.", model: {name: m}}
suite: {threshold: 0.7}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 40, n_max: 30, delta: 0.3}
budget: {prices: {m: {input: 2, output: 10}}}
gate: {min_score: 0.4, min_coverage: 0.1, max_usd: 5, max_usd_per_run: 0.01, max_seconds_per_run: 30}
"""
SCENARIOS = """
- name: greets
  input: "hi"
  evaluators: [{contains: hello}, {contains: bye}, {contains: thanks}]
"""


class Command:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*AGENTMUT, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    def json(self, *arguments: str, code: int = 0) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == code, done.stderr or done.stdout
        return json.loads(done.stdout)

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))


@pytest.fixture
def agentmut(tmp_path: Path) -> Command:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "scenarios" / "s.yaml").write_text(SCENARIOS)
    return Command(tmp_path)


def test_a_gate_without_evidence_asks_a_person_and_says_what_is_missing(agentmut: Command) -> None:
    found = agentmut.json("gate", code=3)
    assert found["decision"] == "manual"
    assert {each["standing"] for each in found["requirements"]} == {"met", "no evidence"}  # it cost nothing
    assert "`agentmut run` makes it" in found["reasons"][1]


def test_a_campaign_decides_and_stale_evidence_does_not(agentmut: Command) -> None:
    first = agentmut("run", "--yes", "--gate")
    assert first.returncode == 0, first.stdout
    assert "Decision: deploy" in first.stdout
    found = agentmut.json("gate")
    names = {each["name"]: each["standing"] for each in found["requirements"]}
    # Three of four are noticed, and one of them may be by chance: P(2 or more of 4 at 0.05) = 0.014 < 0.025.
    assert names["mutation score"] == "met"
    assert names["suite verdict"] == "met"
    assert names["cost of a run"] == "met"  # 1000 x 2 + 100 x 10 dollars per million: 0.003
    assert agentmut("gate", "--min-score", "0.99").returncode == 3
    assert agentmut("gate", "--min-score", "0.99", "--inconclusive", "block").returncode == 1
    assert agentmut("gate", "--min-coverage", "1").returncode == 3
    with_gate = agentmut.json("run", "--yes", "--gate")
    assert with_gate["gate"]["decision"] == "deploy"
    assert with_gate["score"]["killed"] == 3
    assert with_gate["score"]["low"] == 0.5
    assert package.gate(agentmut.folder, min_score=0.99).decision == "manual"

    agentmut.edit("agentmut.yaml", "Say hello.", "Be kind. Say hello.")
    stale = agentmut.json("gate", code=3)
    assert stale["decision"] == "manual"
    assert all("the agent's config has changed since" in said for said in stale["left_out"])
    agentmut.edit("agentmut.yaml", "Be kind. ", "")
    agentmut.edit("my_agent.py", "RATE = 97", "RATE = 96")
    assert any("code or packages changed since" in said for said in agentmut.json("gate", code=3)["left_out"])
    agentmut.edit("my_agent.py", "RATE = 96", "RATE = 97")
    agentmut.edit("scenarios/s.yaml", "hello", "hell")
    assert any("the suite" in said for said in agentmut.json("gate", code=3)["left_out"])


def test_a_run_on_some_mutants_decides_only_where_it_is_named(agentmut: Command) -> None:
    run = agentmut.json("run", "--yes", "--sample", "1")["run_id"]
    latest = agentmut.json("gate", code=3)
    assert any("it measured 1 of the 4 mutants" in said for said in latest["left_out"])
    named = agentmut.json("gate", run, "--min-score", "0")
    assert any("did not measure 3 of the mutants" in said for said in named["notes"])
    assert agentmut("gate", "nonsense").returncode == 2


def test_a_failing_test_blocks_and_a_regression_does(agentmut: Command) -> None:
    agentmut.edit("agentmut.yaml", "gate: {min_score: 0.4, min_coverage: 0.1,", "gate: {")
    assert agentmut("baseline", "save", "--trials", "40", "--yes").returncode == 0
    agentmut.edit("my_agent.py", "RATE = 97", "RATE = 30")
    assert agentmut("test", "--yes").returncode == 1
    found = agentmut.json("gate", code=1)
    assert found["reasons"][0].startswith("suite verdict: FAIL")
    assert agentmut("gate", "--baseline", "default").returncode == 1  # the test failed already
    assert agentmut("baseline", "compare", "--yes").returncode == 1
    compared = agentmut.json("gate", "--baseline", "default", code=1)
    assert [each["standing"] for each in compared["requirements"] if each["name"] == "regression"] == [
        "not met"
    ]
    other = agentmut.json("gate", "--baseline", "other", code=1)
    assert any("not 'other'" in said for said in other["left_out"])


def test_a_trend_marks_changes_and_flags_drift(agentmut: Command) -> None:
    nothing = agentmut("trend")
    assert nothing.returncode == 2
    assert "no stored run yet" in nothing.stderr
    fixed = ("test", "--yes", "--method", "fixed", "--fresh", "--trials")
    agentmut(*fixed, "60")
    agentmut.edit("my_agent.py", "RATE = 97", "RATE = 60")
    run = agentmut.json(*fixed, "40", code=3)["run_id"]
    found = agentmut.json("trend", "--exit-code", code=1)
    assert [row["changed"] for row in found["rows"]] == [[], ["code"]]
    assert [row["trials"] for row in found["rows"]] == [60, 40]
    (watch,) = found["watches"]
    assert watch["since"] == run
    assert 10 < watch["alarm_at"] <= 50  # ten trials of the first run came before the drop
    assert 0 < found["false_alarm"] < 0.2
    shown = agentmut("trend")
    assert shown.returncode == 0
    assert "DRIFT" in shown.stdout
    assert "chance that any of these scenarios is flagged" in " ".join(shown.stdout.split())
    assert max(map(len, shown.stdout.splitlines())) <= 80
    (agentmut.folder / ".agentmut" / "runs" / run / "verdicts.json").write_text("{")
    assert "was left out" in agentmut("trend").stdout


def test_trials_that_are_reused_are_watched_once(agentmut: Command) -> None:
    for _ in range(2):
        agentmut("test", "--yes", "--method", "fixed", "--trials", "60")
    (watch,) = agentmut.json("trend")["watches"]
    assert watch["watched"] == 10


def test_bad_input_of_the_trend_is_refused(agentmut: Command) -> None:
    for option, value in (("--drop", "0"), ("--drop", "1"), ("--reference", "3"), ("--in-control", "0")):
        assert agentmut("trend", option, value).returncode == 2
    with pytest.raises(UsageError, match="reference"):
        package.trend(agentmut.folder, reference=3)


def test_a_plan_prices_what_a_run_would_take(agentmut: Command) -> None:
    before = agentmut.json("plan")
    assert before["mutants"] == {"prompt": 4}
    # Prompt of 42 characters and an input of 2: 44 / 4 = 11 tokens in, 200 out: 11 x 2 + 200 x 10 per million.
    assert before["baseline"] == {"trials": 40, "usd": pytest.approx(40 * 0.002022), "minutes": None}
    # Four mutants and two controls, 30 trials each at most.
    assert before["worst"]["trials"] == 40 + 6 * 30
    assert [line["drop"] for line in before["lines"]] == [0, 0.3, 0.6]
    for line in before["lines"]:
        assert line["killed"] + line["survived"] + line["undecided"] == pytest.approx(1)
    assert before["lines"][0]["killed"] <= 0.05
    assert before["lines"][2]["killed"] > 0.9
    assert "No budget is set" in before["asks"]
    assert any("halfway from their threshold" in said for said in before["assumptions"])

    refused = agentmut("plan", "--probe", "5")
    assert refused.returncode == 2
    assert "No budget is set" in refused.stderr
    probed = agentmut.json("plan", "--probe", "5", "--yes")
    assert probed["baseline"]["usd"] == pytest.approx(40 * 0.003)
    assert probed["baseline"]["minutes"] == pytest.approx(
        40 * 0.5 / 4 / 60, rel=0.1
    )  # four mutants at a time
    assert any("those of 5 stored runs" in said for said in probed["assumptions"])
    result = agentmut.json("run", "--yes")
    assert result["cost"]["reused"] == 5  # a probe is part of the baseline
    assert agentmut.json("plan")["history"]["trials"] > 0


def test_a_plan_says_when_the_run_would_ask_or_be_stopped(agentmut: Command) -> None:
    agentmut.edit("agentmut.yaml", "budget: {", "budget: {trials: 60, ask_above: {trials: 45}, ")
    text = " ".join(agentmut("plan", "--rate", "0.9").stdout.split())
    assert "stopped by budget.trials (60," in text
    assert "60 trials, more than budget.ask_above.trials (45)" in text
    asked = agentmut("run")
    assert asked.returncode == 2
    assert "Pass --yes, or raise the limit." in asked.stderr
    assert agentmut("plan", "--rate", "1.2").returncode == 2
