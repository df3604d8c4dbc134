"""A project of two rules, one of which its one scenario checks, with a run of it."""

from pathlib import Path

import yaml
from typer.testing import CliRunner

from agentmut.cli.entry import app

AGENT = '''"""Greets as its prompt says."""


def run(config, input):
    hello = "hello, " if "hello" in config.prompt else ""
    return f"{hello}it is on its way{' to Kiel' if 'place' in config.prompt else ''}"
'''


def ran(folder: Path, **sections: object) -> Path:
    """Write the project into the folder, with these sections in addition, and run it; return the folder."""
    module = f"agent_of_{folder.name}"  # a process imports a module once, whichever project it is of
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "prompt.md").write_text("- Always say hello.\n- Name the place.\n")
    suite = [{"name": "where", "input": "Where is it?", "evaluators": [{"contains": "hello"}]}]
    (folder / "s.yaml").write_text(yaml.safe_dump(suite))
    settings = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{module}:run", "config": {"prompt": "prompt.md"}},
        "suite": {"scenarios": "s.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        **sections,
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    done = CliRunner().invoke(app, ["run", "--yes", "--project", str(folder)])
    assert done.exit_code == 0, done.output
    return folder
