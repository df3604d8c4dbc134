"""`create_agent` middleware that makes model requests carry a config."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool

from agentmut.adapters._langchain_tools import offered_tool
from agentmut.adapters.langgraph import bind_tools
from agentmut.config import AgentConfig

_MODEL_FIELDS = ("temperature", "top_p", "max_tokens", "seed")


class ConfigMiddleware(AgentMiddleware[Any, Any]):
    """Replaces system message, tools, model name and sampling parameters of every request."""

    def __init__(self, config: AgentConfig) -> None:
        super().__init__()
        self._config = config
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
        model = self._config.model
        values = {name: getattr(model, name) for name in _MODEL_FIELDS}
        settings = {name: value for name, value in values.items() if value is not None}
        if model.name:
            settings["model"] = model.name
        own = [tool for tool in request.tools if not isinstance(tool, dict)]
        self._own = {tool.name: tool for tool in own}  # the same in every request of an agent
        provided: list[Any] = [tool for tool in request.tools if isinstance(tool, dict)]
        system = self._config.system_text()
        return request.override(
            system_message=SystemMessage(system) if system else None,
            tools=[*bind_tools(self._config, own), *provided],
            model_settings={**request.model_settings, **settings},
        )
