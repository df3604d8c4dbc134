"""Plugins of all kinds, found through entry points.

Built-ins are registered in this distribution's own metadata and go exactly the way of third parties.
Nothing is imported before it is asked for.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.metadata import EntryPoint, distributions, entry_points
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from agentmut._base import (
    PluginError,
    UsageError,
    import_object,
    in_plugin,
    nearest,
    nobody_asked_to_stop,
    one_line,
)
from agentmut.seams.signatures import signature_faults

_Plugin = TypeVar("_Plugin")


class Group(StrEnum):
    """The kinds of plugins; the entry-point group is `agentmut.` and the value."""

    ADAPTERS = "adapters"
    CODECS = "codecs"
    OPERATORS = "operators"
    RELATIONS = "relations"
    EVALUATORS = "evaluators"
    IMPORTERS = "importers"
    CONFIG_READERS = "config_readers"
    REPORT_FORMATS = "report_formats"
    TRACE_FORMATS = "trace_formats"

    @property
    def noun(self) -> str:
        """Return the word for one plugin of the group."""
        return self.value.removesuffix("s").replace("_", " ")


@dataclass(frozen=True)
class Catalogue:
    """The plugins of one group that are installed at the time of asking."""

    group: Group
    entries: Mapping[str, tuple[EntryPoint, ...]]

    @classmethod
    def from_group(cls, group: Group | str) -> "Catalogue":
        """Read the metadata of every installed distribution. Imports no plugin."""
        group = Group(group)
        return cls(group, _by_name(_installed(_search_path())[group]))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the registered names, sorted."""
        return tuple(sorted(self.entries))

    def load(self, name: str) -> type[Any]:
        """Import one plugin and check it against its protocol. Raises `PluginError`."""
        entry = self._only_entry(name)
        plugin = _import(entry, self.group)
        if faults := signature_faults(plugin, self.group, name):
            label = _label(entry, self.group)
            raise PluginError(f"{label}: {'; '.join(faults)}. Fix {entry.value} or uninstall it.")
        return plugin

    def load_all(self) -> dict[str, type[Any]]:
        """Return every plugin of the group by name, in the order of the names."""
        return {name: self.load(name) for name in self.names}

    def _only_entry(self, name: str) -> EntryPoint:
        found = self.entries.get(name, ())
        if not found:
            raise PluginError(f"unknown {self.group.noun} {name!r}. {nearest(name, self.names)}")
        if len(found) > 1:
            owners = " and ".join(sorted(_distribution(entry) for entry in found))
            raise PluginError(
                f"{self.group.noun} {name!r} is registered by {owners}; uninstall all but one of them."
            )
        return found[0]


class ProjectCatalogue(ABC, Generic[_Plugin]):
    """Plugins of one group by id. An installed plugin is imported on first use, a project's own at once."""

    group: ClassVar[Group]

    def __init__(self, own: Mapping[str, type[_Plugin]], installed: Catalogue | None = None) -> None:
        self._installed = installed or Catalogue.from_group(self.group)
        self._own = own

    @abstractmethod
    def faults(self, kind: Any) -> Iterator[str]:
        """Return the faults of what a plugin declares, one phrase each."""

    @classmethod
    def from_references(cls, references: Sequence[str], root: Path) -> Self:
        """Return the catalogue with the plugins that `module:object` references name, found from `root`.

        Raises `UsageError` for what cannot be imported, is no such plugin, or has the id of another one.
        """
        catalogue = cls({})
        for reference in references:
            found = catalogue._imported(reference, root)
            if found.id in catalogue.names:
                raise UsageError(
                    f"{reference} has the id {found.id!r}, which another {cls.group.noun} has. Give it one of its own"
                )
            catalogue = cls({**catalogue._own, found.id: found}, catalogue._installed)
        return catalogue

    def _imported(self, reference: str, root: Path) -> Any:
        found, noun = import_object(reference, root), self.group.noun
        faults = signature_faults(found, self.group, getattr(found, "id", "")) or tuple(self.faults(found))
        if faults:
            raise UsageError(
                f"{reference} is no {noun}: {'; '.join(faults)}. "
                f"`agentmut.seams.make_{noun}.{noun}` makes one of a function"
            )
        return found

    @property
    def own(self) -> tuple[str, ...]:
        """Return the ids of the project's own plugins, sorted."""
        return tuple(sorted(self._own))

    @property
    def names(self) -> tuple[str, ...]:
        """Return all ids, sorted."""
        return tuple(sorted({*self._installed.names, *self._own}))

    def kind(self, name: str) -> type[_Plugin]:
        """Return the class of an id. Raise `PluginError` if it is unknown or unsound."""
        noun = self.group.noun
        if name not in self.names:
            raise PluginError(f"unknown {noun} {name!r}. {nearest(name, self.names)}")
        kind: type[_Plugin] = self._own[name] if name in self._own else self._installed.load(name)
        if faults := list(self.faults(kind)):  # a project's own one has been looked at before
            raise PluginError(f"{noun} {name!r}: {'; '.join(faults)}. Correct {kind.__module__}")
        return kind


