"""The address of a store: a file of SQLite, or a project's schema in a PostgreSQL database."""

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from agentmut._base import UsageError
from agentmut.project import STORE_FORM, check_store_scheme

SECRET_OPTIONS = frozenset({"password", "passfile", "sslpassword"})
"""Options of a URL that are never printed."""
LONGEST = 50
"""Characters that a project's name has at most: names of schemas are cut at 63 bytes."""


class StoreUrl(NamedTuple):
    """A URL of PostgreSQL, and the project whose trials it holds."""

    url: str
    """As the user gave it, with secrets: never printed."""
    project: str
    """The project's name; its tables stand in a schema of their own."""

    @property
    def schema(self) -> str:
        """Return the schema with the project's tables."""
        return f"agentmut_{self.project}"

    @property
    def shown(self) -> str:
        """Return the address in a printable form: without its password."""
        parts = urlsplit(self.url)
        user, at, host = parts.netloc.rpartition("@")
        options = [(name, value) for name, value in parse_qsl(parts.query) if name not in SECRET_OPTIONS]
        query = f"?{urlencode(options)}" if options else ""
        return f"postgresql://{user.partition(':')[0]}{at}{host}{parts.path}{query} (project {self.project})"

    @property
    def for_driver(self) -> str:
        """Return the URL for SQLAlchemy. Options, such as those of TLS, stay unchanged."""
        return f"postgresql+psycopg://{self.url.partition('://')[2]}"


Where = Path | StoreUrl
"""Where a store stands."""


def store_url(url: str, project: str) -> StoreUrl:
    """Return the address for a URL and a project's name. Raise `UsageError`, which prints no secret."""
    check_store_scheme(url)
    rest = url.partition("://")[2]
    try:
        parts = urlsplit(url)
        named = (parts.path.strip("/"), parts.port)[0]
    except ValueError as error:
        raise UsageError(
            f"a store's URL is written as in {STORE_FORM}: {_without_secrets(error, rest)}."
        ) from None
    if not named:
        raise UsageError(f"the store's URL names no database. Write it as in {STORE_FORM}.")
    return StoreUrl(url, checked_project(project))


def _without_secrets(error: ValueError, rest: str) -> str:
    said = str(error)
    return "its port is no number" if "ort" in said or rest in said else said


def checked_project(name: str) -> str:
    """Return the name, if a schema can be named so. Raises `UsageError`."""
    if not re.fullmatch(rf"[a-z0-9][a-z0-9_]{{0,{LONGEST - 1}}}", name):
        raise UsageError(
            f"the store's project {name!r} cannot be the name of a schema: use small letters, digits and _, at most "
            f"{LONGEST} of them."
        )
    return name


def project_of_folder(folder: Path) -> str:
    """Return the project's name if the project file gives none: its folder's name in lower case."""
    plain = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return plain[:LONGEST] or "project"
