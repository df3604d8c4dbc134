"""A plugin declares what it can do; an attribute that merely has such a name does nothing."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmut._base.errors import PluginError
from agentmut.seams import plugins

pytestmark = pytest.mark.process

PROJECT = """
version: 1
agent:
  adapter: {adapter}
  {keys}
  config: {{prompt: Be brief.}}
suite: {{scenarios: scenarios.yaml}}
test: {{trials: 40, method: fixed}}
"""
SCENARIOS = "- {{name: one, input: hi, evaluators: [{{{evaluator}: hm}}]}}\n"
AGENT = "async def run(config, input):\n    return 'hm'\n"
EVALUATOR = """
from agentmut import Check
{imports}

class Plugin({bases}):
    def __init__(self, argument):
        self.argument = argument
{members}

    def evaluate(self, scenario, trace):
        return Check(evaluator="odd", passed=True, reason="it always passes")
"""
ADAPTER = """
from agentmut.adapters.python_callable import CallableAdapter, trace_of

async def answer(config, input):
    return "hm"

class Plugin:
    def __init__(self, config): self.config = config
    @classmethod
    def create(cls, spec, config): return cls(config)
    def get_config(self): return self.config
    def get_tools(self): return ()
    def with_config(self, config): return Plugin(config)
    def doubled_tools(self): return frozenset()
    def cannot_express(self, mutant): return ""
    def versions(self): return {}
    async def run(self, turns, trial): return trace_of("hm", trial, 0)
    async def open(self): raise RuntimeError("opened")
    async def close(self): raise RuntimeError("closed")
    note, tools, service, original, carries, rule = "text", None, 3, None, None, None
"""


@pytest.fixture
def install(tmp_path: Path) -> Callable[[str, str, str], None]:
    def write(group: str, name: str, source: str) -> None:
        (tmp_path / f"third_{name}.py").write_text(source)
        folder = tmp_path / f"third_{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: third-{name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[agentmut.{group}]\n{name} = third_{name}:Plugin\n")

    return write


def carried_out(
    folder: Path, evaluator: str = "contains", adapter: str = "python"
) -> "subprocess.CompletedProcess[str]":
    """`agentmut test` on a project in the folder, which is on the path of Python."""
    keys = "run: third_agent:run" if adapter == "python" else "options: {}"
    (folder / "agentmut.yaml").write_text(PROJECT.format(adapter=adapter, keys=keys))
    (folder / "scenarios.yaml").write_text(SCENARIOS.format(evaluator=evaluator))
    (folder / "third_agent.py").write_text(AGENT)
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from agentmut.cli import main; main()"
    command = [sys.executable, "-c", code, "test", "--json", "--yes"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "member",
    ["note = 'text'", "tools = None", "source = 3", "spend = None", "model = 'm'", "every_check = ()"],
)
def test_an_attribute_with_the_name_of_a_capability_does_nothing(
    tmp_path: Path, install: Callable[..., None], member: str
) -> None:
    source = EVALUATOR.format(imports="", bases="", members=f"        self.{member}")
    install("evaluators", "odd", source)
    done = carried_out(tmp_path, evaluator="odd")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "PASS"


def test_the_open_and_close_of_an_adapter_that_declares_nothing_are_its_own(
    tmp_path: Path, install: Callable[..., None]
) -> None:
    install("adapters", "bare", ADAPTER)
    done = carried_out(tmp_path, adapter="bare")
    assert done.returncode == 0, done.stderr
    assert "never awaited" not in done.stderr
    assert json.loads(done.stdout)["verdict"] == "PASS"


def test_a_declared_capability_is_used(tmp_path: Path, install: Callable[..., None]) -> None:
    members = "\n    def note(self, scenario):\n        return 'known to all'\n"
    source = EVALUATOR.format(imports="from agentmut.seams import Notes", bases="Notes", members=members)
    install("evaluators", "odd", source)
    done = carried_out(tmp_path, evaluator="odd")
    assert "known to all" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("capability", "members", "fault"),
    [
        ("Notes", "", "it declares Notes, but has no note()"),
        ("Notes", "\n    note = 'text'", "it declares Notes: note must be a method"),
        (
            "Notes",
            "\n    async def note(self, scenario): return ''",
            "it declares Notes: note() must be no async method",
        ),
        ("Notes", "\n    def note(self): return ''", "note() takes (); expected (scenario)"),
        (
            "HasSource",
            "\n    def source(self): return ''",
            "source must be a property or an attribute, and no method",
        ),
        ("AsksNoModel", "", "it declares AsksNoModel, which is a capability of adapters"),
    ],
)
def test_a_wrong_declaration_is_refused_when_the_plugin_is_loaded(
    tmp_path: Path,
    install: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capability: str,
    members: str,
    fault: str,
) -> None:
    imports = f"from agentmut.seams import {capability}"
    install("evaluators", "odd", EVALUATOR.format(imports=imports, bases=capability, members=members))
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("third_odd", None)
    with pytest.raises(PluginError) as error:
        plugins.load("evaluators", "odd")
    assert fault in str(error.value)


def test_a_declared_attribute_that_is_missing_is_told_with_the_evaluators_name(
    tmp_path: Path, install: Callable[..., None]
) -> None:
    source = EVALUATOR.format(imports="from agentmut.seams import NamesTools", bases="NamesTools", members="")
    install("evaluators", "odd", source)
    done = carried_out(tmp_path, evaluator="odd")
    assert done.returncode == 2
    assert (
        "evaluator 'odd': it declares NamesTools, but its attribute tools is missing"
        in done.stdout + done.stderr
    )
