"""Google's credentials: found once, refreshed, and written as headers."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentmut._base import AdapterError, UnavailableError, UsageError, described, import_callable

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_OPTION = "agent.options.credentials"


class Credentials:
    """The credentials of the user's function, or the application's default ones. Safe for threads."""

    def __init__(self, reference: JsonValue, root: str) -> None:
        """Import the function. Raises `UsageError`."""
        if reference is not None and not isinstance(reference, str):
            raise UsageError(f"{_OPTION}: expected module:function, which returns google credentials")
        self.named = reference is not None
        self._build = import_callable(reference, Path(root)) if reference else _default
        self._lock = threading.Lock()
        self._held: Any = None
        self._failed = ""
        """Why there are none: Google's library takes ten seconds to find that out, each time."""

    def headers(self) -> dict[str, str]:
        """Return the headers with token and billed project. Raises `AdapterError` and `UnavailableError`."""
        with self._lock:
            if self._failed:
                raise AdapterError(self._failed)
            try:
                found = self._fresh()
            except AdapterError as error:
                self._failed = str(error)
                raise
            written: dict[str, str] = {}
            found.apply(written)
        return written

    def _fresh(self) -> Any:
        if self._held is None or not self._held.valid:
            self._held = _built(self._build, self.named)
        if not self._held.valid:
            _refresh(self._held)
        return self._held


def _built(build: Callable[[], Any], named: bool) -> Any:
    if not named:
        return build()
    try:
        found = build()
    except Exception as error:
        raise AdapterError(f"{_OPTION} raised {described(error)}") from error
    if not (hasattr(found, "valid") and hasattr(found, "apply")):
        raise AdapterError(f"{_OPTION} returned a {type(found).__name__}; expected google.auth credentials")
    return found


def _default() -> Any:
    import google.auth

    try:
        return google.auth.default(scopes=[SCOPE])[0]
    except google.auth.exceptions.GoogleAuthError as error:
        raise AdapterError(
            f"no Google credentials: {str(error).rstrip('.')}; or name a function that returns some, {_OPTION}"
        ) from None


def _refresh(credentials: Any) -> None:
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.auth.transport.requests import Request

    try:
        credentials.refresh(Request())
    except TransportError as error:
        raise UnavailableError(f"Google credentials could not be refreshed: {type(error).__name__}") from None
    except GoogleAuthError as error:
        raise AdapterError(f"Google credentials could not be refreshed: {type(error).__name__}") from None
