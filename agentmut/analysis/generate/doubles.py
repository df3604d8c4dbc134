"""Stand-ins for the tools of a proposed scenario: a search never calls a tool that may do harm."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from agentmut.config import AgentConfig
from agentmut.scenario import Scenario, ToolDouble
from agentmut.trace import AgentTrace

MADE_UP = ToolDouble(returns={"ok": True})


class StandIns(NamedTuple):
    """The doubles that every proposed scenario gets, and which of them are made up."""

    doubles: dict[str, ToolDouble]
    made_up: frozenset[str]


def stand_ins(
    config: AgentConfig,
    scenarios: Collection[Scenario],
    safe: Collection[str],
    traces: Mapping[str, Collection[AgentTrace]],
) -> StandIns:
    """A double of every tool but those that are declared safe, or that stored runs have really called.

    The first double of a tool in the suite stands in for it everywhere; where there is none, one is made up that
    answers `{"ok": true}`. `traces` are runs of the original by scenario.
    """
    if "all" in safe:
        return StandIns({}, frozenset())
    known: dict[str, ToolDouble] = {}
    for scenario in scenarios:
        known = scenario.tools | known
    real = {
        tool
        for scenario in scenarios
        for trace in traces.get(scenario.name, ())
        for tool in trace.tools_called
        if tool not in scenario.tools
    }
    names = [name for name in config.tool_names if name not in safe]
    made_up = [name for name in names if name not in known and name not in real]
    found = {name: known.get(name, MADE_UP) for name in names if name in known or name in made_up}
    return StandIns(found, frozenset(made_up))
