"""Add what the hooks of scenarios asked of models, so that a resumed run goes on counting."""

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"
GRANTED = """SELECT grantee, privilege_type FROM information_schema.role_table_grants
WHERE table_schema = current_schema() AND table_name = 'runs'"""


def upgrade() -> None:
    """Make one table; who may read or write `runs` on a server may do the same there."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "hooks",
        sa.Column(
            "run",
            sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql"),
            sa.ForeignKey("runs.id"),
            primary_key=True,
        ),
        sa.Column("model", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), primary_key=True),
        sa.Column("requests", number, nullable=False),
        sa.Column("input_tokens", number, nullable=False),
        sa.Column("output_tokens", number, nullable=False),
        sa.Column("usd", sa.Float),
        if_not_exists=True,
    )
    server = op.get_bind()
    if server.dialect.name == "postgresql":
        quoted = server.dialect.identifier_preparer.quote
        for role, privilege in server.execute(sa.text(GRANTED)).all():
            op.execute(f"GRANT {privilege} ON hooks TO {role if role == 'PUBLIC' else quoted(role)}")
