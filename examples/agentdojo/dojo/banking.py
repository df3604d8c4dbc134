"""The agent in AgentDojo's environment `banking`."""

import agentmut
from agentmut import AgentConfig
from dojo.agent import converse
from dojo.environment import Dojo

OFFERED = (
    "get_balance",
    "get_most_recent_transactions",
    "get_scheduled_transactions",
    "send_money",
    "schedule_transaction",
    "update_scheduled_transaction",
    "read_file",
    "get_user_info",
    "update_user_info",
    "update_password",
)
DOJO = Dojo("banking", OFFERED)
TOOLS = DOJO.tools
FUNCTIONS = DOJO.functions
task_done = DOJO.task_done


async def run(config: AgentConfig, said: str | list[str]) -> str:
    """Answer in an environment of the run's own."""
    DOJO.enter()
    return await converse(config, agentmut.toolbox(config, FUNCTIONS), said)
