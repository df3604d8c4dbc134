"""Add the runs that other tools recorded."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Make one table."""
    op.create_table(
        "imported",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("scenario", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("started", sa.Float),
        sa.Column("imported", sa.Float, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        if_not_exists=True,
    )
    op.create_index("imported_by_scenario", "imported", ["scenario"], if_not_exists=True)
    op.create_index("imported_by_time", "imported", ["started"], if_not_exists=True)
