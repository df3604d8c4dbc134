"""`agentmut coverage` on the store of a small project, as a user drives it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main
from agentmut.project.loading import load_project
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

AGENT = """
from agentmut import tool


@tool
def find_order(order_id: str) -> str:
    return "found " + order_id


@tool
def cancel_order(order_id: str, reason: str = "other") -> str:
    return "cancelled"


def run(config, input):
    found = find_order(input.split()[-1]) if "order" in input else "nothing"
    return f"Hello! Your order was {found}." if "greet" in config.prompt and config.model.name != "off" else found
"""
TOOLS = [
    {
        "name": "find_order",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^A-[0-9]+$"}},
            "required": ["order_id"],
        },
    },
    {
        "name": "cancel_order",
        "parameters": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string"},
                "reason": {"type": "string", "enum": ["late", "other"]},
            },
            "required": ["order_id"],
        },
    },
]
PROJECT: dict[str, Any] = {
    "version": 1,
    "agent": {
        "adapter": "python",
        "run": "covered_agent:run",
        "config": {"prompt": "You must greet the user who asks for an order.", "tools": "tools.json"},
    },
    "mutation": {"operators": ["prompt.drop_instruction"]},
    "statistics": {"baseline": 12, "n_max": 12},
}
SCENARIOS = [
    {"name": "asks", "input": "where is my order A-17", "evaluators": [{"contains": "Hello"}]},
    {"name": "chats", "input": "good day", "evaluators": [{"contains": "nothing"}]},
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "covered_agent.py").write_text(AGENT)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(PROJECT))
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "s.yaml").write_text(yaml.safe_dump(SCENARIOS))
    return tmp_path


@pytest.fixture
def agentmut(project: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(["coverage", *arguments])
        said = capfd.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return call


Call = Callable[..., tuple[int, str, str]]


def test_an_empty_store_is_an_error_that_says_what_to_do(agentmut: Call) -> None:
    code, out, err = agentmut()
    assert code == 2 and not out
    assert "nothing is stored yet" in err and "agentmut run" in err


def test_imported_runs_are_named_where_no_own_run_is_stored(
    project: Path, agentmut: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    """A new user imported runs, and took `coverage` and `relations --stored` for verbs that read them."""
    talk = [{"role": "user", "content": "Where is W1?"}, {"role": "assistant", "content": "In the post."}]
    runs = [{"task_id": 0, "trial": trial, "reward": 1.0, "info": {}, "traj": talk} for trial in range(2)]
    (project / "runs.json").write_text(json.dumps(runs))
    with pytest.raises(SystemExit) as left:
        main(["import", str(project / "runs.json"), "--project", str(project)])
    assert not left.value.code, capfd.readouterr().err
    named = "The store also holds 2 imported runs: `agentmut analyze` looks at them"
    assert named in agentmut()[2]
    capfd.readouterr()
    with pytest.raises(SystemExit):
        main(["relations", "--stored", "--project", str(project)])
    assert named in capfd.readouterr().err


def test_a_campaign_shows_dimensions_items_and_who_covers_them(project: Path, agentmut: Call) -> None:
    measure(load_project(project))
    code, out, err = agentmut("--items", "all")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    assert "tool cancel_order" in out and "tool find_order" in out
    assert 'boundary cancel_order.reason = "late"' in out
    assert "cancel_order.order_id" in out.partition("Left out")[2]
    assert "Left out of it: model" in " ".join(out.split())
    stored = json.loads((project / ".agentmut" / "coverage.json").read_text())
    assert list(stored["states"].values()) == [json.loads(agentmut("--json")[1])["states"]]


def test_the_document_has_every_item_with_its_scenarios(project: Path, agentmut: Call) -> None:
    measure(load_project(project))
    code, out, err = agentmut("--json")
    assert code == 0, err
    found = json.loads(out)
    rows = {row["dimension"]: row for row in found["dimensions"]}
    assert (rows["tool"]["covered"], rows["tool"]["total"]) == (1, 2)
    # find_order.order_id pattern, of it and cancel_order's reason: present, absent, two values
    assert (rows["boundary"]["covered"], rows["boundary"]["total"]) == (1, 5)
    assert rows["ablation"]["value"] == 1.0
    alone = {row["scenario"]: [i["name"] for i in row["alone"]] for row in found["scenarios"]}
    assert "find_order" in alone["asks"] and "find_order" not in alone["chats"]
    assert found["rules"][0]["ablation"] == "killed"


def swapping(to: str, *more: str) -> str:
    config = {**PROJECT["agent"]["config"], "model": {"name": "big-1"}}
    mutation = {"operators": ["model.swap", *more], "swap_models": [to]}
    return yaml.safe_dump({**PROJECT, "agent": {**PROJECT["agent"], "config": config}, "mutation": mutation})


def test_runs_of_a_mutant_that_puts_another_model_in_count_for_that_model(
    project: Path, agentmut: Call
) -> None:
    (project / "agentmut.yaml").write_text(swapping("other-2"))
    measure(load_project(project))
    found = json.loads(agentmut("--json")[1])
    covered = {item["name"] for item in found["covered"] if item["dimension"] == "model"}
    uncovered = {item["name"] for item in found["uncovered"] if item["dimension"] == "model"}
    assert (covered, uncovered) == ({"other-2"}, {"big-1"})  # a callable makes no model calls that are seen


def test_a_campaign_groups_the_mutants_that_it_kills_in_the_same_way(project: Path) -> None:
    (project / "agentmut.yaml").write_text(swapping("off", "prompt.drop_instruction"))  # neither greets
    first, second = measure(load_project(project)).mutants
    assert first.killed_by == second.killed_by == ("asks",)
    assert first.group == second.group == first.id
    assert {first.subsumed_by, second.subsumed_by} == {"", min(first.id, second.id)}


def test_one_scenario_is_measured_alone_and_keeps_no_lambda(project: Path, agentmut: Call) -> None:
    measure(load_project(project))
    code, out, _ = agentmut("--scenario", "chats", "--json")
    found = json.loads(out)
    assert code == 0 and [row["scenario"] for row in found["scenarios"]] == ["chats"]
    assert {d["dimension"]: d["covered"] for d in found["dimensions"]}["tool"] == 0
    assert not (project / ".agentmut" / "coverage.json").exists()
    code, _, err = agentmut("--scenario", "chat")
    assert code == 2 and "there is no such scenario" in err


def test_trials_of_another_config_are_left_out_with_the_reason(project: Path, agentmut: Call) -> None:
    measure(load_project(project))
    changed = {**PROJECT, "agent": {**PROJECT["agent"], "config": {"prompt": "Help.", "tools": "tools.json"}}}
    (project / "agentmut.yaml").write_text(yaml.safe_dump(changed))
    code, _, err = agentmut()
    assert code == 2 and "another version of the agent's config" in err


def test_lambda_stays_until_it_is_estimated_again(project: Path, agentmut: Call) -> None:
    measure(load_project(project))
    agentmut()
    file = project / ".agentmut" / "coverage.json"
    (digest,) = json.loads(file.read_text())["states"]
    file.write_text(json.dumps({"states": {digest: 40.0}}))
    assert json.loads(agentmut("--json")[1])["states"] == 40.0
    assert json.loads(agentmut("--calibrate", "--json")[1])["states"] < 40.0
    assert json.loads(file.read_text())["states"][digest] < 40.0
    assert agentmut("--calibrate", "--scenario", "asks")[0] == 2
    file.write_text("[]")
    code, _, err = agentmut()
    assert code == 2 and "Delete it" in err


def test_a_weight_of_no_dimension_is_refused_with_its_place(project: Path, agentmut: Call) -> None:
    (project / "agentmut.yaml").write_text(yaml.safe_dump({**PROJECT, "coverage": {"weights": {"tools": 2}}}))
    code, _, err = agentmut()
    assert code == 2 and "coverage.weights" in err and "'tool'" in err
