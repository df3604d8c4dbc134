"""The time left of a campaign counts the rounds to come, in trials that the campaign then takes."""

import time
from pathlib import Path
from typing import NamedTuple

import pytest

from agentmut.campaign import register
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.project.loading import load_project
from agentmut.usecases.campaigns import carry_out_campaign
from agentmut.usecases.remaining_time import time_left
from agentmut.usecases.runtime import open_store

pytestmark = pytest.mark.whole

AGENT = """
import random

LUCK = random.Random(1)


async def run(config, input):
    return "hello" if "greet" in config.prompt and LUCK.random() < 0.95 else "hm"
"""
RULES = [
    "Always greet the user.",
    *(f"Never mention the color {name}." for name in ["red", "blue", "green", "gray"]),
]


class Moment(NamedTuple):
    """A moment of a campaign: its round, its trials, and the trials that were said to be left."""

    round: int
    trials: int
    this_round: float
    whole: float


def moments(folder: Path, budget: str = "") -> tuple[list[Moment], int]:
    """Return the moments of a campaign, and its number of trials."""
    module = f"agent_{folder.name}"
    (folder / f"{module}.py").write_text(AGENT)
    prompt = " ".join(RULES)
    (folder / "agentmut.yaml").write_text(
        "version: 1\n"
        f"agent: {{adapter: python, run: '{module}:run', config: {{prompt: '{prompt}'}}}}\n"
        "mutation: {operators: [prompt.drop_instruction]}\n"
        f"suite: {{scenarios: s.yaml}}\n{budget}"
    )
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    session = open_session(load_project(folder))
    plan = make_plan(session, make_mutants(session, Selection()), None, time.time())
    seen: list[Moment] = []

    def look(state: CampaignState) -> None:
        left = time_left(state)
        if left and not state.stage:
            pace = state.spend.seconds / state.spend.trials
            seen.append(Moment(state.round, state.spend.trials, left.this_round / pace, left.whole / pace))

    with open_store(session.project) as store:
        register(store, plan)
        carry_out_campaign(session, plan, store, progress=look)
    return seen, seen[-1].trials


def test_the_first_estimate_is_about_what_all_rounds_take(tmp_path: Path) -> None:
    seen, total = moments(tmp_path)
    first = seen[0]
    assert first.round == 0
    assert total - first.trials > 200
    assert 0.5 < first.whole / (total - first.trials) < 2
    end = next(i for i, moment in enumerate(seen) if moment.round > 0)
    assert first.this_round < 0.3 * first.whole
    assert 0.4 < first.this_round / (seen[end].trials - first.trials) < 2.5
    last = [moment for moment in seen if moment.round == 3]
    assert last
    assert all(moment.whole == pytest.approx(moment.this_round) for moment in last)


def test_no_more_is_left_than_the_budget_allows(tmp_path: Path) -> None:
    seen, _ = moments(tmp_path, "budget: {trials: 150}\n")
    assert all(moment.whole <= max(0, 150 - moment.trials) + 1e-6 for moment in seen)
