"""What a ready tool loop needs of a service's SDK: one small class per API has it."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, NamedTuple, Protocol

from pydantic import JsonValue

from agentmut.config import AgentConfig, ModelConfig
from agentmut.mutant import Mutant, apply_edits
from agentmut.tools import ToolSpec
from agentmut.trace import Usage
from agentmut.wire import bodies
from agentmut.wire.codec import Codec
from agentmut.wire.messages import Message, ModelRequest, Role

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


def request_of(config: AgentConfig) -> ModelRequest:
    """The config as a request in which nothing has been said yet."""
    model, system = config.model, config.system_text()
    return ModelRequest(
        model=model.name,
        messages=(Message(role=Role.SYSTEM, text=system),) if system else (),
        tools=config.tools,
        temperature=model.temperature,
        top_p=model.top_p,
        max_tokens=model.max_tokens,
        seed=model.seed,
        stop=model.stop,
        reasoning_effort=model.reasoning_effort,
        tool_choice=_tool_choice(config),
        response_format=model.response_format,
    )


def body_of(codec: Codec, request: ModelRequest) -> dict[str, Any]:
    """The body of a request in the terms of an API."""
    return dict(bodies.mapping(bodies.read_json(codec.encode_request(request).body), "the body"))


def refused(codec: Codec, model: ModelConfig, api: str) -> str:
    """The first setting that an API has no place for, by what is left of it there; empty where all are."""
    wanted = request_of(AgentConfig(model=model, tools=(ToolSpec(name="any"),)))
    told = codec.decode_request(codec.encode_request(wanted))
    for name in ModelConfig.model_fields:
        value = getattr(wanted, name, None)
        if value not in (None, ()) and getattr(told, name) in (None, ()):
            return f"the {api} API has no {name} {value!r:.60}"
    return ""


def unsaid(refuses: Callable[[ModelConfig], str], model: ModelConfig, mutant: Mutant) -> str:
    """Which setting that the mutant changes an API has no word for, before or after; empty for none."""
    edits = [edit for edit in mutant.edits if edit.part == "model"]
    changed = {edit.path[1] for edit in edits if len(edit.path) > 1} - {"name", "provider"}
    after = apply_edits(AgentConfig(model=model), edits).model
    told = (state.model_dump(include=changed) for state in (model, after))
    return next(filter(None, (refuses(ModelConfig(name="any", **settings)) for settings in told)), "")


def arguments_of(create: Callable[..., Any], body: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments that send the body; what an SDK's method no longer takes goes as an addition to it."""
    known = inspect.signature(create).parameters
    others = {key: value for key, value in body.items() if key not in known}
    taken = {key: value for key, value in body.items() if key in known}
    return {**taken, "extra_body": others} if others else taken


def _tool_choice(config: AgentConfig) -> JsonValue:
    """The tool choice; None without tools, as services refuse it then. A tool is named as it is offered."""
    choice = config.model.tool_choice if config.tools else None
    if not isinstance(choice, dict) or not isinstance(function := choice.get("function"), dict):
        return choice
    offered = {tool.own_name: tool.name for tool in config.tools}
    name = function.get("name")
    return {**choice, "function": {**function, "name": offered.get(str(name), name)}}
