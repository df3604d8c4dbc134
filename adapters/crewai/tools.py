"""CrewAI tools in the form of a config, with their calls passed on by agentmut."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from crewai.tools import BaseTool
from crewai.utilities.agent_utils import convert_tools_to_openai_schema
from crewai.utilities.i18n import get_i18n
from crewai.utilities.pydantic_schema_utils import sanitize_tool_params_for_openai_strict
from crewai.utilities.string_utils import sanitize_tool_name
from pydantic import BaseModel, ConfigDict, JsonValue, PrivateAttr

from agentmut._base import AdapterError, described
from agentmut.adapters._shared.agent_source import ON_THE_WIRE
from agentmut.adapters._shared.change import Offer
from agentmut.adapters._shared.sdk_version import named_version
from agentmut.mutation import decoy_answer
from agentmut.nouns import ToolSpec
from agentmut.trial import pass_call_sync


def spec_of(tool: BaseTool) -> ToolSpec:
    """Return a tool as the model gets it."""
    told = convert_tools_to_openai_schema([tool])[0][0]["function"]
    return ToolSpec(
        name=told["name"], description=told["description"], parameters=told_schema(told["parameters"])
    )


def told_name(name: str) -> str:
    """Return what CrewAI makes of a tool's name."""
    return str(sanitize_tool_name(name))


def told_schema(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return CrewAI's version of a schema of parameters: strict, with all parameters required."""
    return cast(dict[str, JsonValue], sanitize_tool_params_for_openai_strict(dict(schema)))


_REFUSALS = (
    "agent_tool_unexisting_coworker",
    "agent_tool_execution_error",
    "tool_usage_exception",
    "wrong_tool_name",
)
"""The texts in which CrewAI tells of calls that have failed, by their names in its translations."""
_OTHER_REFUSALS = (
    r"Error executing tool: |Tool not found$|Tool execution blocked by hook|Tool '.*' has reached its "
)
"""The messages that CrewAI's code has for calls that failed."""


def failure_in(result: Any) -> str | None:
    """Return the failure that a result of CrewAI's own tools reports in its text; None for another result."""
    text = str(result).strip()
    return text if refusals().match(text) else None


@lru_cache(maxsize=1)
def refusals() -> re.Pattern[str]:
    """Return what tells of a failed call begins so.

    Raises `AdapterError` where CrewAI has no longer one of the texts.
    """
    i18n = get_i18n()
    try:
        texts = [i18n.errors(name) for name in _REFUSALS]
    except Exception as error:  # CrewAI raises no other kind
        raise AdapterError(
            f"adapter crewai does not know how {named_version('crewai')} tells of calls that fail "
            f"({described(error)}); mutants can reach the crew by {ON_THE_WIRE}"
        ) from error
    told = [re.sub(r"\\{\w+\\}", ".*", re.escape(text.strip())) for text in texts]
    return re.compile("|".join([*told, _OTHER_REFUSALS]), re.DOTALL)


class ToolFailedError(Exception):
    """A tool reports its failure by its result."""

    def __init__(self, failure: Any) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _raised(result: Any) -> Any:
    if type(result).__name__ == "ToolFailure" and hasattr(result, "message"):  # newer versions have it
        raise ToolFailedError(result)
    return result


def passed_on(tool: Any) -> "PassedOn | None":
    """Return agentmut's tool behind a hook's tool; None for CrewAI's own and unknown tools."""
    own = getattr(tool, "_original_tool", None)
    return own if isinstance(own, PassedOn) else None


class PassedOn(BaseTool):
    """A tool whose calls go through agentmut. Its results are never cached: a repeated call is one, too."""

    own_name: str
    _own: BaseTool | None = PrivateAttr(default=None)

    def _run(self, **arguments: Any) -> Any:
        own = self._own
        try:
            return pass_call_sync(
                self.own_name,
                arguments,
                decoy_answer if own is None else lambda: _raised(own.run(**arguments)),
            )
        except ToolFailedError as error:
            return error.failure

    def format_output_for_agent(self, raw_result: Any) -> str:
        """Format the output as the agent's own tool does."""
        own = self._own
        return str(raw_result if own is None else own.format_output_for_agent(raw_result))


def offered(offer: Offer, own: BaseTool | None) -> BaseTool:
    """Return the tool as offered; `own` is the agent's tool, None for a decoy."""
    spec = offer.spec
    settings: dict[str, Any] = {}
    if own is not None:
        kept = ("result_schema", "result_as_answer", "max_usage_count", "tool_failure_policy")
        settings = {name: getattr(own, name) for name in kept if name in type(own).model_fields}
    told = PassedOn(
        name=spec.name,
        description=spec.description,
        args_schema=_arguments_of(spec.name, json.dumps(spec.parameters)),
        own_name=spec.own_name,
        cache_function=_never,
        **settings,
    )
    told._own = own and own.model_copy(update={"current_usage_count": 0, "max_usage_count": None})
    return told


def _never(arguments: Any = None, result: Any = None) -> bool:
    return False


@lru_cache(maxsize=512)  # every trial offers the same tools, and a class takes long to make
def _arguments_of(name: str, schema: str) -> type[BaseModel]:
    """Return a model with this schema that accepts any arguments, since the agent's own tool checks them."""

    class Arguments(BaseModel):
        """Any arguments."""

        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return cast(dict[str, Any], json.loads(schema))

    Arguments.__name__ = f"{name}_arguments"
    return Arguments
