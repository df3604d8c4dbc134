"""The model's name and settings in a request, as the mutant has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentmut.nouns import ModelConfig, ModelRequest, is_set


@dataclass(frozen=True)
class SettingsChange:
    """The model `before` that is `after`."""

    before: ModelConfig
    after: ModelConfig

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What differs. Who provides the model shows in no request."""
        fields = (name for name in ModelConfig.model_fields if name != "provider")
        return tuple(name for name in fields if getattr(self.before, name) != getattr(self.after, name))

    def due(self, request: ModelRequest) -> Iterator[tuple[str, Any]]:
        """The settings of a request that become others.

        A request to another model than the original's is another agent's and keeps its own; so does a setting
        that is neither the original's nor unset. What the original leaves to the agent is set, whatever it chose.
        """
        if self.before.name and request.model and request.model != self.before.name:
            return
        for name in self.names:
            found, before = _value(request, name), getattr(self.before, name)
            if not (is_set(before) and is_set(found)) or found == before:
                yield name, getattr(self.after, name) or None if name == "name" else getattr(self.after, name)


def _value(request: ModelRequest, name: str) -> Any:
    return request.model if name == "name" else getattr(request, name)
