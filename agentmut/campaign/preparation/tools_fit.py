"""The check that scenarios double, and evaluators name, only tools that the agent has."""

from collections.abc import Mapping, Sequence

from agentmut._base import AdapterError, UsageError, nearest
from agentmut.judging import tools_judged
from agentmut.nouns import Scenario
from agentmut.seams import Adapter, Evaluator, NeedsDoubles, RunsOutside
from agentmut.trial import inside


def check_doubles(adapter: Adapter, scenarios: Sequence[Scenario]) -> None:
    """Refuse tool doubles that cannot answer, since the real tool would run, and a missing double that is needed.

    Raises `UsageError`.
    """
    _check_needed(adapter, scenarios)
    wanted = {name: scenario.name for scenario in scenarios for name in scenario.tools}
    if not wanted:
        return
    able = adapter.doubled_tools()
    for tool, scenario in wanted.items():
        if isinstance(inside(adapter), RunsOutside):
            raise UsageError(
                f"scenario {scenario} doubles the tool {tool!r}, but the agent calls its tools in a process of its "
                "own, where they cannot be intercepted. Have the program use a stand-in, as by a variable of agent.env"
            )
        if tool not in able:
            raise UsageError(
                f"scenario {scenario} doubles the tool {tool!r}, but its calls cannot be intercepted, so "
                f"the real one would run. {nearest(tool, able)} For a callable agent, mark the function "
                "with @agentmut.tool in the agent's module; for LangGraph, call it through a ToolNode."
            )


def _check_needed(adapter: Adapter, scenarios: Sequence[Scenario]) -> None:
    agent = inside(adapter)
    needed = agent.needs_doubles if isinstance(agent, NeedsDoubles) else ()
    for tool in sorted(needed):
        if without := [scenario.name for scenario in scenarios if tool not in scenario.tools]:
            raise UsageError(
                f"the tool {tool!r} has no function, and scenario {without[0]} does not double it. Add the function "
                "to agent.functions, or a double under `tools:` of the scenario"
            )


def check_tools_judged(adapter: Adapter, evaluators: Mapping[str, Sequence[Evaluator]]) -> None:
    """Refuse evaluators of tools that the agent lacks: `tool_not_called` of a misspelt tool would always hold.

    Raises `UsageError`.
    """
    configured = adapter.get_config().tool_names
    judged = [
        (scenario, tool)
        for scenario, judges in evaluators.items()
        for j in judges
        for tool in tools_judged(j)
    ]
    unknown = [(scenario, tool) for scenario, tool in judged if tool not in configured]
    if not (configured and unknown):
        return
    known = sorted({*configured, *_tools_built(adapter)})
    for scenario, tool in unknown:
        if tool not in known:
            raise UsageError(
                f"an evaluator of scenario {scenario} speaks of the tool {tool!r}, which the agent does not "
                f"have. {nearest(tool, known)}"
            )


def _tools_built(adapter: Adapter) -> tuple[str, ...]:
    """Name the tools of the built agent, which may have some that the project file does not list."""
    try:
        return tuple(tool.name for tool in adapter.get_tools())
    except AdapterError:  # its runs will tell
        return ()
