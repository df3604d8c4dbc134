"""Progress says how far the campaign is: phase, trials, money, time left, score so far."""

import io
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from agentmut.campaign import register
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.cli.progress import ProgressLine, describe
from agentmut.project.loading import load_project
from agentmut.usecases.campaigns import carry_out_campaign
from agentmut.usecases.runtime import open_store

pytestmark = pytest.mark.whole

AGENT = 'async def run(config, input):\n    return "hello" if "greet" in config.prompt else "hm"\n'
PROJECT = """
version: 1
agent:
  adapter: python
  run: agent_of_progress:run
  config: {prompt: "Always greet the user. Be brief."}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 30}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_of_a_run(folder: Path, budget: str = "") -> tuple[list[str], str, list[bool]]:
    (folder / "scenarios").mkdir()
    (folder / "agent_of_progress.py").write_text(AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT + budget)
    (folder / "scenarios" / "s.yaml").write_text(
        "- name: s\n  input: hi\n  evaluators: [{contains: hello}]\n"
    )
    session = open_session(load_project(folder))
    plan = make_plan(session, make_mutants(session, Selection()), None, time.time())
    terminal = Terminal()
    line, lines, written = ProgressLine(terminal), list[str](), list[bool]()
    file = session.project.runs / plan.run_id / "result.json"

    def progress(state: CampaignState) -> None:
        lines.append(describe(state))
        written.append(file.exists())
        line(state)

    with open_store(session.project) as store:
        register(store, plan)
        carry_out_campaign(session, plan, store, progress=progress)
    line.close()
    return lines, terminal.getvalue(), written


def test_progress_names_phase_trials_money_and_score(tmp_path: Path) -> None:
    lines, shown, written = lines_of_a_run(tmp_path)
    assert re.fullmatch(r"round 1 of 4, baseline \d+/(20|30) \| \d+ trials, \$0\.00, 0:\d\d", lines[0])
    stage = next(i for i, line in enumerate(lines) if line.startswith("working out the result"))
    assert re.search(
        r"^round 4 of 4, mutants 2/2 \| \d+ trials, \$0\.00, .*score so far 1/2$", lines[stage - 1]
    )
    after = [line.partition(" | ")[0] for line in lines[stage + 1 :]]
    assert after == [f"explaining survivors {n}/1; result.json is written" for n in (0, 1)]
    assert all(written[stage + 1 :])
    assert not any(written[: stage + 1])
    assert any("left" in line for line in lines)
    assert shown.startswith("\r")
    assert shown.endswith("\n")


def test_a_run_with_a_budget_says_what_it_and_larger_ones_buy_before_mutants_are_tried(
    tmp_path: Path,
) -> None:
    """One scenario, two mutants and two controls: 30 trials of the baseline, about six for each, are below 60."""
    _, shown, _ = lines_of_a_run(tmp_path, "budget: {trials: 60}\n")
    shown = " ".join(shown.split())
    assert shown.count("With 60 trials you learn of every mutant whether a drop of 0.5 or more") == 1
    assert "With 100 trials you learn of every mutant" in shown
    assert "With 60 trials" in shown.partition("mutants ")[0]  # a fast run may not show this phase


def test_a_run_without_a_budget_tells_nothing_of_money(tmp_path: Path) -> None:
    assert "you learn" not in lines_of_a_run(tmp_path)[1]


def test_progress_goes_to_the_stderr_of_the_start_where_a_module_has_set_it_to_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", first)
    monkeypatch.setattr(sys, "stderr", None)
    ProgressLine()._stream.write("shown")
    assert first.getvalue() == "shown"


def test_one_trial_is_no_plural() -> None:
    spend = SimpleNamespace(trials=1, usd=0.0, unpriced=True, seconds=0.0)
    state = SimpleNamespace(stage="baseline", spend=spend)
    assert describe(cast(CampaignState, state)).startswith("baseline | 1 trial, ")
