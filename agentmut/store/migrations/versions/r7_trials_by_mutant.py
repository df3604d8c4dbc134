"""Find the trials of one mutant of a run without reading the whole run."""

from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make an index by run and mutant in the place of the one by run: it begins with the run, so it serves for both."""
    op.create_index("trials_by_mutant", "trials", ["run", "mutant"], if_not_exists=True)
    op.drop_index("trials_by_run", "trials", if_exists=True)
