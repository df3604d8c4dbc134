"""`operator`: makes a plugin of a function that finds a config's mutants."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentmut.nouns import AgentConfig, Candidate, Effect, Intent, OperatorClass, Reach
from agentmut.seams.capability import Capability
from agentmut.seams.declarations import CLASSES
from agentmut.seams.protocols.operator import (
    Example,
    HasEffect,
    NamesLack,
    NeedsEnglish,
    OnDemand,
    Operator,
    OperatorOptions,
)

Finder = Callable[[AgentConfig, OperatorOptions], Iterable[Candidate]]


def operator(
    operator_id: str,
    *,
    why: str,
    examples: Iterable[Example],
    intent: Intent = Intent.DEGRADE,
    reach: Reach = Reach.SENT,
    version: int = 1,
    lack: str = "",
    effect: Effect | None = None,
    on_demand: bool = False,
    english: bool = False,
) -> Callable[[Finder], type[Operator]]:
    """Turn a pure function (config, options) -> candidates into an operator, ready to be registered.

    `operator_id` is `class.name`, and `why` one line on how this happens in practice. Each example's first
    mutant must turn its config into `first`; `agentmut.testing.check_operator` checks that and more. `lack`
    is why a config has no mutants of it, where that can be said. `effect` is what the mutants do, where reports
    have a section for it: an operator that drops a rule of the prompt declares `Effect.DROPS_RULE`. `on_demand`
    operators are used only where they are asked for. `english` operators leave instructions in other languages
    alone. Raises `ValueError` when the id has no known class, or one whose mutants only agentmut makes.
    """
    shown = tuple(examples)
    attributes: dict[str, Any] = {
        "id": operator_id,
        "version": version,
        "operator_class": _class_of(operator_id),
        "intent": intent,
        "reach": reach,
        "why": why,
        "lack": lack,
        "examples": lambda self: shown,
    }
    declared: dict[type[Capability], bool] = {
        NamesLack: True,
        HasEffect: effect is not None,
        OnDemand: on_demand,
        NeedsEnglish: english,
    }
    capabilities = tuple(capability for capability, is_declared in declared.items() if is_declared)
    if effect is not None:
        attributes["effect"] = effect
    return lambda find: _operator_class(find, capabilities, attributes)


def _operator_class(
    find: Finder, capabilities: tuple[type[Capability], ...], attributes: dict[str, Any]
) -> type[Operator]:
    """Return an operator whose mutants the function finds; it has the function's name, module and docstring."""

    def mutants(self: Operator, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Yield every mutant of the config, in a stable order."""
        yield from find(config, options)

    origin = {"mutants": mutants, "__module__": find.__module__, "__doc__": find.__doc__}
    made: type[Any] = type(find.__name__, capabilities, attributes | origin)
    return made


def _class_of(operator_id: str) -> OperatorClass:
    name, _, rest = operator_id.partition(".")
    found = next((kind for kind in CLASSES if kind.value == name), None)
    if found is None or not rest:
        raise ValueError(
            f"{operator_id!r} is no id of an operator: it is class.name, and the class is one of "
            f"{', '.join(CLASSES)}. Classes of your own are not possible: take that of the part which is changed"
        )
    return found
