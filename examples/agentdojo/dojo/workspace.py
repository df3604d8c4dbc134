"""The agent in AgentDojo's environment `workspace`."""

import agentmut
from agentmut import AgentConfig
from dojo.agent import converse
from dojo.environment import Dojo

OFFERED = (
    "get_unread_emails",
    "get_current_day",
    "search_calendar_events",
    "get_day_calendar_events",
    "add_calendar_event_participants",
    "reschedule_calendar_event",
    "cancel_calendar_event",
)
DOJO = Dojo("workspace", OFFERED)
TOOLS = DOJO.tools
FUNCTIONS = DOJO.functions
task_done = DOJO.task_done


async def run(config: AgentConfig, said: str | list[str]) -> str:
    """Answer in an environment of the run's own."""
    DOJO.enter()
    return await converse(config, agentmut.toolbox(config, FUNCTIONS), said)
