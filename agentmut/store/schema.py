"""Tables of the store, in SQLite and in PostgreSQL. A change of them is a further revision; see `migrating.py`."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

metadata = MetaData()


def _name(length: int | None = None) -> TypeEngine[Any]:
    """Return the type of a short text. It is ordered by its bytes everywhere, whatever the server's language is."""
    if length is None:
        return Text().with_variant(Text(collation="C"), "postgresql")
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def _number() -> TypeEngine[Any]:
    """Return the type of a number with 64 bits, as SQLite has anyway."""
    return BigInteger().with_variant(Integer, "sqlite")


trials = Table(
    "trials",
    metadata,
    Column("id", _number(), primary_key=True),
    Column("key", _name(64), nullable=False),
    Column("run", _name(64), nullable=False),
    Column("mutant", _name(64), nullable=False),
    Column("scenario", _name(), nullable=False),
    Column("repeat", _number(), nullable=False),
    Column("ending", _name(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("trace", LargeBinary, nullable=False),
    Column("footprint", _name(64), ForeignKey("footprints.digest"), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("abandoned", Boolean, nullable=False),
    Column("tokens", _number(), nullable=False),
    Column("usd", Float),
    Column("finished", Float, nullable=False),
    Index("trials_by_key", "key"),
    Index("trials_by_mutant", "run", "mutant"),
)
"""One row for every execution, under the run that executed it. Rows are never overwritten: a run that
executes the same trial again (`--fresh`, or after trouble) adds a row with the same key."""

footprints = Table(
    "footprints",
    metadata,
    Column("digest", _name(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", _name(64), primary_key=True),
    Column("started", Float, nullable=False),
    Column("plan", Text, nullable=False),
    Column("status", _name(32), nullable=False),
    Column("seconds", Float, nullable=False, server_default="0"),
)

judged = Table(
    "judged",
    metadata,
    Column("run", _name(64), ForeignKey("runs.id"), primary_key=True),
    Column("usd", Float, nullable=False),
)
"""What model judges cost each run so far."""

hooks = Table(
    "hooks",
    metadata,
    Column("run", _name(64), ForeignKey("runs.id"), primary_key=True),
    Column("model", _name(), primary_key=True),
    Column("requests", _number(), nullable=False),
    Column("input_tokens", _number(), nullable=False),
    Column("output_tokens", _number(), nullable=False),
    Column("usd", Float),
)
"""What the setup and teardown of scenarios asked of each model in a run so far; without `usd` no price is known."""

reports = Table(
    "reports",
    metadata,
    Column("run", _name(64), ForeignKey("runs.id"), primary_key=True),
    Column("name", _name(32), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
"""What each run has reported: `content` is the JSON of the document `name` in its folder, compressed."""

reused = Table(
    "reused",
    metadata,
    Column("run", _name(64), ForeignKey("runs.id"), primary_key=True),
    Column("trial", _number(), ForeignKey("trials.id"), primary_key=True),
)
"""Which trials a run took over from others."""

quarantined = Table(
    "quarantined",
    metadata,
    Column("trial", _number(), ForeignKey("trials.id"), primary_key=True),
    Column("reason", Text, nullable=False),
)
"""Trials that an outage has spoiled, and why they are taken for that."""

fixed = Table(
    "fixed",
    metadata,
    Column("id", _number(), primary_key=True),
    Column("scenario", _name(64), nullable=False),
    Column("evaluators", _name(64), nullable=False),
    Column("parts", Text, nullable=False),
    Column("name", _name(), nullable=False),
    Column("originals", _number(), nullable=False),
    Column("mutants", _number(), nullable=False),
    UniqueConstraint("scenario", "evaluators"),
)
"""Sets of evaluators on scenarios, in the order in which verbs saw them first. See `FixedSet`."""

proposed = Table(
    "proposed",
    metadata,
    Column("scenario", _name(64), primary_key=True),
    Column("evaluator", _name(64), primary_key=True),
    Column("run", _name(64), nullable=False),
)
"""Evaluators that agentmut has proposed for a scenario, with the run that they were found in."""

imported = Table(
    "imported",
    metadata,
    Column("id", _number(), primary_key=True),
    Column("digest", _name(64), nullable=False, unique=True),
    Column("scenario", _name(), nullable=False),
    Column("version", _name(), nullable=False),
    Column("outcome", _name(16), nullable=False),
    Column("started", Float),
    Column("imported", Float, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("imported_by_scenario", "scenario"),
    Index("imported_by_time", "started"),
)
"""Runs that other tools recorded: `content` is an `ImportedTrial` as JSON, compressed. No run of agentmut is here, and
no decision on a mutant reads this table."""

claims = Table(
    "claims", metadata, Column("key", _name(64), primary_key=True), Column("run", _name(64), nullable=False)
)
"""Trials that runs on a server are executing; see `claims.py`."""

alembic_version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))
"""The revision of these tables, as Alembic keeps it."""
