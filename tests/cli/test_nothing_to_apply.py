"""`agentmut suggest --apply all` where the suggestions that were made last have none that it writes."""

from pathlib import Path

import yaml
from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.nouns import Suggestions


def test_without_a_suggestion_nothing_is_said_to_be_there_already(tmp_path: Path) -> None:
    agent = {"adapter": "python", "run": "nowhere:run", "config": {"prompt": "Be kind."}}
    project = {"version": 1, "agent": agent, "suite": {"scenarios": "s.yaml"}}
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(project))
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: b}]}\n")
    (tmp_path / ".agentmut").mkdir()
    kept = Suggestions(run_id="r").model_dump_json()
    (tmp_path / ".agentmut" / "suggestions.json").write_text(kept)
    done = CliRunner().invoke(app, ["suggest", "--apply", "all", "--project", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "there is none that `all` writes" in done.output and "already" not in done.output
