"""What docs/gates.md and docs/ci.md show is so: settings, verbs, options, Python."""

import re
from pathlib import Path

import pytest

from agentmut.cli import VERBS
from agentmut.project.gate_section import GateSettings
from agentmut.project.loading import load_project
from tests.docs.shown_blocks import blocks

DOCS = Path(__file__).parents[2] / "docs"
GATES = (DOCS / "gates.md").read_text()
CI = (DOCS / "ci.md").read_text()
PROJECT = """\
version: 1
agent: {adapter: python, run: my_agent:run, config: {prompt: Be kind.}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "s.yaml").write_text("[{name: a, input: hi, evaluators: [{contains: hello}]}]")
    (tmp_path / "my_agent.py").write_text("def run(config, input):\n    return 'hello'\n")
    (tmp_path / "agentmut.yaml").write_text(PROJECT + "".join(blocks(GATES, "yaml")))
    return tmp_path


def test_the_settings_shown_are_read_and_every_one_is_shown(project: Path) -> None:
    loaded = load_project(project)
    assert loaded.gate.min_score == 0.6
    assert loaded.budget.ask_above is not None
    assert all(name in GATES for name in GateSettings.model_fields)


@pytest.mark.parametrize("page", [GATES, CI])
def test_the_verbs_and_options_shown_exist(page: str) -> None:
    commands = re.findall(r"(?:^|`)agentmut (\w+)([^`\n#]*)", page, re.MULTILINE)
    assert commands
    for verb, options in commands:
        assert verb in VERBS
        folder = DOCS.parent / "agentmut" / "cli"
        source = (folder / "verbs" / f"{verb}_verb.py").read_text() + (folder / "options.py").read_text()
        for option in re.findall(r"--\w[\w-]*", options):
            assert f'"{option}"' in source


def test_the_python_shown_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    exec(blocks(GATES, "python")[0], {})
    assert capsys.readouterr().out.startswith("manual\n")
