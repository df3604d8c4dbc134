"""Add which trials an outage has spoiled."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Make one table."""
    op.create_table(
        "quarantined",
        sa.Column("trial", sa.Integer, sa.ForeignKey("trials.id"), primary_key=True),
        sa.Column("reason", sa.Text, nullable=False),
        if_not_exists=True,
    )
