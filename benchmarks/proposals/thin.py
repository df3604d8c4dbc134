"""Six sets of six agents, each with a thin suite: many mutants survive, and assertions are proposed for them.

The miner's rules were changed after `KNOWN` had been looked at. `FRESH` and `UNSEEN` were written by two who had not
read how assertions are mined, and were not looked at before they were graded. Both their grades changed the miner.
`SECOND` was written by the author of the latest rules, before that author had read the miner or the rejected proposals.
`THIRD` was written by one who had not read how assertions are mined, after those rules.
`FOURTH` was written by another such author, while the present rules were made, which were fixed before anybody saw it.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
POOLS = ROOT / "benchmarks" / "validity" / "pools"
DOJO = ROOT / "examples" / "agentdojo" / "scenarios"
STATISTICS = {"baseline": 30, "rounds": "one", "n_max": 16, "delta": 0.3, "seed": 1}


class Thin(NamedTuple):
    """A project, and its scenarios, of which one evaluator each is left."""

    name: str
    folder: str
    file: str
    suite: Path
    scenarios: int = 6
    sample: int = 36
    """Mutants, of all operators that run by default."""


KNOWN = (
    Thin("desk", "examples/support_desk", "agentmut.yaml", POOLS / "desk.yaml", sample=110),
    Thin("bank", "examples/agentdojo", "banking.yaml", DOJO / "banking.yaml"),
    Thin("office", "examples/agentdojo", "workspace.yaml", DOJO / "workspace.yaml"),
    Thin("triage", "examples/ticket_triage", "agentmut.yaml", POOLS / "triage.yaml"),
    Thin("table", "benchmarks/validity/table_desk", "agentmut.yaml", POOLS / "table.yaml", sample=110),
    Thin(
        "counter",
        "benchmarks/incidents/desk",
        "agentmut.yaml",
        ROOT / "benchmarks/incidents/desk/scenarios.yaml",
    ),
)


def _of_a_writer(folder: str, name: str) -> Thin:
    place = f"benchmarks/proposals/{folder}/{name}"
    return Thin(name, place, "agentmut.yaml", ROOT / place / "scenarios.yaml", sample=110)


FRESH = tuple(
    _of_a_writer("fresh", name) for name in ("dentist", "hotel", "hr", "pharmacy", "rail", "utility")
)
UNSEEN = tuple(
    _of_a_writer("unseen", name) for name in ("bakery", "gym", "insurance", "library", "movers", "vet")
)
SECOND = tuple(
    _of_a_writer("unseen2", name)
    for name in ("farmbox", "parcel", "registrar", "rental", "roadside", "waste")
)

THIRD = tuple(
    _of_a_writer("unseen3", name)
    for name in ("broadband", "fahrschule", "ferry", "optiker", "selfstorage", "theatre")
)

FOURTH = tuple(
    _of_a_writer("unseen4", name)
    for name in ("blooddonor", "catering", "creditunion", "lettings", "nursery", "parking")
)


def written(thin: Thin, folder: Path) -> Path:
    """Copy a project with its thin suite into a folder; return its project file."""
    copy = folder / thin.name
    shutil.copytree(ROOT / thin.folder, copy, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    suite = yaml.safe_load(thin.suite.read_text("utf-8"))[: thin.scenarios]
    cut = [{**one, "evaluators": _weak(one["evaluators"])} for one in suite]
    (copy / "thin.yaml").write_text(yaml.safe_dump(cut, sort_keys=False), "utf-8")
    project = yaml.safe_load((copy / thin.file).read_text("utf-8"))
    project |= {
        "suite": {"scenarios": "thin.yaml", "threshold": 0.8},
        "mutation": {"sample": thin.sample, "downgrade_models": ["sim-small"]},
        "statistics": STATISTICS,
    }
    project.pop("budget", None)
    project["execution"] = {"concurrency": 16, "timeout": 30}
    (copy / thin.file).write_text(yaml.safe_dump(project, sort_keys=False), "utf-8")
    if thin.file != "agentmut.yaml":
        (copy / thin.file).rename(copy / "agentmut.yaml")
    return copy / "agentmut.yaml"


def _weak(evaluators: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first evaluator that is no function, which may judge the whole task; without one, all of them."""
    return [one for one in evaluators if "python" not in one][:1] or list(evaluators)


def run(folder: Path, agents: Sequence[Thin]) -> int:
    """Write the projects and run each; return the first exit code that tells of trouble, else 0."""
    for thin in agents:
        command = [sys.executable, "-m", "agentmut", "run", "--project", str(written(thin, folder)), "--yes"]
        if code := subprocess.run(command, check=False).returncode:
            return code
    return 0
