"""The names of operators and their classes, and checks of what an operator declares."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
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
    """Yield the faults of an operator's class, id, intent, reach and version, one phrase each."""
    yield from kind_faults(operator, "operator_class", CLASSES)
    yield from member_faults(operator, "intent", _INTENTS)
    yield from member_faults(operator, "reach", tuple(Reach))
    if isinstance(operator, type) and issubclass(operator, HasEffect):
        yield from member_faults(operator, "effect", tuple(Effect))
    yield from version_faults(operator)


def kind_faults(plugin: Any, attribute: str, members: Sequence[StrEnum]) -> Iterator[str]:
    """Yield the faults of a plugin's class or family, or else of the id that begins with it."""
    kind, name = getattr(plugin, attribute, None), str(getattr(plugin, "id", ""))
    if wrong := list(member_faults(plugin, attribute, members)):
        yield from wrong
    elif not name.startswith(f"{kind}.") or name.count(".") != 1 or name.endswith("."):
        yield f"its id is {name!r}; expected {kind}.name, after its {attribute.removeprefix('operator_')}"


def member_faults(plugin: Any, attribute: str, members: Sequence[StrEnum]) -> Iterator[str]:
    """Yield the fault of an attribute that is not a member of its enumeration."""
    kind, found = type(members[0]), getattr(plugin, attribute, None)
    if not isinstance(found, kind) or found not in members:
        expected = ", ".join(f"{kind.__name__}.{member.name}" for member in members)
        yield f"its {attribute} is {found!r}; expected one of {expected}"


def version_faults(plugin: Any) -> Iterator[str]:
    """Yield a version that is no whole number from 1 on."""
    version = getattr(plugin, "version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        yield f"its version is {version!r}; expected a whole number from 1 on"


def effect_of(row: MutantRow) -> Effect | None:
    """Return the effect of a mutant: as stored in the result, else as its installed operator declares."""
    return row.effect or _declared_effect(row.operator)


@lru_cache(maxsize=1_024)
def _declared_effect(operator: str) -> Effect | None:
    """Return the effect that an installed operator declares: results from before 0.2 store none."""
    try:
        found = load(Group.OPERATORS, operator)
    except PluginError:
        return None
    return found.effect if issubclass(found, HasEffect) else None


def class_of(operator: str) -> str:
    """Return the class that an operator's name begins with.

    >>> class_of("prompt.negate")
    'prompt'
    """
    return operator.partition(".")[0]


def is_named(operator: str, pattern: str) -> bool:
    """Return whether a pattern names an operator: its name, its class, or a glob.

    >>> [is_named("prompt.negate", p) for p in ("prompt.negate", "prompt", "prompt.n*", "tool")]
    [True, True, True, False]
    """
    return pattern == class_of(operator) or fnmatchcase(operator, pattern)


def unknown_name(patterns: Iterable[str], known: Iterable[str]) -> str | None:
    """Return the first pattern that matches no known operator; None if all match."""
    operators = tuple(known)
    return next((p for p in patterns if not any(is_named(o, p) for o in operators)), None)
