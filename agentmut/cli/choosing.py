"""The choice of mutants and scenarios: one list of options for all verbs, and what the options select."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from agentmut._base import UsageError, nearest
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

if TYPE_CHECKING:
    from agentmut.campaign import Selection, Session
    from agentmut.mutation import Changes


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
        """Return the scenarios by name; none means all."""
        return tuple(self.scenarios or ())


def choosing(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with the options of `Choice` in place of its parameter `choice`.

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


def selection_of(choice: Choice) -> "Selection":
    """Return the filters of mutants, without what `--in-diff` leaves. Raises `UsageError`."""
    from agentmut.campaign import Selection, checked_share
    from agentmut.mutation import parse_pair
    from agentmut.nouns import Intent

    _refuse_empty(
        {
            "--class": choice.classes,
            "--operator": choice.operators,
            "--mutant": choice.mutants,
            "--target": choice.targets,
            "--pair": choice.pair,
        }
    )
    known = [intent.value for intent in Intent if intent is not Intent.CONTROL]
    for intent in choice.intents or ():
        if intent not in known:
            raise UsageError(f"--intent {intent}: there is no such intent. {nearest(intent, known)}")
    return Selection(
        classes=tuple(choice.classes or ()),
        operators_named=tuple(choice.operators or ()),
        intents=tuple(map(Intent, choice.intents or ())),
        mutants=tuple(choice.mutants or ()),
        targets=tuple(choice.targets or ()),
        sample=choice.sample,
        pairs=tuple(map(parse_pair, choice.pair or ())),
        second_order=choice.second_order,
        selective=checked_share(choice.selective),
    )


def _refuse_empty(options: "Mapping[str, Sequence[str] | None]") -> None:
    """Refuse an empty value (an unset shell variable), which would be the beginning of every id."""
    for option, values in options.items():
        if any(not value.strip() for value in values or ()):
            raise UsageError(f"{option}: the value is empty. Give one, or leave the option out.")


def with_changes(
    selection: "Selection", reference: str | None, find: "Callable[[str], Changes]"
) -> "Selection":
    """Return the selection, narrowed to the changes since a git revision if one is given, and print the changes."""
    if reference is None:
        return selection
    changes = find(reference)
    _say_changes(changes)
    return selection.model_copy(update={"changes": changes})


def with_session_changes(
    selection: "Selection", session: "Session", reference: str | None, agent: str | None
) -> "Selection":
    """Return what `with_changes` returns, for the agent of a session. Raises `UsageError`."""
    return with_changes(selection, reference, lambda since: _session_changes(session, since, agent))


def _session_changes(session: "Session", reference: str, agent: str | None) -> "Changes":
    from agentmut.campaign import AgentFiles, changes_since

    scenarios = tuple(scenario.name for scenario in session.scenarios)
    whole = len(scenarios) == len(session.project.scenarios)
    described = AgentFiles(session.project.path, agent=agent, scenarios=() if whole else scenarios)
    return changes_since(reference, described, session.suite.full)


def _say_changes(changes: "Changes") -> None:
    """Print on stderr what `--in-diff` found."""
    if changes.note:
        typer.echo(f"agentmut: {changes.note}.", err=True)
    if changes.any:
        typer.echo(f"agentmut: changed since {changes.since}: {', '.join(changes.parts)}.", err=True)


def no_mutants_in(changes: "Changes") -> str:
    """Return why `--in-diff` leaves no mutant. It is no error: most changes of a repository are not the agent's."""
    if not changes.any:
        return f"Nothing of the agent changed since {changes.since}."
    return f"No mutant touches what changed since {changes.since} ({', '.join(changes.parts)})."


def print_nothing_to_do(changes: "Changes", *, as_json: bool) -> None:
    """Print that no mutant was tried. No campaign took place, so the JSON document is no `Result`."""
    from agentmut.cli.output import print_json

    if as_json:
        print_json(_nothing_to_do(changes))
    else:
        typer.echo(no_mutants_in(changes))


def _nothing_to_do(changes: "Changes") -> dict[str, Any]:
    return {
        "schema_version": 1,
        "status": "nothing_to_do",
        "problem": no_mutants_in(changes),
        "in_diff": changes.summary(),
        "mutants": [],
    }


def refuse_together(**given: object) -> None:
    """Raise `UsageError` where more than one of the options, by name, is given."""
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be given together; choose one.")
