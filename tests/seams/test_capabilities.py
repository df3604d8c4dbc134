"""A plugin declares what it can do; an attribute that merely has such a name does nothing."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmut import AgentConfig, seams
from agentmut._base.errors import PluginError
from agentmut.mutation.generation import generate
from agentmut.seams import plugins
from agentmut.seams.capability import capability_faults

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

WARM = Path(__file__).parents[1] / "testdata" / "warm_cli.py"

PROJECT = """
version: 1
agent:
  adapter: {adapter}
  {keys}
  config: {{prompt: Be brief.}}
suite: {{{suite}}}
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


OPERATOR = """
from agentmut.nouns import Intent, OperatorClass, Reach
from agentmut.seams import NamesLack

class Plain:
    id, version, operator_class, intent = "prompt.odd", 1, OperatorClass.PROMPT, Intent.DEGRADE
    reach, why = Reach.SENT, "It happens."
    def mutants(self, config, options): return iter(())
    def examples(self): return ()
    {lack}

class Declares(Plain, NamesLack): pass
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


def carried_out(folder: Path, **parts: str) -> "subprocess.CompletedProcess[str]":
    """`agentmut test` in a process of its own, on a project in the folder, which is on the path of Python."""
    write_project(folder, **parts)
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from agentmut.cli import main; main()"
    command = [sys.executable, "-IS", str(WARM), "-c", code, "test", "--json", "--yes"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def write_project(
    folder: Path,
    evaluator: str = "contains",
    adapter: str = "python",
    suite: str = "scenarios: scenarios.yaml",
) -> None:
    keys = "run: third_agent:run" if adapter == "python" else "options: {}"
    (folder / "agentmut.yaml").write_text(PROJECT.format(adapter=adapter, keys=keys, suite=suite))
    (folder / "scenarios.yaml").write_text(SCENARIOS.format(evaluator=evaluator))
    (folder / "third_agent.py").write_text(AGENT)


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


PLUGINS_FAULTS = {
    "builds": ("", "        argument['x']['y']", "", "evaluator 'odd': Plugin() raised TypeError: string indices"),
    "note_raises": (
        "Notes", "", "\n    def note(self, scenario): raise ValueError('boom')",
        "evaluator 'odd': note() raised ValueError: boom (",
    ),
    "note_is_no_text": (
        "Notes", "", "\n    def note(self, scenario): return 3", "note() returned 3; expected str"
    ),
    "note_is_covered": ("Notes", "        self.note = 'text'", "\n    def note(self, scenario): return ''",
        "note() raised TypeError"),
    "tools_are_a_text": (
        "NamesTools", "        self.tools = 'text'", "", "its attribute tools is 'text'; expected Sequence[str]"
    ),
    "tools_raise": (
        "NamesTools", "", "\n    @property\n    def tools(self): raise KeyError('x')",
        "its attribute tools raised KeyError: 'x'",
    ),
    "model_is_a_text": (
        "AsksModel", "        self.model = 'm'",
        "\n    spend = None\n    def remembering(self, cache): return self",
        "its attribute model is 'm'; expected JudgeModel",
    ),
    "files_raise": (
        "ReadsFiles", "", "\n    @classmethod\n    def read_files(cls, argument, root): raise KeyError('x')",
        "read_files() raised KeyError: 'x'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLUGINS_FAULTS)
def test_what_an_evaluator_does_wrong_is_an_error_with_its_name_and_no_bug_of_agentmut(
    tmp_path: Path, install: Callable[..., None], fault: str
) -> None:
    capability, init, members, message = PLUGINS_FAULTS[fault]
    imports = f"from agentmut.seams import {capability}" if capability else ""
    install(
        "evaluators", "odd", EVALUATOR.format(imports=imports, bases=capability, members=f"{init}{members}")
    )
    refused(carried_out(tmp_path, evaluator="odd"), message)


@pytest.mark.parametrize(
    ("capability", "members", "message"),
    [
        ("", "def versions(self): return None", "adapter 'odd': versions() returned None; expected Mapping"),
        ("", "def get_config(self): raise KeyError('x')", "adapter 'odd': get_config() raised KeyError: 'x'"),
        (
            "",
            "async def run(self, turns, trial): return 'hm'",
            "run() returned a str; expected an AgentTrace",
        ),
        (
            "",
            "def with_config(self, config): raise KeyError('x')",
            "adapter 'odd' (third-odd) raised KeyError: 'x'",
        ),
        ("KeepsOpen", "def open(self): 1 / 0\n    def close(self): ...", "open() raised ZeroDivisionError"),
        ("RunsOutside", "carries = None", "adapter 'odd': carries returned None; expected frozenset[str]"),
        ("ChoosesRoute", "default_route = 'magic'", "returned 'magic'; expected Literal['rebuild', 'wire']"),
        ("AsksService", "service = 3", "it declares AsksService: service is 3; expected str"),
        ("TakesKeys", "agent_keys = ('a',)", "agent_keys is ('a',); expected AgentKeys"),
    ],
)
def test_what_an_adapter_does_wrong_is_an_error_with_its_name_and_no_bug_of_agentmut(
    tmp_path: Path, install: Callable[..., None], capability: str, members: str, message: str
) -> None:
    imports = f"from agentmut.seams import {capability}\n" if capability else ""
    source = ADAPTER.partition("    async def open")[0].replace(
        "class Plugin:", f"class Plugin({capability}):"
    )
    install("adapters", "odd", f"{imports}{source}    {members}\n")
    refused(carried_out(tmp_path, adapter="odd"), message)


IMPORTER = """
from agentmut import EvaluatorSpec, Scenario
from agentmut.seams import SetsRule

