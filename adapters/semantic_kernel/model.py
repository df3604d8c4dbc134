"""The service and the execution settings of a Semantic Kernel agent."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from semantic_kernel.connectors.ai import PromptExecutionSettings
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior, FunctionChoiceType
from semantic_kernel.exceptions import KernelServiceNotFoundError, ServiceInvalidExecutionSettingsError
from semantic_kernel.functions import KernelArguments

from agentmut._base import AdapterError
from agentmut.adapters._shared.sdk_version import cannot_rename
from agentmut.nouns import Edit, ModelConfig, is_set

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("ai_model_id",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "seed": ("seed",),
    "stop": ("stop", "stop_sequences"),
    "reasoning_effort": ("reasoning_effort",),
    "response_format": ("response_format",),
}
"""What services call a setting; the first one that they know."""
_CHOICES = tuple(str(one.value) for one in FunctionChoiceType)


@dataclass(frozen=True)
class Model:
    """An agent's service and settings."""

    service: Any
    settings: PromptExecutionSettings
    behavior: FunctionChoiceBehavior | None
    """How functions are offered; None where they are not."""

    @classmethod
    def from_agent(cls, agent: Any) -> "Model":
        """Return the service that the agent's kernel would choose. Raise `AdapterError` if there is none."""
        try:
            service, settings = agent.kernel.select_ai_service(
                arguments=agent.arguments, type=ChatCompletionClientBase
            )
        except KernelServiceNotFoundError as error:
            raise AdapterError(f"agent {agent.name!r} has no chat completion service: {error}") from error
        behavior = settings.function_choice_behavior or agent.function_choice_behavior
        return cls(service, settings, behavior)

    def config(self, *, offers: bool) -> ModelConfig:
        """Return the name and the settings; the tool choice only if there are tools."""
        settings = {name: self._read(name) for name in _FIELDS}
        stop = settings.pop("stop") or ()
        choice = self.behavior.type_ if self.behavior and offers else None
        return ModelConfig(
            provider=getattr(self.service, "MODEL_PROVIDER_NAME", None),
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            tool_choice=str(choice.value) if choice else None,
            **settings | {"name": settings["name"] or self.service.ai_model_id},
        )

    def _read(self, name: str) -> Any:
        value = next(
            (v for one in _FIELDS[name] if (v := getattr(self.settings, one, None)) is not None), None
        )
        return None if name == "response_format" and not isinstance(value, dict) else value

    def changed(self, changes: Mapping[str, Any]) -> PromptExecutionSettings:
        """Return a copy of the settings. Raise the settings' own error for an invalid value."""
        settings = deepcopy(self.settings)
        for name, value in changes.items():
            if name in _FIELDS:
                setattr(settings, self._field(name), _plain(value) if is_set(value) else None)
        return settings

    def _field(self, name: str) -> str:
        """Return the field that holds a setting; the one in use if there are several."""
        known = [one for one in _FIELDS[name] if one in type(self.settings).model_fields]
        used = [one for one in known if getattr(self.settings, one) is not None]
        return next(iter((*used, *known)), "")

    def cannot_take(self, edit: Edit) -> str:
        """Return why the settings cannot hold a changed setting; empty if they can."""
        name, value = edit.path[1], edit.after
        if name == "tool_choice":
            return (
                ""
                if value in (None, *_CHOICES)
                else f"Semantic Kernel has no way to ask for the tool choice {value!r}"
            )
        if name not in _FIELDS:
            return ""
        if name == "name" and (fixed := cannot_rename(getattr(self.service, "client", None))):
            return fixed
        kind = type(self.settings).__name__
        if not self._field(name):
            return f"{kind} of Semantic Kernel have no {name}; mutants of it can reach the agent by agent.route: wire"
        return (
            ""
            if len(edit.path) > 2 or self._takes(name, value)
            else f"{kind} do not take {value!r} as {name}"
        )

    def _takes(self, name: str, value: Any) -> bool:
        try:
            self.changed({name: value})
        except (ValidationError, ServiceInvalidExecutionSettingsError):
            return False
        return True

    def arguments(self, own: KernelArguments | None, settings: PromptExecutionSettings) -> KernelArguments:
        """Return an agent's arguments with other settings."""
        return KernelArguments(settings={self.service.service_id: settings}, **(own or {}))


def choice_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a changed tool choice in the form of `FunctionChoiceBehavior`."""
    if "tool_choice" not in changes:
        return {}
    value = changes["tool_choice"]
    return {"type_": FunctionChoiceType(value) if is_set(value) else None}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
