"""The example whose flow is mutated: some mutants are killed, and some show what its suite does not ask."""

import json
import shutil
from pathlib import Path

import pytest

from tests.warm_command import AGENTMUT, ROOT, run_agentmut

pytestmark = pytest.mark.process

OPERATORS = ("disable_retry", "drop_handoff", "reroute_branch", "serialise_branches", "swap_agents")


def test_the_order_pipeline_shows_its_gaps(tmp_path: Path) -> None:
    project = tmp_path / "order_pipeline"
    example = ROOT / "examples" / "order_pipeline"
    shutil.copytree(example, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    settings = project / "agentmut.yaml"
    settings.write_text(settings.read_text().replace("baseline: 40", "baseline: 10, n_max: 12, delta: 0.7"))
    chosen = [word for name in OPERATORS for word in ("--operator", f"orchestration.{name}")]
    done = run_agentmut(project, "simulate", "--port", "0", "--", *AGENTMUT, "run", "--json", *chosen)
    assert done.returncode == 0, done.stderr
    mutants = json.loads(done.stdout)["mutants"]
    statuses = {mutant["description"]: mutant["status"] for mutant in mutants}
    assert statuses == {
        "do not try the node parcel again when it fails": "killed",
        "drop the hand-off from triage to billing": "killed",
        "drop the hand-off from triage to delivery": "killed",
        "after review, let 'clean' lead to redact instead of __end__": "survived",
        "after review, let 'leaking' lead to __end__ instead of redact": "killed",
        "run parcel, customer one after the other instead of side by side": "survived",
        "run greet before draft": "survived",
    }
    assert all(mutant["witness"] for mutant in mutants)
