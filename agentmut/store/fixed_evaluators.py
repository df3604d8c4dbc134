"""When the evaluators of a scenario were fixed: before which trials, by the store's order instead of a clock."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, case, select

from agentmut.store.connections import AT_ONCE, Connections
from agentmut.store.rows import SERIES
from agentmut.store.schema import fixed, proposed, trials


class FixedSet(NamedTuple):
    """A set of evaluators on a scenario, and the repeats of trials that it may judge."""

    scenario: str
    """Digest of what shapes a trial of the scenario."""
    evaluators: str
    """Digest of the set, whatever the order in which it is written."""
    parts: tuple[str, ...]
    """Digest of each evaluator, sorted."""
    name: str
    """The scenario's name when the set was seen first."""
    originals: int
    """The repeat with which trials of the original begin that were run after the set was fixed."""
    mutants: int
    """The first repeat that counts for mutants: earlier trials count where agentmut proposed what is new in the set."""
    id: int = 0
    """The greater, the later it was seen first; 0 before it is stored."""


class FixedSets:
    """The sets of one store, and the evaluators that agentmut has proposed."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def sets_on(self, scenario: str) -> tuple[FixedSet, ...]:
        """Return the sets seen on the scenario with this digest, the oldest first."""
        query = select(fixed).where(fixed.c.scenario == scenario).order_by(fixed.c.id)
        return tuple(self._connections.read(partial(_sets, query)))

    def of_all(self, scenarios: Iterable[str]) -> dict[str, tuple[FixedSet, ...]]:
        """Return the sets seen on each scenario, by its digest, the oldest first: one question for hundreds of them."""
        found: dict[str, list[FixedSet]] = {scenario: [] for scenario in scenarios}
        for some in _batched(found, AT_ONCE):
            query = select(fixed).where(fixed.c.scenario.in_(some)).order_by(fixed.c.id)
            for one in self._connections.read(partial(_sets, query)):
                found[one.scenario].append(one)
        return {scenario: tuple(sets) for scenario, sets in found.items()}

    def note(self, found: FixedSet) -> None:
        """Store a set when it is first seen. A known set stays unchanged."""
        keep = self._connections.upsert(fixed).on_conflict_do_nothing()
        self._connections.write(lambda connection: connection.execute(keep, _row(found)))

    def propose(self, scenario: str, evaluators: Iterable[str], run: str) -> None:
        """Keep that evaluators (by digest) were proposed for a scenario (by digest) from the trials of a run."""
        self._keep_proposed(
            [{"scenario": scenario, "evaluator": digest, "run": run} for digest in evaluators]
        )

    def proposals(self, scenario: str) -> frozenset[str]:
        """Return the digests of the evaluators that were proposed for the scenario with this digest."""
        query = select(proposed.c.evaluator).where(proposed.c.scenario == scenario)
        return self._connections.read(lambda connection: frozenset(connection.execute(query).scalars()))

    def adopt(self, other: "FixedSets") -> None:
        """Add another store's knowledge. Of a set in both, the greater repeats count, since they are younger."""
        sets, known = other._connections.read(_everything)
        new = self._connections.upsert(fixed)
        later = {name: _greater(new.excluded[name], fixed.c[name]) for name in ("originals", "mutants")}
        keep = new.on_conflict_do_update(index_elements=["scenario", "evaluators"], set_=later)

        def taken_in(connection: Connection) -> None:
            for found in sets:
                connection.execute(keep, _row(found))

        self._connections.write(taken_in)
        self._keep_proposed(known)

    def _keep_proposed(self, rows: list[dict[str, Any]]) -> None:
        keep = self._connections.upsert(proposed).on_conflict_do_nothing()
        if rows:
            self._connections.write(lambda connection: connection.execute(keep, rows))

    def has_trials(self, names: Iterable[str]) -> bool:
        """Return whether a trial is stored on a scenario with one of these names."""
        query = select(trials.c.id).where(trials.c.scenario.in_(list(names))).limit(1)
        return self._connections.read(lambda connection: connection.execute(query).first() is not None)

    def oldest_run(self, name: str, first: int, *, mutants: bool) -> str:
        """Return the run of the oldest trial in a series of repeats on a scenario; empty without trials."""
        own = trials.c.mutant != "" if mutants else trials.c.mutant == ""
        series = trials.c.repeat.between(first, first + SERIES - 1)
        query = (
            select(trials.c.run).where(trials.c.scenario == name, own, series).order_by(trials.c.id).limit(1)
        )
        return self._connections.read(lambda connection: connection.execute(query).scalar() or "")


def _batched(digests: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yield at most so many digests at a time: a database takes no question of any length."""
    left = iter(digests)
    while some := list(islice(left, most)):
        yield some


def _sets(query: Select[Any], connection: Connection) -> list[FixedSet]:
    return [_set(row) for row in connection.execute(query)]


def _everything(connection: Connection) -> tuple[list[FixedSet], list[dict[str, Any]]]:
    sets = _sets(select(fixed).order_by(fixed.c.id), connection)
    return sets, [row._asdict() for row in connection.execute(select(proposed))]


def _greater(new: Any, old: Any) -> Any:
    return case((new > old, new), else_=old)


def _row(found: FixedSet) -> dict[str, Any]:
    row = {name: value for name, value in found._asdict().items() if name != "id"}
    return {**row, "parts": json.dumps(found.parts)}


def _set(row: Row[Any]) -> FixedSet:
    values = row._asdict()
    return FixedSet(**{**values, "parts": tuple(json.loads(values["parts"]))})
