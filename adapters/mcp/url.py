"""The address of a tool server, as a project names it."""

import re
from urllib.parse import urlsplit

from agentmut._base import UsageError


def check_url(url: str) -> None:
    """Raise `UsageError` for what is no whole address."""
    if wrong := _wrong_with(url):
        shown = re.sub(r"//[^/]*@", "//", url)
        raise UsageError(
            f"agent.url: {shown!r} is no address of a tool server: {wrong}. Give all of it, as in "
            "http://127.0.0.1:8000/mcp"
        )


def _wrong_with(url: str) -> str:
    """Say in a phrase what is wrong with an address; empty if nothing is.

    >>> _wrong_with("http://"), _wrong_with("http://127.0.0.1:8000/mcp")
    ('it has no host', '')
    """
    if re.search(r"\s", url):
        return "it has a blank in it"
    if not url.lower().startswith(("http://", "https://")):
        return "it does not begin with http:// or https://"
    try:
        parts = urlsplit(url)
        return "it has no host" if not parts.hostname else "0 is no port" if parts.port == 0 else ""
    except ValueError as error:
        return str(error)
