"""The probe for edits of the model's name and settings."""

from dataclasses import dataclass
from typing import Any

from agentmut.nouns import AgentConfig, Edit, ModelConfig, RequestShape
from agentmut.trial.witness.probes.probe import Probe, Shapes

_VISIBLE = frozenset(ModelConfig.model_fields) - {"provider"}


def model_probe(edit: Edit, base: AgentConfig) -> Probe:
    """Return the probe of an edit of the model of `base`."""
    _, *rest = edit.path
    key, before, after = (rest[0], edit.before, edit.after) if rest else ("name", *_names(edit))
    return _ModelProbe(key, before, after, base.model.name)


@dataclass(frozen=True)
class _ModelProbe(Probe):
    key: str
    before: Any
    after: Any
    name: str
    """The model that the agent is said to use; empty where that is left to it."""

    @property
    def by_absence(self) -> bool:
        """Return whether the setting is taken out of the request."""
        return self.after is None

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request has the new value."""
        if self.key not in _VISIBLE:
            return False
        if self.after is None:
            return bool(self._value(shape) != self.before)
        return bool(self._value(shape) == self.after)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the old value. If that was unset: whether it goes to the same model."""
        if self._is_unset:  # the agent's own choice, of which a request to another model is none
            return not self.name or shape.model == self.name
        return self.key in _VISIBLE and bool(self._value(shape) == self.before)

    def carried(self, shapes: Shapes) -> bool:
        """Return whether the original has the setting, or leaves it unset."""
        return self._is_unset or super().carried(shapes)

    @property
    def _is_unset(self) -> bool:
        return self.before in (None, "", [])

    def delivered(self, shapes: Shapes) -> bool:
        """Return whether the requests show the new value: each of them where the setting is unset."""
        needed = all if self.after is None else any  # unset: then no request may show what was set
        return needed(map(self.shows, shapes))

    def _value(self, shape: RequestShape) -> object:
        value: object = shape.model if self.key == "name" else getattr(shape, self.key)
        return list(value) if isinstance(value, tuple) else value


def _names(edit: Edit) -> tuple[Any, Any]:
    """Return both models' names, where an edit replaces one whole model by another."""
    before, after = (v.get("name") if isinstance(v, dict) else v for v in (edit.before, edit.after))
    return before, after
