"""`report` and `show` say what has changed in the project since the run; unchanged, they say nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from agentmut.cli.entry import app
from tests.cli.ran_project import ran


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("stale"))


@pytest.fixture
def project(whole: Path) -> Iterator[Path]:
    before = {
        path: path.read_text() for path in (whole / "prompt.md", whole / "s.yaml", whole / "agentmut.yaml")
    }
    yield whole
    for path, text in before.items():
        path.write_text(text)


def called(project: Path, *words: str) -> Result:
    done = CliRunner().invoke(app, [*words, "--project", str(project)])
    assert done.exit_code == 0, done.output
    return done


def change(project: Path, name: str, old: str, new: str) -> None:
    path = project / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_an_unchanged_project_is_not_mentioned(project: Path) -> None:
    assert "earlier state" not in called(project, "report").stderr
    assert "earlier state" not in called(project, "report", "--format", "html").stdout


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("prompt.md", "Name the place.", "Name the town.", "the agent's config has changed since."),
        ("s.yaml", "contains: hello", "contains: Kiel", "the suite (other scenarios or evaluators) changed since."),
        ("s.yaml", "Where is it?", "Where is it now?", "the suite (other scenarios or evaluators) changed since."),
        ("s.yaml", "name: where", "name: place", "the suite has lost where since."),
    ],
)  # fmt: skip
def test_what_changed_is_named_beside_the_report(
    project: Path, name: str, old: str, new: str, said: str
) -> None:
    change(project, name, old, new)
    done = called(project, "report")
    assert "measured an earlier state of the project: " in done.stderr
    assert said in done.stderr
    assert "earlier state" not in done.stdout


def test_a_changed_setting_is_named_with_both_values(project: Path) -> None:
    file = project / "agentmut.yaml"
    told = yaml.safe_load(file.read_text())
    told["suite"]["threshold"], told["statistics"] = (
        0.55,
        {**told.get("statistics", {}), "alpha": 0.01, "power": 0.8},
    )
    file.write_text(yaml.safe_dump(told))
    said = called(project, "report").stderr
    assert "statistics.alpha (then 0.05, now 0.01) and statistics.power (then 0.9, now 0.8)" in said
    assert "the threshold of where (then 0." in said and "now 0.55)" in said
    assert said.rstrip().endswith("changed since. A new run measures the current state.")


def test_a_scenario_that_was_added_changes_nothing_about_the_others(project: Path) -> None:
    more = "- {name: thanks, input: Thanks, evaluators: [{contains: way}]}\n"
    (project / "s.yaml").write_text((project / "s.yaml").read_text() + more)
    assert "earlier state" not in called(project, "report").stderr


def test_the_page_and_show_say_it_and_documents_for_programs_do_not(project: Path) -> None:
    change(project, "prompt.md", "Name the place.", "Name the town.")
    page = called(project, "report", "--format", "html")
    assert (
        "the agent&#39;s config has changed since. A new run measures the current state.</p>" in page.stdout
    )
    mutant = page.stdout.partition('<template data-mutant="')[2][:8]
    assert "the agent's config has changed since" in called(project, "show", mutant).stderr
    assert "earlier state" not in called(project, "report", "--format", "junit").output
