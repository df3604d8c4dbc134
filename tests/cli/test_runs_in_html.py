"""`agentmut report --format html` of a real run: the page shows its stored runs, and says why where it cannot."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut.cli.entry import app
from tests.cli.ran_project import ran


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("shown"))


def page(project: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["report", "--format", "html", "--project", str(project), *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_both_mutants_stand_beside_the_original_with_their_words_marked(project: Path) -> None:
    written = page(project)
    assert written.count("<template data-mutant=") == 2
    assert "<del>hello, </del>it is on its way to Kiel" in written
    assert "The mutant fails:</strong> output lacks &#39;hello&#39;" in written


def test_a_survivor_has_a_difference_that_no_rule_asks_for_and_its_runs_are_of_that_scenario(
    project: Path,
) -> None:
    written = page(project)
    assert "Seen to differ: a person must decide whether the agent is right" in written
    assert "would have killed it" not in written
    assert "Runs side by side on where" in written


def test_runs_can_be_left_out_and_are_narrowed_with_the_mutants(project: Path) -> None:
    assert "<template" not in page(project, "--no-runs")
    killed = page(project).partition('<template data-mutant="')[2][:8]
    assert page(project, "--mutant", killed).count("<template data-mutant=") == 1


def test_a_project_that_cannot_be_read_any_more_is_said_on_the_page(project: Path) -> None:
    (project / "s.yaml").rename(project / "gone.yaml")
    try:
        written = page(project)
    finally:
        (project / "gone.yaml").rename(project / "s.yaml")
    assert "<template" not in written
    assert "No stored run is shown: " in written
