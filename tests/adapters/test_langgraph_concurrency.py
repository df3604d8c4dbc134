"""Many trials of one LangGraph agent at once, and such that hang."""

import asyncio
import json
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.trial.executor import LocalExecutor, RunSettings, TrialRequest
from agentmut.trial.pricing import Pricer
from agentmut.trial.single_run import Case
from agentmut.trial.suite_config import SuiteConfig
from tests.adapters.langgraph_agents import CONFIG, by_graph, by_sync_graph, chat, in_loop
from tests.cutting import cut_once

pytestmark = pytest.mark.framework


@pytest.mark.parametrize("make", [by_graph, by_sync_graph])
def test_concurrent_trials_keep_their_own_results(make: Any, service: Any, calls: Any) -> None:
    def answer(request: Any) -> Any:
        order = next(m.text for m in request.messages if m.role == "user")
        results = [m.text for m in request.messages if m.role == "tool"]
        wanted = [("look_up", json.dumps({"order": order})), ("slow", json.dumps({"order": order}))]
        return " and ".join(results) if results else calls(*wanted, prefix=order)

    service.answer = answer
    adapter = LangGraphAdapter(make(service.url), CONFIG, "here:build")
    cases = {
        str(n): Case(Scenario(name=str(n), turns=(f"Z{n}",), evaluators=(EvaluatorSpec(name="x"),)), {})
        for n in range(24)
    }
    suite = SuiteConfig(CONFIG, [case.scenario for case in cases.values()])
    executor = LocalExecutor(adapter, suite, cases, Pricer({}), RunSettings(timeout=600))

    async def everything() -> list[Execution]:
        async with executor.session():
            return await asyncio.gather(*(executor.execute(TrialRequest(None, n, f"t{n}")) for n in cases))

    for n, execution in enumerate(in_loop(everything())):
        assert execution.trace.output == f"Z{n} of t{n} and slow Z{n}"
        assert sorted(str(step.output) for step in execution.trace.tool_calls) == [
            f"Z{n} of t{n}",
            f"slow Z{n}",
        ]
        assert {shape.text.split("\n")[-1] for shape in execution.footprint.requests} == {f"Z{n}"}


def test_a_hanging_sync_tool_is_abandoned_and_holds_nothing_up(
    service: Any, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, hanging = threading.Event(), list[str]()

    @tool
    def hang(order: str) -> str:
        """Come back when the test is over."""
        hanging.append(order)
        released.wait(600)
        return order

    def build(config: AgentConfig) -> Any:
        return create_agent(chat(service.url, config), [hang])

    service.replies(calls(("hang", '{"order": "A"}')))
    case = Case(Scenario(name="s", turns=("Hi",), evaluators=(EvaluatorSpec(name="x"),)), {})
    adapter = LangGraphAdapter(build, CONFIG, "here:build")
    suite = SuiteConfig(CONFIG, [case.scenario])
    executor = LocalExecutor(adapter, suite, {"s": case}, Pricer({}), RunSettings(timeout=600.0))
    cut_once(monkeypatch, lambda recorder: len(hanging) == 12)

    async def everything() -> list[Execution]:
        async with executor.session():
            return await asyncio.gather(
                *(executor.execute(TrialRequest(None, "s", f"t{n}")) for n in range(12))
            )

    executions = asyncio.run(everything())  # returns without waiting for the threads
    released.set()
    assert {(found.ending, found.abandoned) for found in executions} == {(Ending.TIMEOUT, True)}
    assert all(found.trace.usage.total > 0 for found in executions)  # none waited for a place in a pool
