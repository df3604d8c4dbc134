"""Stand-ins for the tools of a proposed scenario: a search never calls a tool that may do harm.

That the suite has really called a tool does not make it safe: a proposal's arguments are invented, and mutants call it
too. Only `agent.safe_tools` does.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from agentmut._base import canonical_json
from agentmut.nouns import AgentConfig, AgentTrace, Scenario, ToolDouble

MADE_UP = ToolDouble(returns={"ok": True})
ALL = "all"
LONGEST_RESULT = 4000
"""Characters of a recorded result that is written into a scenario."""
Doubles = Mapping[str, ToolDouble]


class StandIns(NamedTuple):
    """The doubles that proposed scenarios get."""

    doubles: dict[str, ToolDouble]
    """By tool: the first double in the suite, else what a stored run was answered, else `{"ok": true}`."""
    made_up: frozenset[str]
    """The tools whose answers neither the suite nor a stored run shows."""
    recorded: Mapping[str, Doubles] = {}
    """By scenario: what its runs were answered by the tools that no scenario doubles."""

    @property
    def replayed(self) -> frozenset[str]:
        """Return the tools whose answers are known only from stored runs."""
        return frozenset(tool for doubles in self.recorded.values() for tool in doubles)

    def doubles_for(self, base: Scenario) -> dict[str, ToolDouble]:
        """Return the doubles of a proposal made from a scenario; that scenario's recorded answers come first."""
        return {**self.doubles, **self.recorded.get(base.name, {}), **base.tools}


def stand_ins(
    config: AgentConfig,
    scenarios: Collection[Scenario],
    safe: Collection[str],
    traces: Mapping[str, Collection[AgentTrace]],
) -> StandIns:
    """Return a double of every tool that is not declared safe, whether or not the suite has called it.

    `traces` are runs of the original by scenario; tools that they call and the config does not name are doubled too.
    """
    if ALL in safe:
        return StandIns({}, frozenset())
    called = (tool for s in scenarios for trace in traces.get(s.name, ()) for tool in trace.tools_called)
    names = [name for name in dict.fromkeys((*config.tool_names, *called)) if name not in safe]
    known: dict[str, ToolDouble] = {}
    for scenario in scenarios:
        known = scenario.tools | known
    wanted = set(names) - set(known)
    recorded = {s.name: _recorded(traces.get(s.name, ()), wanted) for s in scenarios}
    for doubles in recorded.values():
        known = doubles | known
    made_up = frozenset(name for name in names if name not in known)
    return StandIns({name: known.get(name, MADE_UP) for name in names}, made_up, recorded)


def _recorded(traces: Collection[AgentTrace], wanted: Collection[str]) -> dict[str, ToolDouble]:
    found: dict[str, ToolDouble] = {}
    for tool, double in _answers(traces):
        if tool in wanted:
            found.setdefault(tool, double)
    return found


def _answers(traces: Collection[AgentTrace]) -> Iterator[tuple[str, ToolDouble]]:
    for trace in traces:
        for step in trace.tool_calls:
            short = len(canonical_json(step.output)) <= LONGEST_RESULT
            if step.tool and step.error is None and step.output is not None and short:
                yield step.tool, ToolDouble(returns=step.output)
