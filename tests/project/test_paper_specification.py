"""The test specification of the AgentAssay paper, section 8.4."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import ProjectError
from agentmut.cli.entry import app
from agentmut.judging.building import build_all, judge
from agentmut.nouns.trace import AgentTrace
from agentmut.project.loading import load_project
from agentmut.project.paper_spec import load_paper_spec
from agentmut.stats.three_valued import Verdict
from agentmut.usecases.deployment_gate import gate
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline

PUBLISHED = Path(__file__).parents[1] / "testdata" / "paper_spec" / "ticket_routing.yaml"


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def message(tmp_path: Path, before: str = "", after: str = "", agent: str | None = "router:route") -> str:
    text = PUBLISHED.read_text()
    assert before in text
    (tmp_path / "spec.yaml").write_text(text.replace(before, after) if before else text + after)
    with pytest.raises(ProjectError) as error:
        load_paper_spec(tmp_path / "spec.yaml", agent)
    return str(error.value)


def test_the_published_example_loads_as_a_project() -> None:
    project = load_paper_spec(PUBLISHED, "router:route")
    assert (project.agent.adapter, project.agent.run) == ("python", "router:route")
    assert [scenario.name for scenario in project.scenarios] == [
        "ticket_routing_accuracy-1",
        "ticket_routing_accuracy-2",
    ]
    assert project.scenarios[0].turns == ("My payment failed",)
    assert project.threshold == 0.9
    statistics = project.statistics
    assert (statistics.baseline, statistics.alpha, statistics.power) == (50, 0.05, 0.9)
    assert statistics.delta == 0.1
    assert (project.test.method, project.test.trials) == ("sequential", 50)
    assert (project.compare.method, project.compare.trials) == ("sequential", 50)
    assert project.gate.baseline == "v1"
    assert project.sources.scenarios["ticket_routing_accuracy-2"] == "ticket_routing.yaml:10"


def test_the_project_loader_recognises_it() -> None:
    assert load_project(PUBLISHED, agent="router:route") == load_paper_spec(PUBLISHED, "router:route")


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ({"department": "billing", "confidence": 0.9}, [True, True]),
        ('{"department": "billing"}', [True, True]),
        ({"department": "Billing"}, [False, True]),
        ("billing", [False, True]),
    ],
)
def test_expected_x_compares_field_x_of_the_output(output: object, passed: list[bool]) -> None:
    scenario = load_paper_spec(PUBLISHED, "router:route").scenarios[0]
    trace = AgentTrace(outputs=(output,))
    assert [c.passed for c in judge(build_all(scenario.evaluators), scenario, trace)] == passed


def test_the_agents_name_has_to_be_resolved(tmp_path: Path) -> None:
    said = message(tmp_path, agent=None)
    for piece in ("spec.yaml:3: agent", "'ticket_router_v2'", "--agent module:object"):
        assert piece in said


def test_a_malformed_agent_reference_is_explained(tmp_path: Path) -> None:
    assert "--agent: 'router' is not a reference; write module:object" in message(tmp_path, agent="router")


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("method: sprt", "method: bayes", ["config.method", "'sprt'", '"bayes"']),
        (
            "- max_steps: 5",
            "- max_stpes: 5",
            ["spec.yaml:8: scenarios[0].properties[1]", "unknown property 'max_stpes'", "'max_steps'"],
        ),
        ("- max_steps: 5", "- max_steps: many", ["evaluator 'max_steps'", "at least 1", "'many'"]),
        (
            "    evaluator: exact_match\n  - input",
            "    evaluator: exact\n  - input",
            ["Did you mean 'exact_match'"],
        ),
        (
            "    evaluator: exact_match\n  - input",
            "    evaluator: {type: contract, contract: c.yaml, clause: x}\n  - input",
            ["spec.yaml:9: scenarios[0].evaluator", "c.yaml cannot be read"],
        ),
        (
            "    evaluator: exact_match\n  - input",
            "    evaluator: {type: judge, contract: c.yaml}\n  - input",
            ["spec.yaml:9: scenarios[0].evaluator", '"judge"'],
        ),
        ("    delta: 0.10", "    delta: ten", ["config.regression.delta", '"ten"']),
        ("    delta: 0.10", "    detla: 0.10", ["config.regression.detla", "Did you mean 'delta'?"]),
        (
            "      - expected_department: authentication",
            "      - {}",
            ["spec.yaml:11: scenarios[1].properties", "at least one property"],
        ),
        ("  beta: 0.10", "  betta: 0.10", ["config.betta", "Did you mean 'beta'?"]),
        ("trials: 50", "trials: fifty", ["config.trials", "whole number", '"fifty"']),
        ("threshold: 0.90", "threshold: 1.5", ["config.threshold", "less than 1"]),
        ("description:", "describtion:", ["describtion", "Did you mean 'description'?"]),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(
    tmp_path: Path, before: str, after: str, pieces: list[str]
) -> None:
    said = message(tmp_path, before, after)
    assert [piece for piece in pieces if piece not in said] == [], said


def test_every_problem_is_on_a_line_of_its_own(tmp_path: Path) -> None:
    said = message(tmp_path, "expected_department", "department", agent=None)
    assert len(said.splitlines()) == 3


CONTRACT = """
name: router
postconditions:
  - {id: response_accuracy, check: "'billing' in text"}
  - {id: politeness, check: "'thank' in text"}
