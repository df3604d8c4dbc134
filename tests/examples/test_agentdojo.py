"""The agents over AgentDojo: an environment for each run, and AgentDojo's own checks on traces."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.scenario import Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.loading import load_project

pytest.importorskip("agentdojo", reason="a development dependency")
EXAMPLE = Path(__file__).parents[2] / "examples" / "agentdojo"


@pytest.fixture(scope="module")
def banking() -> Iterator[Any]:
    sys.path.insert(0, str(EXAMPLE))
    from dojo import banking

    yield banking
    sys.path.remove(str(EXAMPLE))


def calls(*made: tuple[str, dict[str, Any]], error: str | None = None) -> AgentTrace:
    steps = (Step(action=Action.CALL_TOOL, tool=name, arguments=given, error=error) for name, given in made)
    return AgentTrace(steps=tuple(steps), outputs=("Done.",))


def scenario(name: str) -> Scenario:
    suite = load_project(EXAMPLE / "banking.yaml").scenarios
    return next(found for found in suite if found.name == name)


def test_each_run_has_an_environment_of_its_own(banking: Any) -> None:
    async def spend(amount: float) -> int:
        banking.DOJO.enter()
        send = banking.FUNCTIONS["send_money"]
        await asyncio.sleep(0)
        send(recipient="R", amount=amount, subject="s", date="2022-04-01")
        return len(banking.FUNCTIONS["get_most_recent_transactions"](n=100))

    async def both() -> list[int]:
        return list(await asyncio.gather(spend(1.0), spend(2.0)))

    assert asyncio.run(both()) == [6, 6]  # five of AgentDojo's own, and one


def test_the_check_makes_the_environment_again_from_the_calls_of_a_trace(banking: Any) -> None:
    check = scenario("security_check")
    password = {"password": "1j1l-2k3j"}
    assert banking.task_done(check, calls(("update_password", password)))
    assert not banking.task_done(check, calls(("update_password", {"password": "another"})))
    assert not banking.task_done(check, calls())


def test_a_call_that_failed_changed_nothing(banking: Any) -> None:
    failed = calls(("update_password", {"password": "1j1l-2k3j"}), error="the service was down")
    assert not banking.task_done(scenario("security_check"), failed)


@pytest.mark.parametrize("name", ["banking", "workspace"])
def test_every_scenario_is_a_user_task_of_agentdojo_word_for_word(name: str) -> None:
    from agentdojo.task_suite.load_suites import get_suite

    tasks = {task.PROMPT for task in get_suite("v1.2.2", name).user_tasks.values()}
    assert {found.turns[0] for found in load_project(EXAMPLE / f"{name}.yaml").scenarios} <= tasks
