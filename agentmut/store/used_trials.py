"""Which rows of trials a run used, as queries."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, CompoundSelect, Select, Subquery, func, select, union, union_all

from agentmut.store.quarantine import sound
from agentmut.store.schema import reused, trials

T = TypeVar("T")

PAGE = 100
"""Rows that are read or written together."""


def trials_used(
    run: str, mutant: str, most: int | None = None, besides: Collection[str] = (), *columns: str
) -> Select[Any]:
    """Select the trials of a mutant that a run used, by scenario and repeat; all columns, or those that are named.

    With `most`, only so many of each scenario: the last that were stored. Trials of the scenarios `besides` are left
    out.
    """
    others = [trials.c.scenario.not_in(besides)] if besides else []
    used = used_by(run, trials.c.mutant == mutant, *others)
    query = select(*(used.c[name] for name in columns)) if columns else select(used)
    query = query.order_by(used.c.scenario, used.c.repeat, used.c.id)
    if most is None:
        return query
    age = func.row_number().over(partition_by=used.c.scenario, order_by=used.c.id.desc())
    aged = select(used.c.id, age.label("age")).subquery()
    return query.join(aged, aged.c.id == used.c.id).where(aged.c.age <= most)


def in_batches(rows: Iterable[T]) -> Iterator[Sequence[T]]:
    """Yield rows by the hundred: a transaction with all of them would keep others waiting."""
    left = iter(rows)
    while some := list(islice(left, PAGE)):
        yield some


def used_by(run: str, *which: ColumnElement[bool]) -> Subquery:
    """Select the sound trials that a run executed or took over, as far as `which` says.

    Each half uses an index; a server would read the whole table for one condition that joins both.
    """
    executed = select(trials).where(trials.c.run == run, sound(), *which)
    others = select(trials).join(reused, reused.c.trial == trials.c.id).where(reused.c.run == run)
    return union_all(executed, others.where(trials.c.run != run, sound(), *which)).subquery()


def used_in(keep: Sequence[str]) -> CompoundSelect[Any]:
    """Select the trials that these runs executed or took over."""
    taken_over = select(reused.c.trial).where(reused.c.run.in_(keep))
    return union(taken_over, select(trials.c.id).where(trials.c.run.in_(keep)))
