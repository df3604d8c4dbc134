"""The starters of the plain SDKs: the same code asks the simulator and the real service."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agentmut
from agentmut.campaign.selection.selection import Selection
from agentmut.cli.entry import app
from agentmut.nouns.mutant import Status
from agentmut.project.loading import load_project
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.usecases.starting import MODEL_OF_STARTER, write_starter

pytestmark = [pytest.mark.framework, pytest.mark.whole]

SDKS = sorted(MODEL_OF_STARTER)


@pytest.mark.parametrize("name", SDKS)
def test_the_starter_names_the_model_of_its_code_and_its_next_command_gives_it_an_alias(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)  # the second environment has no SDK of Anthropic
    monkeypatch.setattr(sys, "path", list(sys.path))
    model = MODEL_OF_STARTER[name]
    done = CliRunner().invoke(app, ["init", "--framework", name, str(tmp_path)])
    assert f"then: agentmut simulate --alias {model}=sim-large -- agentmut run --project" in done.output
    assert f'MODEL = "{model}"' in (tmp_path / "agent_under_test.py").read_text()
    assert load_project(tmp_path).config.model.name == model


@pytest.mark.parametrize("name", SDKS)
def test_the_suite_of_the_starter_notices_that_a_tool_is_gone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(name)
    write_starter(tmp_path, framework=name)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "agent_under_test", raising=False)  # of another starter
    settings = tmp_path / "agentmut.yaml"
    quick = settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5\n  baseline: 12\n  n_max: 20")
    settings.write_text(quick, "utf-8")
    with Simulator(read_settings(aliases={MODEL_OF_STARTER[name]: "sim-large"})) as simulator:
        for variable, value in simulator.environment.items():
            monkeypatch.setenv(variable, value)
        result = agentmut.measure(tmp_path, selection=Selection(operators_named=("tool.remove",)))
    assert [(mutant.operator, mutant.status) for mutant in result.mutants] == 2 * [
        ("tool.remove", Status.KILLED)
    ]
