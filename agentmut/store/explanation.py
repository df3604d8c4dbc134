"""The explanation of a failing store, with its remedy."""

from collections.abc import Sequence

from pydantic import ValidationError
from sqlalchemy.exc import NoResultFound

Remedies = Sequence[tuple[Sequence[str], str]]
"""Signs in the cause, in small letters, and what to do then; the first that fits is told."""
RESUME = "then `agentmut resume`, or the same command again: what was finished before is kept."
FULL = (
    ("is full", "no space left", "disk quota", "too large", "could not extend"),
    f"Free some space, {RESUME}",
)
OTHER_VERSION = ("no such table", "no such column", "no column named", "undefinedtable", "undefinedcolumn")

OF_FILES: Remedies = (
    (
        ("not a database",),
        "The file is no store of agentmut, or it is damaged. Name another file. If it is the damaged store of this "
        "project, move it away and run again; its finished trials are lost.",
    ),
    (
        ("malformed", "validation error", "no row was found"),
        "The file is damaged. Move it away and run again: finished trials in it are lost.",
    ),
    (("locked", "busy"), "Another agentmut run uses it: wait for that one, or stop it."),
    FULL,
    (OTHER_VERSION, "It is not a store of this version of agentmut. Move it away and run again."),
    (
        ("readonly", "read-only", "unable to open", "permission", "not a directory", "file exists"),
        "Check that its folder is a directory you may write to; then run again.",
    ),
    (("",), f"Check the disk that holds it, and whether it is full; {RESUME}"),
)
OF_SERVERS: Remedies = (
    (
        ("validation error", "no row was found"),
        "A row of it is damaged: restore the database from its backup.",
    ),
    (
        ("temp_file_limit", "statement timeout", "lock timeout"),
        f"The server limits what one statement takes. Raise that limit for the role, {RESUME}",
    ),
    FULL,
    (
        ("too many clients", "too many connections", "remaining connection slots"),
        "Run fewer commands at once.",
    ),
    (
        ("no encryption",),
        "Ask for TLS in the store's URL (`sslmode=require`, or better `verify-full`), or let the server's pg_hba.conf "
        "take this role without it.",
    ),
    (
        ("password", "authentication", "no pg_hba"),
        "Give the role and its password: in the URL as `${NAME}`, as PGPASSWORD, or in ~/.pgpass.",
    ),
    (("certificate", "ssl"), "Check `sslmode`, `sslrootcert` and `sslcert` in the store's URL."),
    (('database "',), "Make the database first: createdb NAME."),
    (
        ("permission denied", "must be owner"),
        "Grant the role the project's schema (USAGE; SELECT, INSERT, UPDATE, DELETE on its tables), or CREATE on the "
        "database for a new project.",
    ),
    (("read-only transaction",), "The server takes no writes: connect to the primary."),
    (OTHER_VERSION, "The schema is not one of this version of agentmut. Give the store another `project`."),
    (
        (
            "connection",
            "terminating",
            "starting up",
            "shutting down",
            "closed",
            "could not translate",
            "resolve",
        ),
        f"Check that the server is running and can be reached, {RESUME}",
    ),
    (("",), f"See the server's log; {RESUME}"),
)


def explanation(where: str, doing: str, error: Exception, remedies: Remedies) -> str:
    """Return one paragraph: the failed action, the store, the cause, and the remedy."""
    cause = str(getattr(error, "orig", None) or error).strip().splitlines()[0].rstrip(".")
    if isinstance(error, ValidationError | NoResultFound):
        cause = f"a row cannot be read ({cause})"
    signs = cause.lower() + type(getattr(error, "orig", None)).__name__.lower()
    remedy = next(said for known, said in remedies if any(sign in signs for sign in known))
    return f"cannot {doing} the store {where}: {cause}. {remedy}"
