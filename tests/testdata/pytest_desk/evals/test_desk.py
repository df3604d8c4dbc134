import itertools
from typing import Any

import pytest

TIMES = itertools.count()
"""Noise that tests can rely on: one run in five goes wrong, whatever the agent does."""


@pytest.mark.parametrize("question", ["What about my refund?", "Is a refund possible?"])
def test_how_long_a_refund_takes(desk: Any, question: str) -> None:
    assert "5 days" in desk(question)


class TestManners:
    seen = 0

    @pytest.fixture(autouse=True)
    def fresh(self) -> None:
        self.state: list[str] = []

    async def test_it_greets(self, agentmut_agent: Any) -> None:
        self.state.append("once")
        assert self.state == ["once"]
        trace = await agentmut_agent.arun("What about my parcel?")
        assert "hello" in trace.text.lower()


def test_a_noisy_check_of_the_greeting(desk: Any) -> None:
    assert "Hello" in desk("Hi") and next(TIMES) % 5 != 4


def test_delivery_is_answered(agentmut_agent: Any) -> None:
    assert agentmut_agent.run("When is the delivery?").text  # whatever is promised