"""


def test_a_contract_judges_a_scenario_by_one_clause_or_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "router.yaml").write_text(CONTRACT)
    for clause, passed in ((", clause: response_accuracy", True), ("", False)):
        asked = f"    evaluator: {{type: contract, contract: router.yaml{clause}}}\n  - input"
        text = PUBLISHED.read_text().replace("    evaluator: exact_match\n  - input", asked)
        (tmp_path / "spec.yaml").write_text(text)
        scenario = load_paper_spec(tmp_path / "spec.yaml", "router:route").scenarios[0]
        trace = AgentTrace(outputs=({"department": "billing"},))
        found = judge(build_all(scenario.evaluators), scenario, trace)
        assert [check.passed for check in found] == [True, True, passed]


def test_a_fixed_number_of_trials_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(PUBLISHED.read_text().replace("method: sprt", "method: fixed"))
    project = load_paper_spec(tmp_path / "spec.yaml", "router:route")
    assert (project.test.method, project.test.trials, project.compare.method) == ("fixed", 50, "fixed")


@pytest.mark.whole
def test_the_published_example_is_tested_compared_and_gated_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec.yaml").write_text(PUBLISHED.read_text())
    (tmp_path / "paper_router.py").write_text(
        "def route(config, input):\n"
        "    return {'department': 'billing' if 'payment' in input else 'authentication'}\n"
    )
    project = load_project(tmp_path / "spec.yaml", agent="paper_router:route")
    assert check_suite(project).verdict is Verdict.PASS
    assert {kept.trials for kept in save_baseline(project).scenarios.values()} == {50}  # as `trials` says
    assert compare_with_baseline(project).baseline is not None
    assert "v1" in str(gate(project).requirements)


@pytest.mark.whole
def test_the_next_command_after_a_baseline_names_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec.yaml").write_text(PUBLISHED.read_text().replace("trials: 50", "trials: 2"))
    (tmp_path / "paper_router2.py").write_text(
        "def route(config, input):\n    return {'department': 'billing'}\n"
    )
    chosen = ["--project", str(tmp_path / "spec.yaml"), "--agent", "paper_router2:route"]
    found = CliRunner().invoke(app, ["baseline", "save", "--yes", *chosen], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    wanted = f"`agentmut baseline compare v1 --project {tmp_path / 'spec.yaml'} --agent paper_router2:route`"
    assert "".join(wanted.split()) in "".join(found.output.split())  # a long path is cut at the line's end
