"""The example of the page on the Python API runs as it stands."""

import re
from pathlib import Path

import pytest

from agentmut.usecases.starting import write_starter

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.mark.whole
def test_the_example_names_the_rules_whose_loss_the_starters_suite_does_not_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_starter(tmp_path / "my_project")
    settings = tmp_path / "my_project" / "agentmut.yaml"
    settings.write_text(settings.read_text("utf-8").replace("delta: 0.2", "delta: 0.5"), "utf-8")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(block, {})
    score, *survivors = capsys.readouterr().out.splitlines()
    assert score.split()[0] == "0.5"  # as the quickstart shows: three of six rules
    assert len(survivors) == 3 and any("Is there anything else?" in line for line in survivors)
