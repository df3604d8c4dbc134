"""Add which trials are being executed, for stores on a server."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Make one table."""
    op.create_table(
        "claims",
        sa.Column(
            "key", sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql"), primary_key=True
        ),
        sa.Column(
            "run", sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql"), nullable=False
        ),
        if_not_exists=True,
    )
