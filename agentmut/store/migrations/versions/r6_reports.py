"""Add the reports of runs, for who reads the store on another machine."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"
GRANTED = """SELECT grantee, privilege_type FROM information_schema.role_table_grants
WHERE table_schema = current_schema() AND table_name = 'runs'"""


def upgrade() -> None:
    """Make one table; who may read or write `runs` on a server may do the same there."""
    op.create_table(
        "reports",
        sa.Column(
            "run",
            sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql"),
            sa.ForeignKey("runs.id"),
            primary_key=True,
        ),
        sa.Column(
            "name", sa.String(32).with_variant(sa.String(32, collation="C"), "postgresql"), primary_key=True
        ),
        sa.Column("content", sa.LargeBinary, nullable=False),
        if_not_exists=True,
    )
    server = op.get_bind()
    if server.dialect.name == "postgresql":
        quoted = server.dialect.identifier_preparer.quote
        for role, privilege in server.execute(sa.text(GRANTED)).all():
            op.execute(f"GRANT {privilege} ON reports TO {role if role == 'PUBLIC' else quoted(role)}")
