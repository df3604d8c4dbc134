"""The part of a service's SDK that a ready tool loop needs: one small class for each API."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut.adapters._shared.tool_loop.clients import Clients
from agentmut.nouns import (
    SAMPLING,
    AgentConfig,
    Codec,
    Message,
    ModelConfig,
    ModelReply,
    ModelRequest,
    Mutant,
    Role,
    ToolSpec,
    Usage,
    apply_edits,
    is_set,
)
from agentmut.wire import bodies

Items = list[Any]
"""Entries of a conversation in the terms of the API."""


class Call(NamedTuple):
    """A tool call as the model asked for it."""

    id: str
    name: str
    arguments: Any
    """JSON text or, where the API gives it so, what the text says."""
    node: str = ""
    """The agent that calls, where a service lets several work together."""


class Answer(NamedTuple):
    """The result of a call for the model."""

    call: Call
    text: str
    failed: bool = False


class Reply(NamedTuple):
    """One answer of the model."""

    text: str
    """What it says, or why it refuses."""
    calls: tuple[Call, ...]
    items: Items
    """What is added to the conversation."""
    usage: Usage
    model: str
    cut: str = ""
    """Why the answer ended early, where the model was not done: `max_tokens` and so on."""
    unfinished: bool = False
    """Whether the model wants to go on, without a call being answered."""
    began: float | None = None
    """When the model was asked, in seconds since the trial began; None: when the service was."""
    node: str = ""
    """The agent that answers, where a service lets several work together."""


Body = dict[str, Any]
"""What is sent or came back, in the terms of the API."""


class Dialect(ABC):
    """Asks an agent of one API of an SDK. The SDK is imported on first use."""

    package: ClassVar[str]
    """The SDK, as pip knows it."""
    api: ClassVar[str]
    """What the API is called."""

    def __init__(self, *, stream: bool = False) -> None:
        self._stream = stream
        self._clients = Clients(self.package)

    @abstractmethod
    def refuses(self, model: ModelConfig) -> str:
        """Return the first setting that the API does not have; empty if it has all settings."""

    def client(self) -> AbstractAsyncContextManager[Any]:
        """Return the client of this event loop; address and key are the SDK's own environment variables.

        Raises `AdapterError`.
        """
        return self._clients.client()

    @abstractmethod
    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """Make one call and return its reply; a stream is read to its end."""

    @abstractmethod
    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return what is added to the conversation for the results of a reply's calls."""


class ModelDialect(Dialect):
    """Asks a model through one API of an SDK: each call is one request with the config and the conversation."""

    codec: ClassVar[Codec]
    """Reads and writes what is sent."""

    def refuses(self, model: ModelConfig) -> str:
        """Return the first setting that the API's request loses; empty if it loses none."""
        return refused(self.codec, model, self.api)

    async def ask(self, client: Any, config: AgentConfig, conversation: Items) -> Reply:
        """Make one model call and return its reply; a stream is read to its end."""
        came = await self.created(client, request_of(config), conversation)
        reply = self.codec.decode_reply(bodies.write_json(came))
        return Reply(
            text=reply.text,
            calls=tuple(Call(call.id, call.name, call.arguments) for call in reply.tool_calls),
            items=self.reply_items(came, reply),
            usage=reply.usage,
            model=reply.model,
            cut=self.cut(came, reply),
            unfinished=reply.finish_reason == "pause_turn",
        )

    @abstractmethod
    async def created(self, client: Any, request: ModelRequest, conversation: Items) -> Body:
        """Return the plain reply to a request with the conversation so far."""

    @abstractmethod
    def reply_items(self, came: Body, reply: ModelReply) -> Items:
        """Return what is added to the conversation for a reply."""

    def cut(self, came: Body, reply: ModelReply) -> str:
        """Return why a reply ended early; empty where the model was done."""
        return _CUT.get(reply.finish_reason, "")


_CUT = {"length": "max_tokens", "content_filter": "content filter"}


class StreamCutError(ConnectionError):
    """A stream ended before the model's answer did."""

    def __init__(self) -> None:
        super().__init__("the stream of the model's answer ended before the answer did")


def plain(found: Any) -> Body:
    """Return the original JSON of an object that an SDK has read."""
    body: Body = found.to_dict(mode="json", warnings=False)
    return body


def request_of(config: AgentConfig) -> ModelRequest:
    """Return the config as a request without a conversation."""
    model, system = config.model, config.system_text()
    return ModelRequest(
        model=model.name,
        messages=(Message(role=Role.SYSTEM, text=system),) if system else (),
        tools=config.tools,
        **{name: getattr(model, name) for name in SAMPLING} | {"tool_choice": _tool_choice(config)},
    )


def body_of(codec: Codec, request: ModelRequest) -> dict[str, Any]:
    """Return the body of a request in the terms of an API."""
    return dict(bodies.mapping(bodies.read_json(codec.encode_request(request).body), "the body"))


def refused(codec: Codec, model: ModelConfig, api: str) -> str:
    """Return the first setting that the API's request loses; empty if it loses none."""
    wanted = request_of(AgentConfig(model=model, tools=(ToolSpec(name="any"),)))
    told = codec.decode_request(codec.encode_request(wanted))
    for name in SAMPLING:
        value = getattr(wanted, name)
        if is_set(value) and not is_set(getattr(told, name)):
            return f"the {api} API has no {name} {value!r:.60}"
    return ""


def unsaid(refuses: Callable[[ModelConfig], str], model: ModelConfig, mutant: Mutant) -> str:
    """Return the mutant's changed setting that the API does not have, before or after the change; empty for none."""
    edits = [edit for edit in mutant.edits if edit.part == "model"]
    changed = {edit.path[1] for edit in edits if len(edit.path) > 1} - {"name", "provider"}
    after = apply_edits(AgentConfig(model=model), edits).model
    told = (state.model_dump(include=changed) for state in (model, after))
    return next(filter(None, (refuses(ModelConfig(name="any", **settings)) for settings in told)), "")


def arguments_of(create: Callable[..., Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments that send the body; parts unknown to the SDK's method go into its extra body."""
    known = _parameters_of(getattr(create, "__func__", create))
    others = {key: value for key, value in body.items() if key not in known}
    taken = {key: value for key, value in body.items() if key in known}
    return {**taken, "extra_body": others} if others else taken


@cache
def _parameters_of(create: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(create).parameters)


def _tool_choice(config: AgentConfig) -> JsonValue:
    """Return the tool choice with the offered name of the tool; None without tools, as services refuse it then."""
    choice = config.model.tool_choice if config.tools else None
    if not isinstance(choice, dict) or not isinstance(function := choice.get("function"), dict):
        return choice
    offered = {tool.own_name: tool.name for tool in config.tools}
    name = function.get("name")
    return {**choice, "function": {**function, "name": offered.get(str(name), name)}}
