"""`agentmut plan`, `gate` and `trend`, as a user drives them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import agentmut as package
from agentmut._base.errors import UsageError
from agentmut.report.terminal.plan_page import render_plan
from agentmut.usecases.gate_decision import GateReport
from tests.warm_command import run_agentmut

pytestmark = pytest.mark.process

AGENT = """
import hashlib
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.recording.current import current_trial

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
statistics: {baseline: 40, n_max: 30, delta: 0.3, rounds: one}
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
        return run_agentmut(self.folder, *arguments)

    def json(self, *arguments: str, code: int = 0) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == code, done.stderr or done.stdout
        return json.loads(done.stdout)

    def gate(self, run: str | None = None, **settings: Any) -> GateReport:
        """The same without a process of its own; no agent is run by it."""
        return package.gate(self.folder, run, **settings)

    def edit(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        # what was compiled of another text of this size within the same second would be taken for its own
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)


def project(folder: Path) -> Command:
    (folder / "scenarios").mkdir()
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "scenarios" / "s.yaml").write_text(SCENARIOS)
    return Command(folder)


@pytest.fixture
def agentmut(tmp_path: Path) -> Command:
    return project(tmp_path)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, warm: None) -> Command:
    """A project with a finished campaign, for those who change a copy of it."""
    command = project(tmp_path_factory.mktemp("campaign"))
    assert command("run", "--yes").returncode == 0
    return command


@pytest.fixture
def measured(campaign: Command, tmp_path: Path) -> Command:
    shutil.copytree(campaign.folder, tmp_path / "p")
    return Command(tmp_path / "p")


def test_a_gate_without_evidence_asks_a_person_and_says_what_is_missing(agentmut: Command) -> None:
    found = agentmut.json("gate", code=3)
    assert found["decision"] == "manual"
    # what costs nothing shows nothing
    assert {each["standing"] for each in found["requirements"]} == {"no evidence"}
    assert "`agentmut run` makes one" in found["reasons"][1]


def test_a_campaign_decides_and_stale_evidence_does_not(agentmut: Command) -> None:
    first = agentmut.json("run", "--yes", "--gate")
    assert first["gate"]["decision"] == "deploy"
    # Three of four are noticed, and one of them may be by chance: P(2 or more of 4 at 0.05) = 0.014 < 0.025.
    # no kill may be false: all are certain
    assert (first["score"]["killed"], first["score"]["low"]) == (
        3,
        0.75,
    )
    assert first["score"]["certain"] == 3
    shown = agentmut("gate", "--min-score", "0.99", "--inconclusive", "block")
    assert shown.returncode == 1
    assert "Decision: block (decided by 1 of 6 requirements)" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    names = {each.name: each for each in agentmut.gate().requirements}
    assert names["suite verdict"].standing == "met"
    assert "on the baseline of the campaign" in names["suite verdict"].reason
    assert "0.003 USD" in names["cost of a run"].reason  # 1000 x 2 + 100 x 10 dollars per million
    assert agentmut.gate(min_score=0.99).decision == "manual"
    assert agentmut.gate(min_coverage=1.0).decision == "manual"
    assert agentmut.gate(max_usd_per_run=0.001).decision == "block"
    assert agentmut.gate(max_usd=0.001).decision == "manual"
    with pytest.raises(UsageError, match=r"gate\.min_score"):
        agentmut.gate(min_score=80)


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("agentmut.yaml", "Say hello.", "Be kind. Say hello.", "the agent's config has changed since"),
        ("my_agent.py", "RATE = 97", "RATE = 96", "code or packages changed since"),
        ("scenarios/s.yaml", "hello", "hell", "the suite (other scenarios or evaluators) changed since"),
    ],
)
def test_evidence_on_what_has_changed_since_is_not_used(
    measured: Command, name: str, before: str, after: str, said: str
) -> None:
    measured.edit(name, before, after)
    stale = measured.gate()
    assert stale.decision == "manual"
    assert [each for each in stale.left_out if said in each]


def test_what_is_asked_today_counts_and_not_what_was_asked_then(measured: Command) -> None:
    """Neither thresholds nor the kill rule shape a trial, so the digests of the suite know nothing of them."""
    measured.edit("agentmut.yaml", "threshold: 0.7", "threshold: 0.99")
    (found,) = [each for each in measured.gate().requirements if each.name == "suite verdict"]
    assert found.standing in ("open", "not met")
    measured.edit("agentmut.yaml", "delta: 0.3", "delta: 0.3, alpha: 0.01")
    assert any("statistics.alpha was 0.05, 0.01 is asked" in said for said in measured.gate().left_out)


def test_a_test_against_another_threshold_is_not_used(agentmut: Command) -> None:
    assert agentmut("test", "--yes").returncode == 0
    assert agentmut.gate(min_score=None).requirements[0].standing == "met"
    agentmut.edit("agentmut.yaml", "threshold: 0.7", "threshold: 0.9")
    stale = agentmut.gate(min_score=None)
    assert stale.requirements[0].standing == "no evidence"
    assert "greets (0.7, 0.9 asked today)" in stale.left_out[0]


