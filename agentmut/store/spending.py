"""What stored trials cost: sums over the rows of runs."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, LargeBinary, and_, case, cast, func, select

from agentmut.nouns import Ending, HookUse
from agentmut.store.rows import LATER, SERIES, Spent
from agentmut.store.schema import hooks, judged, reused, runs, trials


def spent_in(connection: Connection, which: ColumnElement[bool], at_work: Sequence[str]) -> Spent:
    """Return what the trials that `which` selects cost together, and what the runs at work took."""
    query = select(
        func.count(),
        func.count().filter(and_(trials.c.mutant == "", trials.c.repeat % SERIES < LATER)),
        func.coalesce(func.sum(trials.c.tokens), 0),
        func.coalesce(func.sum(trials.c.usd), 0.0),
        func.count() - func.count(trials.c.usd),
        func.count().filter(trials.c.abandoned),
        func.count().filter(trials.c.ending == Ending.CUT.value),
        func.coalesce(func.sum(case((trials.c.ending == Ending.CUT.value, trials.c.usd))), 0.0),
    ).where(which)
    *counted, over, over_usd = connection.execute(query).one()
    counted[2] = int(counted[2])  # a server sums up in decimals
    seconds = connection.execute(select(func.sum(runs.c.seconds)).where(runs.c.id.in_(at_work))).scalar()
    judges = connection.execute(select(func.sum(judged.c.usd)).where(judged.c.run.in_(at_work))).scalar()
    sizes = select(
        func.coalesce(func.sum(func.length(trials.c.trace)), 0), func.count().filter(_is_cut(connection))
    )
    kept, cut = connection.execute(sizes.where(which)).one()
    return Spent._make(
        [
            *counted,
            seconds or 0.0,
            judges or 0.0,
            int(kept),
            cut,
            _hooks_in(connection, at_work),
            over,
            over_usd,
        ]
    )


def _hooks_in(connection: Connection, at_work: Sequence[str]) -> tuple[HookUse, ...]:
    """Return what hooks asked of each model in these runs; no sum of money if one run knows no price."""
    priced = case((func.count() == func.count(hooks.c.usd), func.sum(hooks.c.usd)))
    sums = (func.sum(hooks.c.requests), func.sum(hooks.c.input_tokens), func.sum(hooks.c.output_tokens))
    query = select(hooks.c.model, *sums, priced).where(hooks.c.run.in_(at_work))
    rows = connection.execute(query.group_by(hooks.c.model).order_by(hooks.c.model)).all()
    return tuple(
        HookUse(model=model, requests=int(asked), input_tokens=int(read), output_tokens=int(written), usd=usd)
        for model, asked, read, written, usd in rows
    )


def _is_cut(connection: Connection) -> ColumnElement[bool]:
    """Return the condition that not all of a trial's texts is kept."""
    sign = cast(b'"texts_cut":', LargeBinary)
    if connection.dialect.name == "postgresql":
        return func.position(sign.op("IN")(trials.c.trace)) > 0
    return func.instr(trials.c.trace, sign) > 0


def mean_cost_in(connection: Connection) -> float | None:
    """Return US dollars of a trial of the original, on average over those with a price; None if there is none."""
    found = connection.execute(select(func.avg(trials.c.usd)).where(trials.c.mutant == "")).scalar()
    return None if found is None else float(found)


def counts_in(connection: Connection, run: str) -> tuple[int, int]:
    """Return how many trials a run has executed, and how many it took over from other runs."""
    executed, taken_over = (
        connection.execute(select(func.count()).select_from(table).where(table.c.run == run)).scalar_one()
        for table in (trials, reused)
    )
    return executed, taken_over
