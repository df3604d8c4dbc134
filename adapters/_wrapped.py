"""Users' own functions that call an SDK: agents as they are, changed on the wire."""

from agentmut.adapters._dialect import unsaid
from agentmut.adapters._dialect_messages import MessagesDialect
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.config import AgentConfig
from agentmut.errors import UsageError
from agentmut.mutant import Mutant
from agentmut.protocols import AgentSpec

_OF_THE_LOOP = ("functions", "api", "stream")


class WrappedFunction(CallableAdapter):
    """A function that speaks to one API."""

    def cannot_say(self, mutant: Mutant) -> str:
        """Settings that requests have no word for. OpenAI's SDK has two APIs, and the one asked has them all."""
        anthropic = self._package == "anthropic"
        return unsaid(MessagesDialect().refuses, self._config.model, mutant) if anthropic else ""


def wrapped_function(spec: AgentSpec, config: AgentConfig, package: str) -> CallableAdapter:
    """The function of `agent.run`; `package` is the SDK that it calls. Raises `UsageError`."""
    useless = [key for key in _OF_THE_LOOP if getattr(spec, key)]
    if useless:
        raise UsageError(
            f"agent.{useless[0]} is for the ready tool loop; with agent.run the function has its own. Leave out "
            "one of the two"
        )
    return WrappedFunction.wrapping(spec, config, package)
