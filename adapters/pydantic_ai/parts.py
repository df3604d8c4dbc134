"""The parts of a pydantic-ai agent, and the overrides that change them."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue
from pydantic_ai import models
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.toolsets import CombinedToolset

from agentmut._base import AdapterError, described
from agentmut.adapters._shared.change import Change
from agentmut.adapters._shared.framework import dropped
from agentmut.adapters.pydantic_ai.tools import ChangedToolset
from agentmut.nouns import ModelConfig

_NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
    "stop": "stop_sequences",
    "reasoning_effort": "openai_reasoning_effort",
    "tool_choice": "tool_choice",
}
"""The names of the model's settings, here and in pydantic-ai."""
REQUESTS = 50
"""Model requests in a run where the agent's user says no number (`UsageLimits`)."""


@dataclass(frozen=True)
class Parts:
    """The parts read from an agent. Its instructions have no public name; see `_private`."""

    agent: Any
    instructions: tuple[Any, ...]
    """Texts, and functions that make texts."""
    system_prompts: tuple[str, ...]
    model_object: Any

    @classmethod
    def from_agent(cls, agent: Any) -> "Parts":
        """Read the parts. Raise `AdapterError` if this version keeps them elsewhere, or there is no model."""
        if agent.model is None:
            raise AdapterError("the agent has no model; give it one, as in Agent('openai:gpt-5.2', ...)")
        return cls(
            agent,
            tuple(getattr(one, "instruction", one) for one in _private(agent, "_instructions")),
            tuple(_private(agent, "_system_prompts")),
            _model(agent.model),
        )

    @property
    def prompt(self) -> str:
        """Return the static instructions, or else the system prompts."""
        return "\n\n".join(self._texts or self.system_prompts)

    @property
    def _texts(self) -> tuple[str, ...]:
        return tuple(one for one in self.instructions if isinstance(one, str))

    @property
    def _settings(self) -> dict[str, Any]:
        own = self.agent.model_settings
        return {**(_named(self.model_object).settings or {}), **({} if callable(own) else own or {})}

    @property
    def model(self) -> ModelConfig:
        """Return the model's name and settings; settings that a function makes are not read."""
        found = {ours: self._settings[theirs] for ours, theirs in _NAMES.items() if theirs in self._settings}
        known = {name: value for name, value in found.items() if not dropped(value)}
        if "stop" in known:
            known["stop"] = tuple(known["stop"])
        named = _named(self.model_object)
        return ModelConfig(provider=named.system, name=named.model_name, **known)

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the limits: model requests in a run, and repeated attempts of a tool that asks for one."""
        return {"max_steps": REQUESTS, "retries": _private(self.agent, "_max_tool_retries")}

    def changed(self, change: Change) -> tuple[Any, dict[str, Any]]:
        """Return the agent to run, and its overrides."""
        overrides: dict[str, Any] = {
            "tools": (),
            "toolsets": [ChangedToolset(CombinedToolset(list(self.agent.toolsets)), change)],
        }
        agent = self.agent
        if change.prompt is not None and self.system_prompts and not self._texts:
            agent = copy.copy(agent)  # there is no override of system prompts
            agent._system_prompts = (change.prompt,)
        elif change.prompt is not None:
            functions = [one for one in self.instructions if not isinstance(one, str)]
            overrides["instructions"] = [change.prompt, *functions]
        if "retries" in change.orchestration:
            overrides["retries"] = change.wanted.orchestration.get("retries", 0)
        return agent, {**overrides, **self._model_overrides(change)}

    def _model_overrides(self, change: Change) -> dict[str, Any]:
        changes = change.model
        if not changes:
            return {}
        settings: Any = _changed(self._settings, changes)
        if callable(own := self.agent.model_settings):
            settings = _made_by(own, self._settings, changes)
        return {
            "model": _bare(self.model_object, changes.get("name")),
            "model_settings": settings,
        }


def _model(model: Any) -> Any:
    try:
        return models.infer_model(model)
    except Exception as error:  # of a service that is not known, has no key or is not installed
        raise AdapterError(f"the agent's model {model} cannot be made: {described(error)}") from error


def _changed(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    changed = {_NAMES[ours]: value for ours, value in changes.items() if ours in _NAMES}
    kept = {name: value for name, value in settings.items() if name not in changed}
    return kept | {name: _as_sent(value) for name, value in changed.items() if not dropped(value)}


def _made_by(
    own: Callable[[Any], Any], settings: dict[str, Any], changes: dict[str, Any]
) -> Callable[[Any], dict[str, Any]]:
    """Return settings that a function of the user's makes for each request, with the changes."""
    return lambda context: _changed({**settings, **(own(context) or {})}, changes)


def _named(model: Any) -> Any:
    """Return the model that is asked first, inside a wrapper or a fallback."""
    while isinstance(model, WrapperModel | FallbackModel):
        model = model.wrapped if isinstance(model, WrapperModel) else model.models[0]
    return model


def _bare(model: Any, name: str | None) -> Any:
    """Copy an agent without its settings, which the override has; `name` is its new name."""
    copied = object.__new__(type(model))  # `copy` does not come to an end with wrappers of older versions
    vars(copied).update(vars(model))
    if isinstance(model, WrapperModel):
        copied.wrapped = _bare(model.wrapped, name)
        return copied
    if isinstance(model, FallbackModel):
        copied.models = [_bare(model.models[0], name), *model.models[1:]]
        return copied
    _private(model, "_settings")
    copied._settings = None
    if name:
        _private(model, "_model_name")
        copied._model_name = name
    return copied


def message(role: str, text: str) -> ModelMessage:
    """Return a message of an earlier turn."""
    if role == "user":
        return ModelRequest(parts=[UserPromptPart(text)])
    return ModelResponse(parts=[TextPart(text)])


def _as_sent(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _private(owner: Any, name: str) -> Any:
    """Return a private attribute. Raise `AdapterError` if this version has no such attribute."""
    try:
        return getattr(owner, name)
    except AttributeError:
        raise AdapterError(
            f"adapter pydantic_ai does not find {type(owner).__name__}.{name} in this version of pydantic-ai; install "
            "one that it is tested with: pip install 'agentmut[pydantic-ai]'; or let mutants reach the agent "
            "through its model requests (agent.route: wire)"
        ) from None
