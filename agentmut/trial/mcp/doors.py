"""Where tool servers of programs outside of this process are met: over stdin and stdout, and over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import quote

from agentmut.mcp_proxy import URL_VARIABLE, VARIABLE
from agentmut.recording import TRIAL_PREFIX
from agentmut.trial.mcp.front import DOOR, open_front
from agentmut.trial.mcp.middleman import Socket, open_socket
from agentmut.wire import Roster


class ToolDoors(NamedTuple):
    """Where the messages of agents and their tool servers pass."""

    front: str
    socket: Socket

    def variables(self, trial: str) -> dict[str, str]:
        """The environment that leads a program's there, by the name of its trial."""
        return {
            URL_VARIABLE: f"{self.front}{TRIAL_PREFIX}{quote(trial, safe='')}{DOOR}",
            VARIABLE: f"{self.socket.host}:{self.socket.port}/{trial}",
        }


@asynccontextmanager
async def open_tool_doors(roster: Roster) -> AsyncIterator[ToolDoors]:
    """Be there for the trials of a roster while the context is open."""
    async with open_front(roster) as front, open_socket(roster) as socket:
        yield ToolDoors(front, socket)
