"""The triage example with a thin suite, on the simulator: a scenario is found for a tool that no ticket needs."""

import shutil
from pathlib import Path

import pytest

from agentmut.campaign.preparation.session import open_session
from agentmut.insight.coverage.nouns import Dimension
from agentmut.project.loading import load_project
from agentmut.usecases.runtime import open_store
from agentmut.usecases.suggestions import searched_suggestions
from agentmut.usecases.suite_verdicts import check_suite

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
THIN = """
- name: plan
  input: "Which plan do I have? Find the customer ada@example.com."
  evaluators: [{contains: business}]
"""


def test_a_ticket_is_found_for_a_tool_that_no_ticket_needs(
    tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "triage"
    ignored = shutil.ignore_patterns(".agentmut", "__pycache__")
    shutil.copytree(ROOT / "examples" / "ticket_triage", folder, ignore=ignored)
    (folder / "scenarios" / "tickets.yaml").write_text(THIN)
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    check_suite(folder, method="fixed", trials=4)
    project = load_project(folder)
    with open_store(project) as store:
        found = searched_suggestions(open_session(project), store, now=1.8e9, trials=40)
    added = {item: one.scenario for one in found.suggestions.scenarios for item in one.adds}
    tool = next(item.removeprefix("tool ") for item in added if item.startswith("tool "))
    scenario = added[f"tool {tool}"]
    assert tool in ("report_bug", "open_invoice") and tool in str(scenario.evaluators)
    # as in stored runs: none is declared safe
    assert tool in scenario.tools and "find_customer" in scenario.tools
    assert found.searched and found.searched.executed <= 40
    before, after = (c.of(Dimension.TOOL).value or 0 for c in (found.searched.before, found.searched.after))
    assert before == pytest.approx(1 / 3) and after > before
