"""The example with a tool loop of its own: renamed tools, results that go wrong and settings reach it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT, ROOT, run_agentmut

pytestmark = pytest.mark.process

OPERATORS = ("tool.rename", "tool.result_error", "model.drop_seed", "prompt.drop_example")


def test_every_class_of_mutants_reaches_the_tool_loop(tmp_path: Path) -> None:
    project = tmp_path / "ticket_triage"
    example = ROOT / "examples" / "ticket_triage"
    shutil.copytree(example, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    settings = project / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("baseline: 50", "baseline: 8, n_max: 10, delta: 0.8"))
    chosen = [word for name in OPERATORS for word in ("--operator", name)]
    done = run_agentmut(project, "simulate", "--", *AGENTMUT, "run", "--json", "--sample", "4", *chosen)
    assert done.returncode == 0, done.stderr
    mutants = json.loads(done.stdout)["mutants"]
    assert {mutant["operator"] for mutant in mutants} == set(OPERATORS)
    assert {mutant["status"] for mutant in mutants} <= {"killed", "survived", "no_coverage"}
    broken = [mutant for mutant in mutants if mutant["operator"] == "tool.result_error"]
    assert any(mutant["status"] == "killed" for mutant in broken)
    routes = {mutant["operator"]: mutant["witness"]["route"] for mutant in mutants if mutant["witness"]}
    assert routes["tool.result_error"] == "live" and routes["tool.rename"] == "sent"
