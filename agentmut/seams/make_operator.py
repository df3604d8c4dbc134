"""`operator`: makes a plugin of a function that finds a config's mutants."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from agentmut.nouns import AgentConfig, Candidate, Effect, Intent, OperatorClass, Reach
from agentmut.seams.declarations import CLASSES
from agentmut.seams.protocols.operator import (
    Example,
    HasEffect,
    NamesLack,
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
) -> Callable[[Finder], type[Operator]]:
    """Turn a pure function (config, options) -> candidates into an operator, ready to be registered.

    `operator_id` is `class.name`, and `why` one line on how this happens in practice. Each example's first
    mutant must turn its config into `first`; `agentmut.testing.check_operator` checks that and more. `lack`
    is why a config has no mutants of it, where that can be said. `effect` is what the mutants do, where reports
    have a section for it: an operator that drops a rule of the prompt declares `Effect.DROPS_RULE`. `on_demand`
    operators are used only where they are asked for. Raises `ValueError` when the id has no known class, or one
    whose mutants only agentmut makes.
    """
    kind = _class_of(operator_id)
    without, reason, number, shown, aim, seen_by = lack, why, version, tuple(examples), intent, reach
    declared = effect

    def define(find: Finder) -> type[Operator]:
        class Defined(NamesLack):
            id: ClassVar[str] = operator_id
            version: ClassVar[int] = number
            operator_class: ClassVar[OperatorClass] = kind
            intent: ClassVar[Intent] = aim
            reach: ClassVar[Reach] = seen_by
            why: ClassVar[str] = reason
            lack: ClassVar[str] = without

            def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
                """Yield every mutant of the config, in a stable order."""
                yield from find(config, options)

            def examples(self) -> Iterable[Example]:
                """Return the examples that the operator was defined with."""
                return shown

        made: type[Any] = Defined
        if declared is not None:
            what_it_does = declared

            class WithEffect(Defined, HasEffect):
                effect: ClassVar[Effect] = what_it_does

            made = WithEffect
        if on_demand:
            made = type(made.__name__, (made, OnDemand), {})
        made.__name__ = made.__qualname__ = find.__name__
        made.__module__, made.__doc__ = find.__module__, find.__doc__
        return made

    return define


def _class_of(operator_id: str) -> OperatorClass:
    name, _, rest = operator_id.partition(".")
    found = next((kind for kind in CLASSES if kind.value == name), None)
    if found is None or not rest:
        raise ValueError(
            f"{operator_id!r} is no id of an operator: it is class.name, and the class is one of "
            f"{', '.join(CLASSES)}. Classes of your own are not possible: take that of the part which is changed"
        )
    return found
