"""Campaigns whose traces are written by hand."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentmut.campaign.running.stored import StoredCampaign
from tests.insight.explain.campaigns import Traces, campaign_of


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Callable[..., StoredCampaign]]:
    """Makes a campaign of traces: mutant ("" for the original) -> scenario -> runs."""
    made: list[StoredCampaign] = []

    def make(traces: Traces, evaluators: Sequence[Any] = ({"max_steps": 60},)) -> StoredCampaign:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(campaign_of(folder, traces, evaluators))
        return made[-1]

    yield make
    for one in made:
        one.store.close()
