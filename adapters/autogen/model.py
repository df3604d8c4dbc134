"""AutoGen's model clients: read, and wrapped for changes and for the trace."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import Tool, ToolSchema
from openai import NOT_GIVEN

from agentmut._base import AdapterError
from agentmut.adapters._shared.framework import dropped
from agentmut.adapters._shared.sdk_version import DEPLOYMENT, OTHERWISE
from agentmut.nouns import ModelConfig
from agentmut.recording import answering, call_place

OPENAI, AZURE = "openai", "azure"
_KINDS = {"OpenAIChatCompletionClient": OPENAI, "AzureOpenAIChatCompletionClient": AZURE}
_SAME = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "response_format")
_ARGUMENTS = {"name": "model"}
"""Settings that the clients have under another name."""
_CHOICES = ("auto", "required", "none")


def read(client: ChatCompletionClient) -> ModelConfig:
    """Return name and settings of the model from its client's config."""
    provider = _provider(client)
    said = _config(client)
    stop = said.get("stop") or ()
    return ModelConfig(
        provider=provider,
        name=str(said.get("model") or ""),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        **({name: said.get(name) for name in _SAME} if provider in (OPENAI, AZURE) else {}),
    )


def _provider(client: ChatCompletionClient) -> str | None:
    """Return the kind of a client whose settings are known; for other clients, the package."""
    kinds = (_KINDS.get(kind.__name__) for kind in type(client).__mro__)
    return next(filter(None, kinds), type(client).__name__)


def _config(client: ChatCompletionClient) -> Mapping[str, Any]:
    try:
        return client.dump_component().config
    except Exception:  # a client of the user's need not have one, and some hold what cannot be written
        return {}


def cannot_set(key: str, provider: str | None) -> str:
    """Return why a setting cannot be changed with a client of that kind; empty if it can."""
    wire = "mutants of it can reach the agent by agent.route: wire"
    if provider not in (OPENAI, AZURE):
        return f"adapter autogen changes the settings of OpenAI's clients, and this is a {provider}; {wire}"
    if provider == AZURE and key == "name":
        return f"{DEPLOYMENT}; {OTHERWISE}"
    return ""


class PlacedClient(ChatCompletionClient):
    """A client that adds `settings` to requests and names their agent. The agent's own client sends them."""

    component_type = "model"

    def __init__(self, client: ChatCompletionClient, node: str, settings: Mapping[str, Any]) -> None:
        self._client = client
        self._node = node
        self._choice = _choice(settings)
        self._extra = _extra(client, settings)
        self.error: Exception | None = None
        """What the last request raised; a team tells its text only."""

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        """Return the answer of the agent's own client."""
        self.error = None
        try:
            with answering(call_place()._replace(node=self._node)):
                return await self._client.create(messages, **self._changed(options))
        except Exception as error:
            self.error = error
            raise

    async def create_stream(
        self, messages: Sequence[LLMMessage], **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Yield the pieces that the agent's own client gives."""
        self.error = None
        stream = self._client.create_stream(messages, **self._changed(options))
        place = call_place()._replace(node=self._node)
        try:
            while True:
                # not around a yield: what the caller does meanwhile is not the request's
                with answering(place):
                    piece = await anext(stream)
                yield piece
        except StopAsyncIteration:
            return
        except Exception as error:
            self.error = error
            raise

    def _changed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a request with the changes; a choice that an agent makes itself, to reflect, stays."""
        choice = options.get("tool_choice", "auto")
        chosen = self._choice if options.get("tools") and choice == "auto" else choice
        extra = {**(options.get("extra_create_args") or {}), **self._extra}
        return {**options, "tool_choice": chosen, "extra_create_args": extra}

    async def close(self) -> None:
        """Close the agent's own client."""
        await self._client.close()

    def actual_usage(self) -> RequestUsage:
        """Return the client's actual usage."""
        return self._client.actual_usage()

    def total_usage(self) -> RequestUsage:
        """Return the client's total usage."""
        return self._client.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """Count tokens with the client."""
        return self._client.count_tokens(messages, tools=tools)

    def remaining_tokens(
        self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()
    ) -> int:
        """Count the tokens that the client has left."""
        return self._client.remaining_tokens(messages, tools=tools)

    @property
    def capabilities(self) -> ModelCapabilities:
        """Return the client's capabilities."""
        return self._client.capabilities

    @property
    def model_info(self) -> ModelInfo:
        """Return the client's model info."""
        return self._client.model_info


def _extra(client: ChatCompletionClient, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed settings as arguments of a request."""
    changed = {name: value for name, value in settings.items() if name not in ("provider", "tool_choice")}
    for name in changed:
        if reason := cannot_set(name, _provider(client)):
            raise AdapterError(f"agent.config.model.{name}: {reason}")
    return {_ARGUMENTS.get(name, name): _argument(value) for name, value in changed.items()}


def _argument(value: Any) -> Any:
    if dropped(value):
        return NOT_GIVEN
    return list(value) if isinstance(value, tuple) else value


def _choice(settings: Mapping[str, Any]) -> str:
    choice = settings.get("tool_choice") or "auto"
    if choice not in _CHOICES:
        raise AdapterError(f"agent.config.model.tool_choice: AutoGen takes {', '.join(_CHOICES)}")
    return str(choice)
