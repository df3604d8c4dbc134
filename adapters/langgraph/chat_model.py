"""A config's model as keyword arguments for LangChain's chat models."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agentmut.nouns import AgentConfig, ModelConfig, is_set

_PLAIN = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
_dropped: ContextVar[frozenset[str]] = ContextVar("agentmut_dropped_settings", default=frozenset())


def model_settings(config: AgentConfig) -> dict[str, Any]:
    """Return keyword arguments for `ChatOpenAI`: the model's name and every setting that `config` has.

    Use it in a factory, `ChatOpenAI(**model_settings(config))`, so that changes of any setting arrive. What is
    unset is left out, and so is the tool choice where there are no tools, since services refuse it then. The
    response format goes into `extra_body`: as an argument, LangChain takes it with strict tools only.
    """
    model = config.model
    settings: dict[str, Any] = {"model": model.name} if model.name else {}
    settings |= {name: value for name in _PLAIN if (value := getattr(model, name)) is not None}
    if model.stop:
        settings["stop"] = list(model.stop)
    if model.tool_choice is not None and config.tools:
        settings["model_kwargs"] = {"tool_choice": model.tool_choice}
    if model.response_format is not None:
        settings["extra_body"] = {"response_format": model.response_format}
    return settings


@contextmanager
def dropping(original: ModelConfig, now: ModelConfig) -> Iterator[None]:
    """Take the settings that `original` has and `now` lacks out of an agent that is built inside the block."""
    token = _dropped.set(_set_in(original) - _set_in(now))
    try:
        yield
    finally:
        _dropped.reset(token)


def dropped_settings() -> frozenset[str]:
    """Return the settings that the original has, and the config of the agent that is being built has not."""
    return _dropped.get()


def _set_in(model: ModelConfig) -> frozenset[str]:
    return frozenset(name for name, value in model if is_set(value))