def test_a_run_that_the_store_does_not_know_is_not_used(measured: Command) -> None:
    (measured.folder / ".agentmut" / "store.db").unlink()
    assert "its plan is not in the store" in measured.gate().left_out[0]


def test_a_run_on_some_mutants_decides_only_where_it_is_named(agentmut: Command) -> None:
    run = agentmut.json("run", "--yes", "--sample", "1")["run_id"]
    (left,) = [said for said in agentmut.gate().left_out if "it measured 1 of the 4 mutants" in said]
    assert "`agentmut run` without options measures all of them" in left
    named = agentmut.gate(run, min_score=0)
    assert named.decision == "deploy"
    assert any("did not measure 3 of the mutants" in said for said in named.notes)
    assert agentmut("gate", "nonsense").returncode == 2


def test_a_failing_test_blocks_and_a_regression_does(agentmut: Command) -> None:
    agentmut.edit("agentmut.yaml", "gate: {min_score: 0.4, min_coverage: 0.1,", "gate: {")
    assert agentmut("baseline", "save", "--trials", "40", "--yes").returncode == 0
    agentmut.edit("my_agent.py", "RATE = 97", "RATE = 30")
    assert agentmut("test", "--yes").returncode == 1
    found = agentmut.gate()
    assert found.decision == "block"
    assert found.reasons[0].startswith("suite verdict: FAIL")
    assert agentmut.gate(verdict=False, baseline="default").decision == "manual"  # not compared yet
    assert agentmut("baseline", "compare", "--yes").returncode == 1
    compared = agentmut.gate(verdict=False, baseline="default")
    assert compared.decision == "block"
    assert any("not 'other'" in said for said in agentmut.gate(baseline="other").left_out)


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
    (watch,) = package.trend(agentmut.folder).watches
    assert watch.watched == 10


def test_bad_input_of_the_trend_is_refused(agentmut: Command) -> None:
    for wrong in ({"drop": 0.0}, {"drop": 1.0}, {"reference": 3}, {"in_control": 0.0}):
        with pytest.raises(UsageError, match=next(iter(wrong)).replace("_", "-")):
            package.trend(agentmut.folder, **wrong)


def test_a_plan_prices_what_a_run_would_take(agentmut: Command) -> None:
    before = agentmut.json("plan")
    assert before["mutants"] == {"prompt": 4}
    # Prompt of 42 characters and an input of 2: 44 / 4 = 11 tokens in, 100 out: 11 x 2 + 100 x 10 per million.
    assert before["baseline"] == {"trials": 40, "usd": pytest.approx(40 * 0.001022), "minutes": None}
    # Four mutants and two controls, 30 trials each at most.
    assert before["worst"]["trials"] == 40 + 6 * 30
    assert [line["drop"] for line in before["lines"]] == [0, 0.3, 0.6]
    for line in before["lines"]:
        assert line["killed"] + line["survived"] + line["undecided"] == pytest.approx(1)
    assert before["lines"][0]["killed"] <= 0.05
    assert before["lines"][2]["killed"] > 0.9
    assert "No budget is set" in before["asks"]
    assert any("halfway from the threshold" in said for said in before["assumptions"])
    page, full = agentmut("plan").stdout, agentmut("plan", "--full").stdout
    assert "At worst 220 trials" in page and "the baseline alone 40 trials" in page
    assert ("The whole run, if each harmful mutant lowers" in page) is (not before["rounds"])
    assert "The whole run, if each harmful mutant lowers" in full

    refused = agentmut("plan", "--probe", "5")
    assert refused.returncode == 2
    assert "No budget is set" in refused.stderr
    probed = agentmut.json("plan", "--probe", "5", "--yes")
    assert probed["baseline"]["usd"] == pytest.approx(40 * 0.003)
    # four mutants at a time
    assert probed["baseline"]["minutes"] == pytest.approx(40 * 0.5 / 4 / 60, rel=0.1)
    assert any("those of 5 stored runs" in said for said in probed["assumptions"])
    result = agentmut.json("run", "--yes")
    assert result["cost"]["reused"] == 5  # a probe is part of the baseline
    history = package.plan(agentmut.folder).history
    assert history is not None
    assert history.trials > 0


def test_a_plan_says_when_the_run_would_ask_or_be_stopped(agentmut: Command) -> None:
    agentmut.edit("agentmut.yaml", "budget: {", "budget: {trials: 60, ask_above: {trials: 45}, ")
    found = package.plan(agentmut.folder, rate=0.9)
    assert found.stops.startswith("budget.trials (60,")
    assert "60 trials, more than budget.ask_above.trials (45)" in found.asks
    text = render_plan(found)
    assert "`agentmut run` will ask first" in text
    assert ", 1 scenario\n" in render_plan(found.model_copy(update={"scenarios": 1}))
    assert max(map(len, text.splitlines())) <= 80
    asked = agentmut("run")
    assert asked.returncode == 2
    assert "Pass --yes, or raise the limit." in asked.stderr
    assert agentmut("plan", "--rate", "1.2").returncode == 2
