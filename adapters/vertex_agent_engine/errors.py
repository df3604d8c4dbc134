"""Failures of a deployed engine: the agent's own failure, trouble of the service, or a wrong address."""

import re
from collections.abc import Mapping
from typing import Any

from agentmut._base import AdapterError, UnavailableError, described

SHOWN = 600
"""Characters of a message; the service begins its own with a paragraph about where its logs are."""
_BUSY = frozenset({408, 409, 425, 429})
_OF_AGENT = "Execution failed"  # with status 400: what the agent raised
_NO_METHOD = re.compile(r"method\W+\w+\W+ not found|Available methods are")
_OUT_OF_REACH = re.compile(r"\b(?:RESOURCE_EXHAUSTED|UNAVAILABLE|DEADLINE_EXCEEDED)\b")
_CONNECTIONS = frozenset({"ClientError", "TransportError", "RequestException", "OSError"})
"""Class names of lost connections: of aiohttp, httpx and google-auth, requests, Python."""


class EngineError(RuntimeError):
    """The engine reported a failure."""


def failure(text: str) -> Exception:
    """Return the engine's report as an error. A model out of reach or out of quota is no evidence."""
    return UnavailableError(text) if _OUT_OF_REACH.search(text) else EngineError(text)


def refusal(status: int, text: str, body: str = "") -> Exception:
    """Return the error for an HTTP status; `body` is the whole answer if `text` is cut."""
    told = body or text
    if _NO_METHOD.search(told):
        return AdapterError(f"{text}. Name the one that it has, agent.options.method")
    if status == 400 and _OF_AGENT in told:
        return UnavailableError(text) if _OUT_OF_REACH.search(told) else EngineError(text)
    if is_trouble(status):
        return UnavailableError(text)
    return AdapterError(f"{text}. Correct agent.options.engine or the credentials")


def reported(event: Mapping[str, Any]) -> Exception | None:
    """Return the error that an event of the stream reports; None if it reports none.

    Either the service's own `error`, or what the engine writes where its agent raised: a `code` (498) and a `message`.
    """
    error = event.get("error")
    if not error and not ("author" in event or "content" in event) and {"code", "message"} <= event.keys():
        error = event
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    said = f"the engine reported {str(error)[:SHOWN]}"
    return UnavailableError(said) if isinstance(code, int) and is_trouble(code) else failure(said)


def of_sdk(error: Exception) -> Exception:
    """Return the error for an exception of Google's SDK or its HTTP library."""
    if isinstance(error, AdapterError | UnavailableError | EngineError):
        return error
    said = f"the engine's SDK raised {described(error)[:SHOWN]}"
    bases = {base.__name__ for base in type(error).__mro__}
    if isinstance(code := getattr(error, "code", None), int):
        return refusal(code, said, str(error))
    if bases & _CONNECTIONS:
        return UnavailableError(said)
    return AdapterError(said) if "GoogleAuthError" in bases else failure(said)


def is_trouble(status: int) -> bool:
    """Return whether a status is no evidence about the agent."""
    return status >= 500 or status in _BUSY
