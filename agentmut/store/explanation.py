"""What a failing store means to the user, and what to do about it."""

from pathlib import Path

from pydantic import ValidationError
from sqlalchemy.exc import NoResultFound

REMEDIES = (
    (
        ("not a database", "malformed", "validation error", "no row was found"),
        "The file is damaged. Move it away and run again: finished trials in it are lost.",
    ),
    (("locked", "busy"), "Another agentmut run uses it: wait for that one, or stop it."),
    (
        ("is full", "no space left", "disk quota", "too large"),
        "Free some space, then `agentmut resume`: what was finished before is kept.",
    ),
    (
        ("no such table", "no such column", "no column named"),
        "It is not a store of this version of agentmut. Move it away and run again.",
    ),
    (
        ("readonly", "read-only", "unable to open", "permission", "not a directory", "file exists"),
        "Check that its folder is a directory you may write to; then run again.",
    ),
)
OTHERWISE = "Check the disk that holds it; then `agentmut resume`: what was finished before is kept."


def explanation(path: Path, doing: str, error: Exception) -> str:
    """Return one paragraph: what could not be done, to which file, why, and the remedy."""
    cause = str(getattr(error, "orig", None) or error).splitlines()[0].rstrip(".")
    if isinstance(error, ValidationError | NoResultFound):
        cause = f"a row cannot be read ({cause})"
    known = (remedy for signs, remedy in REMEDIES if any(sign in cause.lower() for sign in signs))
    return f"cannot {doing} the store {path}: {cause}. {next(known, OTHERWISE)}"
