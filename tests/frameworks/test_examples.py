"""Each framework's example is run as its user would: its suite holds of the agent, and its mutants are made."""

import shutil
import sys
from pathlib import Path

import pytest

import agentmut
from agentmut.adapters._framework import FrameworkAdapter
from agentmut.adapters._sdk_version import version_of
from agentmut.plugins import Group, load
from agentmut.simulator.addresses import Addresses
from agentmut.verbs.init import frameworks

EXAMPLES = Path(__file__).parents[2] / "examples"


def _is_of_a_framework(name: str) -> bool:
    return (EXAMPLES / name).is_dir() and issubclass(load(Group.ADAPTERS, name), FrameworkAdapter)


@pytest.mark.parametrize("name", [name for name in frameworks() if _is_of_a_framework(name)])
def test_the_example_of_a_framework_runs(
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
    report = agentmut.check_suite(folder, method="fixed", trials=4)
    rates = {row.scenario: (row.passes, row.trials) for row in report.scenarios}
    assert all(trials == 4 and passes >= 2 for passes, trials in rates.values()), rates
