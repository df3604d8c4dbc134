"""The inputs of `--in-diff` in `make fuzz`: names of revisions and old agents that nobody would write are refused."""

import random
from pathlib import Path

import pytest

from agentmut._base import UsageError
from agentmut.mutation import Changes
from benchmarks.fuzz_revisions import Revisions


@pytest.mark.process
def test_odd_names_of_revisions_are_refused_or_found(tmp_path: Path) -> None:
    rng, revisions, ends = random.Random(1), Revisions(tmp_path / "repository"), set()
    for _ in range(12):
        one = revisions.named(rng)
        assert one.may_raise is UsageError
        try:
            ends.add(type(one.call()))
        except UsageError:
            ends.add(UsageError)
    assert ends == {UsageError, Changes} or ends == {UsageError}


@pytest.mark.process
def test_an_old_agent_that_is_damaged_leaves_todays_as_it_is(tmp_path: Path) -> None:
    revisions, config = Revisions(tmp_path / "repository"), tmp_path / "repository" / "agent.yaml"
    before = config.read_bytes()
    one = revisions.old_agent(random.Random(0))
    try:
        one.call()
    except UsageError as error:
        assert "--in-diff HEAD" in str(error)
    assert config.read_bytes() == before
