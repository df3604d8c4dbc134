"""Users' own functions that call an SDK: agents as they are, changed on the wire."""

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.config import AgentConfig
from agentmut.errors import UsageError
from agentmut.protocols import AgentSpec

_OF_THE_LOOP = ("functions", "api", "stream")


def wrapped_function(spec: AgentSpec, config: AgentConfig, package: str) -> CallableAdapter:
    """The function of `agent.run`; `package` is the SDK that it calls. Raises `UsageError`."""
    useless = [key for key in _OF_THE_LOOP if getattr(spec, key)]
    if useless:
        raise UsageError(
            f"agent.{useless[0]} is for the ready tool loop; with agent.run the function has its own. Leave out "
            "one of the two"
        )
    return CallableAdapter.wrapping(spec, config, package)
