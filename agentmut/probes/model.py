"""The probe for edits of the model's name and settings."""

from dataclasses import dataclass
from typing import Any

from agentmut.config import ModelConfig
from agentmut.mutant import Edit
from agentmut.probes.probe import Probe, Shapes
from agentmut.wire.footprint import RequestShape

_VISIBLE = frozenset(ModelConfig.model_fields) - {"provider"}


def model_probe(edit: Edit) -> Probe:
    """The probe of an edit of the model."""
    _, *rest = edit.path
    key, before, after = (rest[0], edit.before, edit.after) if rest else ("name", *_names(edit))
    return _ModelProbe(key, before, after)


@dataclass(frozen=True)
class _ModelProbe:
    key: str
    before: Any
    after: Any

    def delivered(self, shapes: Shapes) -> bool:
        if self.key not in _VISIBLE:
            return False
        if self.after is None:  # unset: then no request may show what was set
            return not any(self._value(shape) == self.before for shape in shapes)
        return any(self._value(shape) == self.after for shape in shapes)

    def carried(self, shapes: Shapes) -> bool:
        unset = self.before in (None, "", [])  # the agent's own choice
        return unset or any(self._value(shape) == self.before for shape in shapes)

    def _value(self, shape: RequestShape) -> object:
        value: object = shape.model if self.key == "name" else getattr(shape, self.key)
        return list(value) if isinstance(value, tuple) else value


def _names(edit: Edit) -> tuple[Any, Any]:
    """The models' names, where one whole model takes the place of another."""
    before, after = (v.get("name") if isinstance(v, dict) else v for v in (edit.before, edit.after))
    return before, after
