"""Bedrock Converse by boto3, with the simulator behind it."""

import shutil
import sys
from pathlib import Path

import pytest

from agentmut.api import measure
from agentmut.config import AgentConfig, Document, ModelConfig
from agentmut.engine.selection import Selection
from agentmut.mutant import Status
from agentmut.simulator.addresses import Addresses
from agentmut.tools import read_tool
from tests.frameworks.kit import Case, check

pytest.importorskip("boto3", reason="boto3 is not installed")
from tests.frameworks import bedrock_agents as agents

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENTS = "tests.frameworks.bedrock_agents"
MODEL = ModelConfig(name="sim-large", temperature=0.3)
POLICY = (Document(name="policy", text="Refunds take five days. Gifts are final."),)
CASES = (
    Case(
        "bedrock",
        "two tools",
        "",
        ["Where is my order A-1042?", "And where is my order A-1043?"],
        ["look_up_order"],
        config=AgentConfig(prompt=agents.PROMPT, model=MODEL, context=POLICY),
        others={"functions": f"{AGENTS}:FUNCTIONS"},
    ),
    Case(
        "bedrock",
        "two tools, streamed",
        "",
        ["Where is my order A-1042?"],
        ["look_up_order"],
        config=AgentConfig(prompt=agents.PROMPT, model=MODEL),
        others={"functions": f"{AGENTS}:FUNCTIONS", "stream": True},
    ),
    Case(
        "bedrock",
        "a function of one's own",
        "",
        ["Where is my order A-1042?"],
        ["look_up_order"],
        config=AgentConfig(
            prompt=agents.PROMPT,
            model=ModelConfig(name="sim-large"),
            tools=(read_tool(agents.look_up_order), read_tool(agents.check_stock)),
        ),
        others={"run": f"{AGENTS}:run"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_agents_are_run_as_the_kit_demands(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("name", ["bedrock", "bedrock_agents"])
def test_its_example_tells_a_broken_agent_from_a_sound_one(
    name: str, tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / name
    shutil.copytree(EXAMPLES / name, project, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    settings = project / "agentmut.yaml"
    quick = settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5\n  baseline: 12\n  n_max: 20")
    settings.write_text(quick, "utf-8")
    for variable, value in Addresses.found_at(simulator_url).environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.syspath_prepend(project)
    monkeypatch.delitem(sys.modules, "agent_under_test", raising=False)  # of another framework's example
    result = measure(project, selection=Selection(operators_named=("tool.remove",)))
    monkeypatch.delitem(sys.modules, "agent_under_test")
    assert {mutant.operator for mutant in result.mutants} == {"tool.remove"}
    assert {mutant.status for mutant in result.mutants} == {Status.KILLED}
