"""Models of LlamaIndex: read, and copied with other settings."""

from typing import Any

from llama_index.core.callbacks import CallbackManager, CBEventType
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.llms import LLM

from agentmut._base import AdapterError, one_line
from agentmut.adapters._shared.framework import dropped
from agentmut.adapters._shared.sdk_version import DEPLOYMENT, OTHERWISE
from agentmut.nouns import SAMPLING, ModelConfig
from agentmut.recording import call_place, place_calls

_FIELDS = {"name": ("model",), "max_tokens": ("max_tokens", "max_output_tokens")}
"""The names under which some clients have a setting."""
_UNSENT = ("reasoning_effort",)
"""Fields that OpenAI's client sends to some models only; among the additional arguments they always are."""
_WIRE = "mutants of it can reach the agent by agent.route: wire"


def model_of(llm: LLM) -> ModelConfig:
    """Name and settings of a model."""
    found = {name: _value(llm, name) for name in ("name", *SAMPLING)}
    known = {name: value for name, value in found.items() if not dropped(value)}
    if isinstance(known.get("stop"), list | str):
        stop = known["stop"]
        known["stop"] = (stop,) if isinstance(stop, str) else tuple(stop)
    return ModelConfig(provider=_provider(llm), **known)


def cannot_set(llm: LLM, setting: str, value: Any) -> str:
    """Return why a setting of a model cannot have this value; empty if it can."""
    kind = type(llm).__name__
    if setting == "name" and "engine" in type(llm).model_fields:  # AzureOpenAI asks by its engine
        return f"{DEPLOYMENT}; {OTHERWISE}"
    if setting == "provider" or not (_field(llm, setting) or _takes_more(llm)):
        return f"{kind} has no {setting} that could be set; {_WIRE}"
    if setting == "temperature" and dropped(value):
        return f"{kind} always sends a temperature; {_WIRE}"
    return ""


def changed_model(llm: LLM, changes: dict[str, Any], node: str) -> LLM:
    """Return a copy with other settings, whose requests belong to the agent `node`. Connections are shared."""
    update: dict[str, Any] = {}
    more = dict(getattr(llm, "additional_kwargs", None) or {})
    for name, value in changes.items():
        field = _field(llm, name)
        if field and name not in more:
            update[field] = None if dropped(value) else value
        elif dropped(value):
            more.pop(name, None)
        else:
            more[name] = list(value) if isinstance(value, tuple) else value
        if name in _UNSENT and hasattr(llm, name):
            update[name] = None
    if hasattr(llm, "additional_kwargs"):
        update["additional_kwargs"] = more
    handlers = [*llm.callback_manager.handlers, _Place(node)]
    copy = llm.model_copy(update={**update, "callback_manager": CallbackManager(handlers)})
    return _known(copy) if "name" in changes else copy


class _Place(BaseCallbackHandler):  # type: ignore[misc]  # LlamaIndex is in the second environment
    """Notes the agent of each model request before the request."""

    def __init__(self, node: str) -> None:
        super().__init__([], [])
        self._node = node

    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **kwargs: Any,
    ) -> str:
        """Note which agent makes the model calls from now on."""
        if event_type is CBEventType.LLM:
            place_calls(call_place()._replace(node=self._node, call_id=None))
        return event_id

    def on_event_end(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        **kwargs: Any,
    ) -> None:
        """Do nothing."""

    def start_trace(self, trace_id: str | None = None) -> None:
        """Keep no trace."""

    def end_trace(self, trace_id: str | None = None, trace_map: Any = None) -> None:
        """Keep no trace."""


def _known(llm: LLM) -> LLM:
    """Return the model if its client knows it; OpenAI's client finds models by name. Raise `AdapterError`."""
    try:
        llm.metadata  # noqa: B018  (asking is the check)
    except ValueError as error:
        raise AdapterError(
            f"{type(llm).__name__} does not know the model {getattr(llm, 'model', '')!r} ({one_line(error)}); use "
            "OpenAILike with is_chat_model, is_function_calling_model and context_window, or agent.route: wire"
        ) from error
    return llm


def _provider(llm: LLM) -> str:
    return "openai" if llm.class_name().lower().startswith("openai") else llm.class_name()


def _takes_more(llm: LLM) -> bool:
    """Return whether the model's additional arguments become part of the request unchanged."""
    return _provider(llm) == "openai" and hasattr(llm, "additional_kwargs")


def _field(llm: LLM, setting: str) -> str | None:
    if setting in _UNSENT and _takes_more(llm):
        return None
    fields = type(llm).model_fields
    return next((name for name in _FIELDS.get(setting, (setting,)) if name in fields), None)


def _value(llm: LLM, setting: str) -> Any:
    """Return the value of a setting; the additional arguments take precedence."""
    more = getattr(llm, "additional_kwargs", None) or {}
    if setting in more:
        return more[setting]
    if setting in _UNSENT and _takes_more(llm) and not _reasons(llm):
        return None
    field = _field(llm, setting) or setting
    return getattr(llm, field, None)


def _reasons(llm: LLM) -> bool:
    """Return whether OpenAI's client sends `reasoning_effort` to the model."""
    try:
        from llama_index.llms.openai.utils import O1_MODELS
    except ImportError:
        return True
    return getattr(llm, "model", "") in O1_MODELS
