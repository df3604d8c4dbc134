"""Check the declarations of an operator's class."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from agentmut._base import PluginError
from agentmut.nouns import Effect, Intent, MutantRow, OperatorClass, Reach
from agentmut.seams.plugins import Group, load
from agentmut.seams.protocols.operator import HasEffect

CLASSES = tuple(
    kind for kind in OperatorClass if kind not in (OperatorClass.CONTROL, OperatorClass.HIGHER_ORDER)
)
"""The classes that operators may be of; agentmut itself makes controls and pairs."""
_INTENTS = (Intent.DEGRADE, Intent.PRESERVE)


def declaration_faults(operator: Any) -> Iterator[str]:
    """What is wrong with an operator's class, id, intent, reach and version, one phrase a fault."""
    kind = getattr(operator, "operator_class", None)
    name = str(getattr(operator, "id", ""))
    if not isinstance(kind, OperatorClass) or kind not in CLASSES:
        yield f"its operator_class is {kind!r}; expected {_members(OperatorClass, CLASSES)}"
    elif not name.startswith(f"{kind.value}.") or name.count(".") != 1 or name.endswith("."):
        yield f"its id is {name!r}; expected {kind.value}.name, after its class"
    intent = getattr(operator, "intent", None)
    if not isinstance(intent, Intent) or intent not in _INTENTS:
        yield f"its intent is {intent!r}; expected {_members(Intent, _INTENTS)}"
    reach = getattr(operator, "reach", None)
    if not isinstance(reach, Reach):
        yield f"its reach is {reach!r}; expected {_members(Reach, tuple(Reach))}"
    effect = getattr(operator, "effect", None)
    if isinstance(operator, type) and issubclass(operator, HasEffect) and not isinstance(effect, Effect):
        yield f"its effect is {effect!r}; expected {_members(Effect, tuple(Effect))}"
    version = getattr(operator, "version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        yield f"its version is {version!r}; expected a whole number from 1 on"


def _members(kind: type[Any], members: tuple[Any, ...]) -> str:
    return f"one of {', '.join(f'{kind.__name__}.{member.name}' for member in members)}"


def effect_of(row: MutantRow) -> Effect | None:
    """Return the effect of a mutant: as stored in the result, else as its installed operator declares it."""
    return row.effect or _declared_effect(row.operator)


@lru_cache(maxsize=1_024)
def _declared_effect(operator: str) -> Effect | None:
    """Return the effect that an installed operator declares: results from before 0.2 store none."""
    try:
        found = load(Group.OPERATORS, operator)
    except PluginError:
        return None
    return found.effect if issubclass(found, HasEffect) else None
