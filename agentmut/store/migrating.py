"""From stores of earlier formats to the tables of today: by Alembic, one revision a format.

Revision `k` makes format k of format k - 1. A change of the tables appends a file to `revisions`.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, insert, inspect, select

from agentmut.store.schema import alembic_version, metadata

REVISIONS = Path(__file__).parent / "migrations"
VERSION = 8
"""The format that this version writes: the newest revision."""


def stored_version(connection: Connection, schema: str) -> int:
    """Return the format of the tables in a schema of a server; 0 where there are none."""
    if not inspect(connection).has_table(alembic_version.name, schema=schema):
        return 0
    there = alembic_version.to_metadata(MetaData(), schema=schema)
    found = select(there.c.version_num)
    return int(connection.execute(found).scalar_one_or_none() or 0)


def make_tables(connection: Connection) -> None:
    """Make the tables of a new store."""
    metadata.create_all(connection)
    connection.execute(insert(alembic_version).values(version_num=str(VERSION)))


def migrate(connection: Connection, version: int) -> None:
    """Bring the tables of format `version` to those of today."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    if not inspect(connection).has_table(alembic_version.name):  # a file that no revision has changed so far
        alembic_version.create(connection)
        connection.execute(insert(alembic_version).values(version_num=str(version)))
    scripts = ScriptDirectory(str(REVISIONS))

    def steps(revision: Any, context: MigrationContext) -> Any:
        return scripts._upgrade_revs("head", revision)

    context = MigrationContext.configure(connection, opts={"fn": steps})
    with Operations.context(context):
        context.run_migrations()
