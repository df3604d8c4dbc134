"""Tables of the store. A change of them is a further step of `migrations.py`."""

from sqlalchemy import (
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

metadata = MetaData()

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("run", String(64), nullable=False),
    Column("mutant", String(64), nullable=False),
    Column("scenario", Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("ending", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("trace", LargeBinary, nullable=False),
    Column("footprint", String(64), ForeignKey("footprints.digest"), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("abandoned", Boolean, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("usd", Float),
    Column("finished", Float, nullable=False),
    Index("trials_by_key", "key"),
    Index("trials_by_run", "run"),
)
"""One row for every execution, under the run that executed it. Rows are never overwritten: a run that
executes the same trial again (`--fresh`, or after trouble) adds a row with the same key."""

footprints = Table(
    "footprints",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("started", Float, nullable=False),
    Column("plan", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("seconds", Float, nullable=False, server_default="0"),
)

judged = Table(
    "judged",
    metadata,
    Column("run", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("usd", Float, nullable=False),
)
"""What model judges cost each run so far."""

reused = Table(
    "reused",
    metadata,
    Column("run", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("trial", Integer, ForeignKey("trials.id"), primary_key=True),
)
"""Which trials a run took over from others."""

quarantined = Table(
    "quarantined",
    metadata,
    Column("trial", Integer, ForeignKey("trials.id"), primary_key=True),
    Column("reason", Text, nullable=False),
)
"""Trials that an outage has spoiled, and why they are taken for that."""

fixed = Table(
    "fixed",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("scenario", String(64), nullable=False),
    Column("evaluators", String(64), nullable=False),
    Column("parts", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("originals", Integer, nullable=False),
    Column("mutants", Integer, nullable=False),
    UniqueConstraint("scenario", "evaluators"),
)
"""Sets of evaluators on scenarios, in the order in which verbs saw them first. See `FixedSet`."""

proposed = Table(
    "proposed",
    metadata,
    Column("scenario", String(64), primary_key=True),
    Column("evaluator", String(64), primary_key=True),
    Column("run", String(64), nullable=False),
)
"""Evaluators that agentmut has proposed for a scenario, with the run that they were found in."""

imported = Table(
    "imported",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scenario", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("started", Float),
    Column("imported", Float, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("imported_by_scenario", "scenario"),
    Index("imported_by_time", "started"),
)
"""Runs that other tools recorded: `content` is an `ImportedTrial` as JSON, compressed. No run of agentmut is here, and
no decision on a mutant reads this table."""
