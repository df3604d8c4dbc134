"""docs/contracts.md and docs/judges.md: their files are a project that runs, their keys are those that there are."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from agentmut.judging.contracts.contract import ContractSpec, Governance
from agentmut.judging.judges.model_judge import ModelJudge
from agentmut.judging.judges.rubric import JudgeSpec
from agentmut.project.loading import load_project
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.three_valued import Verdict
from agentmut.usecases.suite_verdicts import check_suite

pytestmark = pytest.mark.whole

DOCS = Path(__file__).parents[2] / "docs"
CONTRACTS = (DOCS / "contracts.md").read_text(encoding="utf-8")
JUDGES = (DOCS / "judges.md").read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"```\w*\n(.*?)```", page, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ("contracts/refunds.yaml", "scenarios.yaml", "agentmut.yaml", "prompt.md", "contract_desk.py")
    (tmp_path / "contracts").mkdir()
    for name, text in zip(names, blocks(CONTRACTS), strict=False):
        (tmp_path / name).write_text(text)
    sys.modules.pop("contract_desk", None)
    return tmp_path


def test_the_project_of_the_page_keeps_its_contract_and_the_satisfaction_follows(folder: Path) -> None:
    report = check_suite(folder)
    (row,) = report.scenarios
    (contract,) = row.contracts
    assert report.verdict is Verdict.PASS and contract.clauses == () and contract.vacuous == ""
    found = contract.satisfaction
    assert found is not None and found.lacking == "" and found.true_rate == row.interval
    # 60 of 60: the lower end of Clopper and Pearson's interval is 0.025^(1/60); the binomial quantile is 17 of 20
    assert row.interval is not None and row.interval.low == pytest.approx(0.025 ** (1 / 60), abs=1e-6)
    assert found.rate == 0.85 and found.lowest == 1.0
    shown = " ".join(render_verdicts(report).split())
    assert " ".join(blocks(CONTRACTS)[5].split()) in shown
    assert "(0.8, 0.25, 20)-satisfaction follows from PASS: the true rate is at least 0.940" in shown


def test_a_broken_agent_is_told_which_clause_it_violates_and_where(folder: Path) -> None:
    (folder / "prompt.md").write_text("- Always tell the customer the amount.\n")
    (row,) = check_suite(folder, trials=25).scenarios
    (contract,) = row.contracts
    (clause,) = contract.clauses
    assert row.verdict is Verdict.FAIL
    assert (clause.clause, clause.trials, clause.step, clause.tool) == (
        "look-up-first",
        25,
        1,
        "issue_refund",
    )
    assert contract.satisfaction is not None and "the verdict is FAIL" in contract.satisfaction.lacking


def test_a_contract_that_does_not_apply_is_noted_and_certifies_nothing(folder: Path) -> None:
    scenarios = (folder / "scenarios.yaml").read_text().replace("a refund", "a pony")
    (folder / "scenarios.yaml").write_text(scenarios)
    report = check_suite(folder, trials=20)
    (contract,) = report.scenarios[0].contracts
    assert contract.satisfaction is None and "asks-for-a-refund does not hold" in contract.vacuous
    assert any("does not apply, so it checks nothing" in note for note in report.notes)


def test_the_pages_name_every_key() -> None:
    for key in (*Governance.model_fields, *ContractSpec.model_fields.keys() - {"name", "description"}):
        assert key in CONTRACTS
    table = JUDGES.partition("| key |")[2].partition("The verdict comes")[0]
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))) == set(
        JudgeSpec.model_fields
    )


def test_the_scenario_of_the_page_on_judges_is_read_with_its_labels(folder: Path) -> None:
    (folder / "scenarios.yaml").write_text(blocks(JUDGES)[0])
    (folder / "labels.jsonl").write_text(blocks(JUDGES)[4])
    (folder / "judged_desk.py").write_text(blocks(JUDGES)[1])
    (folder / "agentmut.yaml").write_text(blocks(JUDGES)[2])
    (scenario,) = load_project(folder).scenarios
    first, second = (ModelJudge(spec.argument) for spec in scenario.evaluators)
    assert first.spec.calibration is None
    assert [one.human for one in second.spec.calibration or ()] == [True, False]
    written = yaml.safe_load(blocks(JUDGES)[0])[0]["evaluators"][1]["judge"]
    assert written["calibration"] == "labels.jsonl" and json.dumps(scenario.evaluators[1].argument)


def test_the_correction_of_the_page_is_as_shown(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks(JUDGES)[5], {})
    assert capsys.readouterr().out == blocks(JUDGES)[6]
