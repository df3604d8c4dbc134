"""What a class says of itself as an operator: whether the core can rely on it."""

from collections.abc import Iterator
from typing import Any

from agentmut.nouns import Intent, OperatorClass, Reach

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
    version = getattr(operator, "version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        yield f"its version is {version!r}; expected a whole number from 1 on"


def _members(kind: type[Any], members: tuple[Any, ...]) -> str:
    return f"one of {', '.join(f'{kind.__name__}.{member.name}' for member in members)}"
