"""The replay of a recorded trial: the agent runs again and gets the recorded answers."""

import asyncio
from typing import NamedTuple

from agentmut._base import UsageError, nearest
from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.trials import TrialResult
from agentmut.nouns import Cassette, Execution, Player
from agentmut.recording import Redactor
from agentmut.trial import TrialRequest


class Replay(NamedTuple):
    """The outcome of a replay. A replay is no trial: nothing of it is stored or counted."""

    execution: Execution
    result: TrialResult
    unused: int
    """Recorded exchanges that the agent did not ask for this time."""
    problem: str
    """What it asked that had not been recorded, where it differs; empty for a faithful replay."""


def replay(session: Session, cassette: Cassette, redactor: Redactor) -> Replay:
    """Run the agent of a cassette on its scenario with the recorded answers, and apply today's evaluators.

    Raises `UsageError` when the suite has no such scenario any more.
    """
    known = [scenario.name for scenario in session.scenarios]
    if cassette.scenario not in known:
        raise UsageError(
            f"the suite has no scenario {cassette.scenario!r}, which was recorded. {nearest(cassette.scenario, known)}"
        )
    player = Player(cassette.takes, redactor.text)
    request = TrialRequest(cassette.mutant, cassette.scenario, cassette.trial, player)
    done = asyncio.run(_executed(session, cassette.seed, request))
    execution = session.tests.storable(cassette.scenario, done, redactor)
    return Replay(
        execution, session.tests.result(cassette.scenario, execution, None), player.left, player.problem
    )


async def _executed(session: Session, seed: int, request: TrialRequest) -> Execution:
    executor = local_executor(session, seed)
    async with executor.session():
        return await executor.execute(request)
