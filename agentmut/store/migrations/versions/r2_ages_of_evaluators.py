"""Add what judges cost, which some stores of format 1 have, and when evaluators were fixed."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make three tables."""
    op.create_table(
        "judged",
        sa.Column("run", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("usd", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "fixed",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("scenario", sa.String(64), nullable=False),
        sa.Column("evaluators", sa.String(64), nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("originals", sa.Integer, nullable=False),
        sa.Column("mutants", sa.Integer, nullable=False),
        sa.UniqueConstraint("scenario", "evaluators"),
        if_not_exists=True,
    )
    op.create_table(
        "proposed",
        sa.Column("scenario", sa.String(64), primary_key=True),
        sa.Column("evaluator", sa.String(64), primary_key=True),
        sa.Column("run", sa.String(64), nullable=False),
        if_not_exists=True,
    )
