"""Each framework's example is measured as its user would: its suite notices that a tool is gone."""

import shutil
import sys
from pathlib import Path

import pytest

import agentmut
from agentmut.adapters._shared.framework import FrameworkAdapter
from agentmut.adapters._shared.sdk_version import version_of
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.mutant import Status
from agentmut.seams.plugins import Group, load
from agentmut.simulator.service.addresses import Addresses
from agentmut.usecases.starting import frameworks

pytestmark = [pytest.mark.framework, pytest.mark.whole]

EXAMPLES = Path(__file__).parents[2] / "examples"


def _is_of_a_framework(name: str) -> bool:
    return (EXAMPLES / name).is_dir() and issubclass(load(Group.ADAPTERS, name), FrameworkAdapter)


@pytest.mark.parametrize("name", [name for name in frameworks() if _is_of_a_framework(name)])
def test_the_example_of_a_framework_tells_a_broken_agent_from_a_sound_one(
    name: str, tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirement = load(Group.ADAPTERS, name).requirement
    if not version_of(requirement.package):
        pytest.skip(f"{requirement.package} is not installed in this environment")
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    for variable, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "agent_under_test", raising=False)  # of another example
    settings = folder / "agentmut.yaml"
    quick = settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5\n  baseline: 12\n  n_max: 20")
    settings.write_text(quick, "utf-8")
    result = agentmut.measure(folder, selection=Selection(operators_named=("tool.remove",)))
    assert {mutant.operator for mutant in result.mutants} == {"tool.remove"}
    assert {mutant.status for mutant in result.mutants} == {Status.KILLED}