def names(group: Group | str) -> tuple[str, ...]:
    """Return the registered names of a group, sorted. Imports no plugin."""
    return Catalogue.from_group(group).names


def load(group: Group | str, name: str) -> type[Any]:
    """Return the plugin class registered as `name`, checked against its protocol.

    Raises `PluginError` when it is unknown, registered twice, cannot be imported, or does not have the
    signature of its seam.
    """
    return Catalogue.from_group(group).load(name)


def load_all(group: Group | str) -> dict[str, type[Any]]:
    """Return every plugin of a group by name, in the order of the names; raises like `load`."""
    return Catalogue.from_group(group).load_all()


def _search_path() -> tuple[tuple[str, int], ...]:
    """Return the places of distributions, and when each place last changed."""
    places = ((place, _changed(place)) for place in sys.path)
    return tuple(place for place in places if _holds_any(*place))


def _changed(place: str) -> int:
    try:
        return Path(place).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=256)
def _holds_any(place: str, changed: int) -> bool:
    """Return whether a folder holds distributions. A project's folder has none, so adding it rereads nothing."""
    return next(iter(distributions(path=[place])), None) is not None


@lru_cache(maxsize=4)
def _installed(search_path: tuple[tuple[str, int], ...]) -> Mapping[Group, tuple[EntryPoint, ...]]:
    """Return the entry points of all groups. Reading the metadata of some hundred distributions takes a third of a
    second.

    What is installed later changes the search path, and so is seen.
    """
    found = entry_points()
    return {group: tuple(found.select(group=f"agentmut.{group}")) for group in Group}


def _label(entry: EntryPoint, group: Group) -> str:
    return f"{group.noun} {entry.name!r} ({_distribution(entry)})"


def _by_name(found: Iterable[EntryPoint]) -> dict[str, tuple[EntryPoint, ...]]:
    grouped: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in found:
        grouped[entry.name] = (*grouped.get(entry.name, ()), entry)
    return grouped


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown distribution"


def _import(entry: EntryPoint, group: Group) -> type[Any]:
    label = _label(entry, group)
    try:
        with in_plugin(f"{label}, which was being imported"):
            plugin: type[Any] = entry.load()
    except BaseException as error:  # a plugin's module may raise anything at all, SystemExit too
        if isinstance(error, KeyboardInterrupt) and not nobody_asked_to_stop():
            raise
        raise PluginError(
            f"{label} cannot be loaded from {entry.value}: {one_line(error)}. "
            f"{_remedy_for(_distribution(entry), error)}"
        ) from error
    return plugin


def _remedy_for(distribution: str, error: BaseException) -> str:
    """Return what to do about a plugin that cannot be loaded.

    >>> _remedy_for("agentmut", ModuleNotFoundError(name="agentmut.relations.old"))
    'The installed list of plugins is older than the code. Install agentmut again: pip install -e /path/to/agentmut'
    """
    lacks_own = isinstance(error, ImportError) and str(error.name).partition(".")[0] == "agentmut"
    if distribution == "agentmut" and (lacks_own or isinstance(error, AttributeError)):
        again = "Install agentmut again: pip install -e /path/to/agentmut"
        return f"The installed list of plugins is older than the code. {again}"
    return f"Install what it needs, or uninstall {distribution}."
