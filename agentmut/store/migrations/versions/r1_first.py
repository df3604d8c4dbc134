"""The tables of version 0.1.0: each store has them."""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Do nothing: a store begins with these tables."""
