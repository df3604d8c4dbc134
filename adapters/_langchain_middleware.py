"""`create_agent` middleware that makes model requests carry a config."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import SystemMessage

from agentmut.adapters.langgraph import bind_tools
from agentmut.config import AgentConfig

_MODEL_FIELDS = ("temperature", "top_p", "max_tokens", "seed")


class ConfigMiddleware(AgentMiddleware[Any, Any]):
    """Replaces system message, tools, model name and sampling parameters of every request."""

    def __init__(self, config: AgentConfig) -> None:
        super().__init__()
        self._config = config

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

    def _rewritten(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        model = self._config.model
        values = {name: getattr(model, name) for name in _MODEL_FIELDS}
        settings = {name: value for name, value in values.items() if value is not None}
        if model.name:
            settings["model"] = model.name
        own = [tool for tool in request.tools if not isinstance(tool, dict)]
        provided: list[Any] = [tool for tool in request.tools if isinstance(tool, dict)]
        system = self._config.system_text()
        return request.override(
            system_message=SystemMessage(system) if system else None,
            tools=[*bind_tools(self._config, own), *provided],
            model_settings={**request.model_settings, **settings},
        )
