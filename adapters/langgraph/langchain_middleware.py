"""`create_agent` middleware that makes model requests carry a config."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from agentmut.adapters._shared.change import seen_tools
from agentmut.adapters.langgraph.chat_model import dropped_settings, model_settings
from agentmut.adapters.langgraph.langchain_tools import bind_tools, offered_tool
from agentmut.nouns import AgentConfig

_OTHER_NAMES = {"max_tokens": "max_completion_tokens", "stop": "stop_sequences"}
_BAGS = ("model_kwargs", "extra_body")
"""Where a chat model keeps settings that it has no field for."""


class ConfigMiddleware(AgentMiddleware[Any, Any]):
    """Replaces system message, tools, model name and settings of every request."""

    def __init__(self, config: AgentConfig) -> None:
        super().__init__()
        self._config = config
        self._dropped = dropped_settings()
        self._seen = seen_tools()
        self._own: dict[str, BaseTool] = {}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Rewrite the request, then call the model."""
        return handler(self._rewritten(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Rewrite the request, then call the model."""
        return await handler(self._rewritten(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Let a tool that is offered under another name than the agent's own be called."""
        return handler(self._with_tool(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Let a tool that is offered under another name than the agent's own be called."""
        return await handler(self._with_tool(request))

    def _with_tool(self, request: Any) -> Any:
        name = request.tool_call["name"]
        spec = next((tool for tool in self._config.tools if tool.name == name), None)
        tool = offered_tool(spec, self._own) if spec and request.tool is None else None
        return request if tool is None else request.override(tool=tool)

    def _rewritten(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        own = [tool for tool in request.tools if not isinstance(tool, dict)]
        self._own = {tool.name: tool for tool in own}  # the same in every request of an agent
        provided: list[Any] = [tool for tool in request.tools if isinstance(tool, dict)]
        system = self._config.system_text()
        request = self._without_dropped(request) if self._dropped else request
        settings = model_settings(self._config)
        bound = settings.pop("model_kwargs", {})
        return request.override(
            system_message=SystemMessage(system) if system else None,
            tools=[*bind_tools(self._config, own), *self._later(own), *provided],
            tool_choice=bound.get("tool_choice", request.tool_choice),
            model_settings={**request.model_settings, **_with_own_body(request, settings)},
        )

    def _later(self, own: Iterable[BaseTool]) -> list[BaseTool]:
        """Return the tools that other middleware adds after the agent was read; no mutant changes them."""
        known = {name for tool in self._config.tools for name in (tool.name, tool.own_name)}
        return [tool for tool in own if self._seen is not None and tool.name not in known | self._seen]

    def _without_dropped(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request without the agent's own settings that the mutation removes."""
        names = self._dropped | {_OTHER_NAMES[name] for name in self._dropped if name in _OTHER_NAMES}
        formatted = "response_format" in names and not isinstance(request.response_format, ToolStrategy)
        return request.override(
            model=_unset(request.model, names),
            model_settings=_unset_in(request.model_settings, names),
            tool_choice=None if "tool_choice" in names else request.tool_choice,
            response_format=None if formatted else request.response_format,
        )


def _unset(model: Any, names: Iterable[str]) -> Any:
    fields = type(model).model_fields
    update: dict[str, Any] = {name: None for name in names if name in fields}
    update |= {bag: _unset_in(getattr(model, bag) or {}, names) for bag in _BAGS if bag in fields}
    return model.model_copy(update=update)


def _unset_in(settings: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    inner = {bag: _unset_in(settings[bag] or {}, names) for bag in _BAGS if bag in settings}
    return {key: value for key, value in {**settings, **inner}.items() if key not in names}


def _with_own_body(request: ModelRequest[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings; settings in the body join the agent's own additions."""
    if "extra_body" not in settings:
        return settings
    if not hasattr(request.model, "extra_body"):  # not OpenAI's dialect
        return {**settings, **settings.pop("extra_body")}
    own = {**(request.model.extra_body or {}), **(request.model_settings.get("extra_body") or {})}
    return {**settings, "extra_body": {**own, **settings["extra_body"]}}
