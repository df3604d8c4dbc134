"""Users' own functions that call an SDK: their agents stay unchanged, and mutants are made on the wire."""

from collections.abc import Callable, Mapping

from agentmut._base import UsageError
from agentmut.adapters._shared.tool_loop.dialect import Dialect, unsaid
from agentmut.adapters._shared.tool_loop.dialect_converse import ConverseDialect
from agentmut.adapters._shared.tool_loop.dialect_messages import MessagesDialect
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns import AgentConfig, Mutant
from agentmut.seams import AgentSpec, KnowsApi

_OF_THE_LOOP = ("functions", "api", "stream")
_ONE_API: Mapping[str, Callable[[], Dialect]] = {"anthropic": MessagesDialect, "boto3": ConverseDialect}
"""SDKs with one API. OpenAI's has two, and the one asked has all settings."""


class WrappedFunction(CallableAdapter, KnowsApi):
    """A function that calls one API."""

    def cannot_say(self, mutant: Mutant) -> str:
        """Return settings that requests have no word for."""
        dialect = _ONE_API.get(self._package)
        return unsaid(dialect().refuses, self._config.model, mutant) if dialect else ""


def wrapped_function(spec: AgentSpec, config: AgentConfig, package: str) -> CallableAdapter:
    """Return the function of `agent.run`, which calls the SDK `package`. Raise `UsageError`."""
    useless = [key for key in _OF_THE_LOOP if getattr(spec, key)]
    if useless:
        raise UsageError(
            f"agent.{useless[0]} is for the ready tool loop; the function of agent.run has its own. Leave one "
            "of the two out"
        )
    return WrappedFunction.wrapping(spec, config, package)
