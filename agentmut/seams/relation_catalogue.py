"""The relations that a project can use (installed ones and its own), and the relations that it chooses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from agentmut._base import PluginError, UsageError, canonical_json, in_plugin, nearest, one_line
from agentmut.nouns import Expectation, Family
from agentmut.seams.declarations import is_named, kind_faults, member_faults, version_faults
from agentmut.seams.plugin_code import is_ctrl_c
from agentmut.seams.plugins import Group, ProjectCatalogue
from agentmut.seams.protocols.relation import Relation


class ChosenRelation(NamedTuple):
    """A relation with its argument, ready to be used."""

    name: str
    argument: JsonValue
    relation: Relation
    seconds: float | None = None
    """The most seconds that a call of a relation may take that is not agentmut's own; None for no limit."""

    @property
    def label(self) -> str:
        """Return the relation's name in reports, with its argument if any."""
        return self.name if self.argument is None else f"{self.name}: {canonical_json(self.argument)}"


class Choice(NamedTuple):
    """The relations that a project asks for."""

    relations: tuple[ChosenRelation, ...]
    needs_argument: Mapping[str, str]
    """Relations that a pattern named, but that cannot do without an argument, and what they expect."""


class RelationCatalogue(ProjectCatalogue[Relation]):
    """Relations by id. An installed relation is imported on first use, a project's own at once."""

    group = Group.RELATIONS

    def faults(self, kind: Any) -> Iterator[str]:
        """Return what is wrong with what a relation declares."""
        return relation_declaration_faults(kind)

    def build(self, name: str, argument: JsonValue = None) -> Relation:
        """Return the relation of an id with its argument.

        Raises `PluginError` when it is unknown or unsound, `UsageError` when it does not take the argument.
        """
        kind = self.kind(name)
        try:
            with in_plugin(f"relation {name!r}: {kind.__name__}()"):
                return kind(argument)  # type: ignore[call-arg]  # the protocol says nothing of constructors
        except (ValueError, RecursionError) as error:
            raise UsageError(f"relation {name!r}: {_of_argument(error, argument)}") from error
        except BaseException as error:  # a plugin may be anybody's code
            if is_ctrl_c(error):
                raise
            raise PluginError(f"relation {name!r}: {kind.__name__}() raised {one_line(error)}") from error

    def choose(
        self, use: Sequence[str | Mapping[str, JsonValue]] | None, seconds: float | None = None
    ) -> Choice:
        """Return the relations that `relations.use` names: names, families, globs, or a name with its argument.

        Without `use`, all that need no argument. What is named with an argument is not used a second time without
        one because a pattern names it too. A call of each may take `seconds`. Raises like `build`, and
        `UsageError` for a pattern that names nothing.
        """
        chosen: dict[tuple[str, str], ChosenRelation] = {}
        needs: dict[str, str] = {}
        entries = list(use) if use is not None else ["*"]
        given = {next(iter(entry)) for entry in entries if not isinstance(entry, str)}
        for name, argument, is_exact in self._named(entries):
            if not is_exact and name in given:
                continue
            try:
                built = ChosenRelation(name, argument, self.build(name, argument), seconds)
            except PluginError:
                raise
            except UsageError as error:
                if is_exact:
                    raise _with_remedy(error, name, argument) from error
                needs[name] = str(error).removeprefix(f"relation {name!r}: ")
                continue
            chosen.setdefault((name, canonical_json(argument)), built)
        return Choice(tuple(chosen.values()), needs)

    def _named(
        self, entries: Sequence[str | Mapping[str, JsonValue]]
    ) -> Iterator[tuple[str, JsonValue, bool]]:
        """Yield each named relation, its argument, and whether its exact name was given."""
        for entry in entries:
            if isinstance(entry, str):
                found = [name for name in self.names if is_named(name, entry)]
                if not found and entry != "*":
                    raise UsageError(self.unknown(entry))
                yield from ((name, None, name == entry) for name in found)
                continue
            yield from ((name, argument, True) for name, argument in entry.items())

    def unknown(self, entry: str) -> str:
        """Return the error message for an unknown relation name."""
        if ":" in entry:
            return (
                f"unknown relation {entry!r}. A class of your own goes into agentmut.yaml as "
                f"relations: {{own: [{entry!r}]}}; it is then used by its id, as the others are"
            )
        families = {name.partition(".")[0] for name in self.names}
        return f"unknown relation {entry!r}. {nearest(entry, {*self.names, *families})}"


def _of_argument(error: Exception, argument: JsonValue) -> str:
    said = str(error)
    # "got None" says nothing to somebody who gave no argument
    return re.sub(r"[,;]? got None$", "", said) if argument is None else said


def _with_remedy(error: UsageError, name: str, argument: JsonValue) -> UsageError:
    if argument is not None:
        return error
    return UsageError(f"{error}. Give it in agentmut.yaml: relations: {{use: [{{{name}: ...}}]}}")


def relation_declaration_faults(relation: Any) -> Iterator[str]:
    """Yield the faults of a relation's family, id, expectation, version and reason, one phrase each."""
    yield from kind_faults(relation, "family", tuple(Family))
    yield from member_faults(relation, "expectation", tuple(Expectation))
    yield from version_faults(relation)
    why = getattr(relation, "why", "")
    if not isinstance(why, str) or not why.strip() or "\n" in why:
        yield "why must say in one line what a violation means"
