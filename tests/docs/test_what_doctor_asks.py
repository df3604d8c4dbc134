"""`doctor` without a terminal: the help and the pages that name the command say what it needs."""

from pathlib import Path

import pytest

from agentmut.cli.verbs.doctor_verb import doctor

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["your-agent.md", "wire.md"])
def test_a_page_says_that_doctor_needs_yes_without_a_terminal(page: str) -> None:
    said = " ".join((DOCS / page).read_text().split())
    assert "without a terminal" in said.split("`agentmut doctor", 1)[1].split("`--yes`")[0]


def test_the_help_says_that_doctor_needs_yes_without_a_terminal() -> None:
    assert "without a terminal, as in CI, it needs --yes" in " ".join((doctor.__doc__ or "").split())
