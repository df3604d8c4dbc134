"""Marked functions whose calls go wrong: what the agent is given, what is recorded, what is carried out."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import agentmut
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Outcome
from agentmut.trial.single_run import Case, attempt
from tests.cutting import cut_once

carried_out: list[str] = []


@agentmut.tool
def look_up(order: str) -> dict[str, Any]:
    carried_out.append(order)
    return {"id": order, "total": 20.0}


@agentmut.tool
async def search(words: str) -> str:
    carried_out.append(words)
    await asyncio.sleep(0)
    return f"Found {words}."


@agentmut.tool
def hurried(order: str) -> dict[str, Any]:
    raise ValueError("own failure")


def in_turn(config: AgentConfig, given: Any) -> Any:
    return [look_up("A-1"), look_up(order="A-2")]


async def in_turn_async(config: AgentConfig, given: Any) -> Any:
    return [await search("tents"), await search("lamps")]


async def blocking(config: AgentConfig, given: Any) -> Any:
    return look_up("A-1")


def run(
    agent: Callable[..., Any],
    tool: str,
    kind: str,
    *,
    seconds: float = 0.0,
    timeout: float = 600.0,
    **doubles: Any,
) -> Execution:
    fault = ToolFault(kind=FaultKind(kind), seconds=seconds)
    config = AgentConfig(prompt="p", tools=(ToolSpec(name=tool, fault=fault),))
    scenario = Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),))
    carried_out.clear()
    return asyncio.run(attempt(CallableAdapter(agent, config), Case(scenario, doubles), "t", 0, timeout))


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        ("empty", [{}, {}]),
        ("truncated", [{"id": "A-1"}, {"id": "A-2"}]),
        ("malformed", ['{"id": "A-1",', '{"id": "A-2",']),
        ("wrong_entity", [{"id": "A-4", "total": 53.0}, {"id": "A-5", "total": 53.0}]),
        ("stale", [{"id": "A-1", "total": 20.0}] * 2),
        ("slow", [{"id": "A-1", "total": 20.0}, {"id": "A-2", "total": 20.0}]),
    ],
)
def test_the_agent_is_given_what_the_fault_leaves_and_the_trace_shows_it(
    kind: str, answers: list[Any]
) -> None:
    execution = run(in_turn, "look_up", kind)
    assert execution.trace.output == answers
    assert [step.output for step in execution.trace.tool_calls] == answers
    assert carried_out == ["A-1", "A-2"]
    assert execution.footprint.marks == ("/tools/look_up/fault",)


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        ("empty", ["", ""]),
        ("truncated", ["Found ", "Found "]),
        ("stale", ["Found tents."] * 2),
        ("permission_denied", ["Error: 403 Forbidden: permission denied"] * 2),
        ("slow", ["Found tents.", "Found lamps."]),
        ("decoy", ["Nothing was found."] * 2),
    ],
)
def test_async_tools_have_the_same_faults(kind: str, answers: list[Any]) -> None:
    execution = run(in_turn_async, "search", kind)
    assert execution.trace.output == answers
    assert [step.output for step in execution.trace.tool_calls] == answers
    assert execution.footprint.marks == ("/tools/search/fault",)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("error", "ServiceError: 503 Service Unavailable"),
        ("timeout", "ServiceTimeoutError: The read operation timed out"),
    ],
)
@pytest.mark.parametrize(("agent", "tool"), [(in_turn, "look_up"), (in_turn_async, "search")])
def test_a_raised_fault_is_the_agents_failure_and_nothing_is_carried_out(
    kind: str, said: str, agent: Any, tool: str
) -> None:
    execution = run(agent, tool, kind)
    assert (execution.ending, execution.reason.partition(" (tests/trial/")[0]) == (Ending.RAISED, said)
    assert execution.ending.outcome is Outcome.FAIL
    assert [step.error for step in execution.trace.tool_calls] == [said]
    assert carried_out == []
    assert execution.footprint.marks == (f"/tools/{tool}/fault",)


def test_a_refused_call_is_not_carried_out() -> None:
    execution = run(in_turn, "look_up", "permission_denied")
    assert execution.trace.output == [{"error": "403 Forbidden: permission denied"}] * 2
    assert carried_out == []


def test_a_double_stays_in_place_and_its_results_have_the_fault() -> None:
    execution = run(in_turn, "look_up", "wrong_entity", look_up=lambda order: {"doubled": f"{order}0"})
    assert execution.trace.output == [{"doubled": "A-43"}, {"doubled": "A-53"}]
    assert carried_out == []


@pytest.mark.parametrize("kind", ["empty", "stale", "slow"])
def test_a_tool_that_fails_by_itself_fails_as_ever(kind: str) -> None:
    execution = run(lambda config, given: hurried("A-1"), "hurried", kind)
    assert execution.reason.startswith("ValueError: own failure (")
    assert execution.footprint.marks == ()


def test_other_tools_are_left_alone() -> None:
    execution = run(in_turn, "search", "error")
    assert execution.ending is Ending.ANSWERED
    assert execution.footprint.marks == ()


def test_a_fault_that_changes_nothing_has_not_taken_effect() -> None:
    def once(config: AgentConfig, given: Any) -> Any:
        return look_up("A-1")

    def twice_the_same(config: AgentConfig, given: Any) -> Any:
        return [look_up("A-1"), look_up("A-1")]

    assert run(once, "look_up", "stale").footprint.marks == ()
    assert run(twice_the_same, "look_up", "stale").footprint.marks == ()
    for kind in ("wrong_entity", "truncated"):
        assert run(once, "look_up", kind, look_up=lambda order: {"verified": True}).footprint.marks == ()
    assert run(once, "look_up", "empty", look_up=lambda order: {}).footprint.marks == ()


def test_what_the_agent_does_to_a_result_does_not_reach_later_stale_ones() -> None:
    def spoiling(config: AgentConfig, given: Any) -> Any:
        look_up("A-1").clear()
        look_up("A-2").clear()
        return look_up("A-3")

    assert run(spoiling, "look_up", "stale").trace.output == {"id": "A-1", "total": 20.0}


def test_trials_do_not_share_stale_results() -> None:
    for order in ("A-1", "A-2"):
        execution = run(lambda config, given, order=order: look_up(order), "look_up", "stale")
        assert execution.trace.output == {"id": order, "total": 20.0}


@pytest.mark.parametrize(("agent", "tool"), [(in_turn, "look_up"), (in_turn_async, "search")])
def test_a_slow_tool_takes_the_time_it_is_told(agent: Any, tool: str) -> None:
    began = time.perf_counter()
    execution = run(agent, tool, "slow", seconds=0.15)
    assert time.perf_counter() - began >= 0.3
    assert execution.trace.seconds >= 0.3
    assert all(step.seconds >= 0.15 for step in execution.trace.tool_calls)


def test_a_slow_sync_tool_of_an_async_agent_holds_no_other_trial_up() -> None:
    execution = run(blocking, "look_up", "slow", seconds=3600.0)
    assert execution.trace.seconds >= 3600
    assert execution.trace.tool_calls[0].seconds >= 3600


def test_a_tool_that_is_too_slow_for_the_trial_is_a_timeout_with_its_mark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut_once(monkeypatch, lambda recorder: recorder.marks)
    execution = run(in_turn, "look_up", "slow", seconds=0.6)
    assert execution.ending is Ending.TIMEOUT
    assert execution.footprint.marks == ("/tools/look_up/fault",)
    while any(thread.name == "agentmut-trial" for thread in threading.enumerate()):
        time.sleep(0.01)
    assert carried_out == ["A-1"]  # the abandoned run was not let on to its second call


def test_outside_of_a_trial_nothing_goes_wrong() -> None:
    assert look_up("A-9") == {"id": "A-9", "total": 20.0}
