"""`oracle.tool_arguments` on runs of gpt-4o: correct calls are let alone, and a spoilt id is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentmut.judging.facts.comparison import Comparison
from agentmut.language.quantities.stated_identifiers import identifiers
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import FollowUp, Pair
from agentmut.nouns.tools import read_tool
from agentmut.nouns.trace import Action, AgentTrace, Check, Step
from agentmut.relations.base import run, source
from agentmut.relations.oracle.tool_arguments import ToolArguments

SHARED = (parent / "shared" / "data" / "tau-bench" for parent in Path(__file__).parents)
TAU = next((folder for folder in SHARED if folder.is_dir()), Path("nowhere"))
RUNS = 60

pytestmark = pytest.mark.skipif(not TAU.is_dir(), reason="the trajectories are not here")


def steps_of(messages: list[dict[str, Any]]) -> list[Step]:
    """The calls in order; an id of a call may come twice in a run, so that results are taken in order too."""
    results = iter([message["content"] for message in messages if message["role"] == "tool"])
    calls = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
    return [
        Step(
            action=Action.CALL_TOOL,
            tool=call["name"],
            arguments=json.loads(call["arguments"]),
            output=next(results, None),
        )
        for call in calls
    ]


def pairs() -> list[Pair]:
    tools = tuple(read_tool(tool) for tool in json.loads((TAU / "airline_tools.json").read_text()))
    found = []
    for one in json.loads((TAU / "gpt-4o-airline.json").read_text())[:RUNS]:
        messages = one["traj"]
        config = AgentConfig(prompt=messages[0]["content"], tools=tools)
        turns = [message["content"] for message in messages if message["role"] == "user"]
        asked = source(*turns, answer=run("Done.", steps=steps_of(messages)), config=config)
        nothing = FollowUp(description="nothing is run")
        found.append(Pair(asked.scenario, config, asked.trace, nothing, (), Comparison(())))
    return found


def spoilt(trace: AgentTrace) -> AgentTrace | None:
    """The run with the last digit of the first id of its calls changed; None where no call has one."""
    for place, step in enumerate(trace.steps):
        written = json.dumps(step.arguments)
        for thing in identifiers(written):
            if not thing.value[-1].isdigit() or "-" in thing.value:
                continue
            end = thing.span.end - 1
            other = f"{written[:end]}{(int(written[end]) + 3) % 10}{written[end + 1 :]}"
            changed = step.model_copy(update={"arguments": json.loads(other)})
            return trace.model_copy(
                update={"steps": (*trace.steps[:place], changed, *trace.steps[place + 1 :])}
            )
    return None


def test_calls_of_a_real_agent_are_let_alone_and_a_changed_digit_is_found() -> None:
    judged = [ToolArguments().holds(pair) for pair in pairs()]
    told = [check for check in judged if isinstance(check, Check)]
    assert len(told) > RUNS / 2
    assert [check.reason for check in told if not check.passed] == []
    broken = [pair._replace(source=trace) for pair in pairs() if (trace := spoilt(pair.source))]
    found = [check for pair in broken if (check := ToolArguments().holds(pair)) and not check.passed]
    assert len(broken) > RUNS / 2
    assert len(found) >= 0.95 * len(broken)
