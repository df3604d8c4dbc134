"""What a ready tool loop needs of a service's SDK: one small class per API has it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, NamedTuple, Protocol

from pydantic import JsonValue

from agentmut.config import AgentConfig, ModelConfig
from agentmut.trace import Usage

Items = list[Any]
"""Entries of a conversation in the terms of the API."""


class Call(NamedTuple):
    """A tool call as the model asked for it."""

    id: str
    name: str
    arguments: Any
    """JSON text or, where the API gives it so, what the text says."""


class Answer(NamedTuple):
    """What a call is answered with."""

    call: Call
    text: str
    failed: bool = False


class Reply(NamedTuple):
    """One answer of the model."""

    text: str
    """What it says, or why it refuses."""
    calls: tuple[Call, ...]
    said: Items
    """What is added to the conversation."""
    usage: Usage
    model: str
    cut: str = ""
    """Why the answer ended early, where the model was not done: `max_tokens` and so on."""
    unfinished: bool = False
    """Whether the model wants to go on, without a call being answered."""


class Dialect(Protocol):
    """Asks a model through one API of an SDK. Imports the SDK when it is used, not before."""

    package: ClassVar[str]
    """The SDK, as pip knows it."""

    def refuses(self, model: ModelConfig) -> str:
        """The first setting that the API does not have, in a phrase; empty when it takes all of them."""
        ...

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A new client; address and key are the SDK's own environment variables. Raises `AdapterError`."""
        ...

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """One model call."""
        ...

    def answered(self, answers: Sequence[Answer]) -> Items:
        """What is added to the conversation for the results of a reply's calls."""
        ...


class StreamCutError(ConnectionError):
    """A stream ended before the model's answer did."""


def tool_choice(config: AgentConfig) -> JsonValue:
    """The tool choice in the terms of Chat Completions; None without tools, as services refuse it then.

    A tool that is named there is named as it is offered.
    """
    choice = config.model.tool_choice if config.tools else None
    if not isinstance(choice, dict) or not isinstance(function := choice.get("function"), dict):
        return choice
    offered = {tool.own_name: tool.name for tool in config.tools}
    name = function.get("name")
    return {**choice, "function": {**function, "name": offered.get(str(name), name)}}


def json_schema_of(response_format: JsonValue) -> dict[str, Any] | None:
    """What stands under `json_schema` of a response format; None where it is of another kind."""
    if not isinstance(response_format, dict) or response_format.get("type") != "json_schema":
        return None
    found = response_format.get("json_schema")
    return found if isinstance(found, dict) else None


def given(**settings: Any) -> dict[str, Any]:
    """The settings that are set."""
    return {name: value for name, value in settings.items() if value is not None and value not in ("", [])}