class Plugin({bases}):
    name = "odd"
    @classmethod
    def create(cls, spec): return cls()
    def scenarios(self):
        return (Scenario(name="a", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="hm"),)),)
    def adapter(self, agent, config): return None
    {members}
"""


@pytest.mark.parametrize(
    ("bases", "members", "message"),
    [
        ("", "rule = None", ""),
        ("", "def scenarios(self): return ({'name': 'a'},)", "importer 'odd': scenarios() returned ({'name'"),
        ("", "def scenarios(self): raise KeyError('x')", "importer 'odd': scenarios() raised KeyError: 'x'"),
        ("", "def adapter(self, agent, config): return 'x'", "importer 'odd': adapter() returned 'x'"),
        ("SetsRule", "rule = {'trials': 3}", "rule returned {'trials': 3}; expected SuiteRule"),
    ],
)
def test_what_an_importer_does_wrong_is_an_error_with_its_name(
    tmp_path: Path, install: Callable[..., None], bases: str, members: str, message: str
) -> None:
    install("importers", "odd", IMPORTER.format(bases=bases, members=members))
    done = carried_out(tmp_path, suite="odd: 1")
    if message:
        refused(done, message)
    else:
        assert done.returncode == 0, done.stderr


def refused(done: "subprocess.CompletedProcess[str]", message: str) -> None:
    assert done.returncode in (2, 4), done.stdout
    assert message in json.loads(done.stdout)["error"]
    assert "bug in agentmut" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_evaluator_whose_evaluate_is_async_is_refused_when_it_is_loaded(
    tmp_path: Path, install: Callable[..., None]
) -> None:
    source = EVALUATOR.format(imports="", bases="", members="").replace("def evaluate", "async def evaluate")
    install("evaluators", "odd", source)
    done = carried_out(tmp_path, evaluator="odd")
    assert "evaluate() must be no async function" in done.stderr
    assert "never awaited" not in done.stderr


@pytest.mark.parametrize("lack", ["def lack(self): return 'x'", "lack = 3"])
def test_the_lack_of_an_operator_counts_where_it_is_declared(lack: str) -> None:
    names: dict[str, type[seams.Operator]] = {}
    exec(OPERATOR.format(lack=lack), names)
    (found,) = generate(AgentConfig(prompt="Hi."), [names["Plain"]()], seams.OperatorOptions()).empty
    assert found.reason == "no mutants of prompt.odd, because it found no place in this config"
    faults = list(capability_faults(names["Declares"], "operators"))
    assert faults and all("it declares NamesLack: lack is" in fault for fault in faults)


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
