"""Tables of the store. Raise `VERSION` when they change."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

VERSION = 1
metadata = MetaData()

trials = Table(
    "trials",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("mutant", String(64), nullable=False),
    Column("scenario", Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("ending", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("trace", LargeBinary, nullable=False),
    Column("footprint", String(64), ForeignKey("footprints.digest"), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("abandoned", Boolean, nullable=False),
    Column("finished", Float, nullable=False),
)

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
)

run_trials = Table(
    "run_trials",
    metadata,
    Column("run", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("key", String(64), ForeignKey("trials.key"), primary_key=True),
    Column("reused", Boolean, nullable=False),
)
