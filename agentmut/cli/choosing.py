"""The options by which verbs choose mutants and scenarios: one list of them for all verbs that do."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from agentmut.cli.options import (
    Classes,
    InDiff,
    Intents,
    Mutants,
    Operators,
    Pair,
    Sample,
    Scenarios,
    SecondOrder,
    Selective,
    Targets,
)


class Choice(NamedTuple):
    """The options that choose mutants, in the order of `--help`."""

    classes: Classes = None
    operators: Operators = None
    intents: Intents = None
    mutants: Mutants = None
    targets: Targets = None
    sample: Sample = None
    in_diff: InDiff = None
    scenarios: Scenarios = None
    pair: Pair = None
    second_order: SecondOrder = None
    selective: Selective = None

    @property
    def named_scenarios(self) -> tuple[str, ...]:
        """The scenarios by name; none means all."""
        return tuple(self.scenarios or ())


def choosing(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with the options of `Choice` in the place of its parameter `choice`.

    Typer reads the options off the signature, and knows no groups of them.
    """
    signature = inspect.signature(verb)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=Choice._field_defaults[name],
            annotation=Choice.__annotations__[name],
        )
        for name in Choice._fields
    ]

    @wraps(verb)
    def called(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in Choice._fields if name in given}
        verb(**given, choice=Choice(**chosen))

    parameters = [
        replaced
        for name, own in signature.parameters.items()
        for replaced in (options if name == "choice" else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)])
    ]
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called
