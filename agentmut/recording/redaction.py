"""Secrets are taken out of everything before it reaches the disk or a terminal."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import BaseModel, SecretStr

from agentmut._base import storable_json
from agentmut.nouns import Execution, RequestShape

CREDENTIAL = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names of environment variables that hold credentials."""
LEAST = 12
"""Characters that a value has to have: replacing shorter ones would garble ordinary text."""
_BEGINS = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Also behind an escaped line break: what is searched may be JSON, or JSON within JSON."""
KNOWN_FORMS = "|".join(
    (
        _BEGINS
        + r"(?:(?:sk|pk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|AKIA[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{30,}"
        r"|Bearer [A-Za-z0-9._-]{16,}|Basic (?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}={0,2})",
        r"(?<=://)[^/@\s\"'\\:]+:[^/@\s\"'\\]+(?=@)",  # user and password of a URL
    )
)
_IN_QUERY = r"(?P<name>[?&][\w-]*(?i:key|token|secret|password|sig|signature)=)[^&\s\"'\\<>\[\]]{6,}"
"""A value in a URL's query whose name says what it is."""
_IN_EVERY_FORM = (
    *(f"{kind}{mark}" for kind in ("sk", "pk", "ghp", "gho") for mark in "-_"),
    "xox", "AKIA", "AIza", "Bearer ", "Basic ", "://", "=",
)  # fmt: skip
"""One of these stands in every text that `KNOWN_FORMS` or `_IN_QUERY` fits; it takes far less time to look for them."""
MASK = "[redacted]"
Model = TypeVar("Model", bound=BaseModel)


class Redactor:
    """Replaces known secret values, and what has the form of a well-known kind of key.

    What only has the form of a key, and stands in one of the project's `own` texts, is left: it is in the project's
    files anyway, and a prompt that was cut could not be told from a mutant's.
    """

    def __init__(self, secrets: Iterable[str], own: Iterable[str] = ()) -> None:
        known = sorted({s for s in secrets if len(s) >= LEAST}, key=len, reverse=True)
        spellings = sorted({form for s in known for form in _spellings(s)}, key=len, reverse=True)
        self._spellings = tuple(spellings)
        self._known = re.compile("|".join(map(re.escape, spellings)) or r"(?!)")
        self._forms = re.compile(f"{KNOWN_FORMS}|{_IN_QUERY}")
        self._own = frozenset(found[0] for text in own for found in self._forms.finditer(text))

    def text(self, text: str) -> str:
        """Return the text without secrets.

        >>> Redactor(["hunter2hunter2"]).text("password hunter2hunter2!")
        'password [redacted]!'
        """
        if any(spelling in text for spelling in self._spellings):
            text = self._known.sub(MASK, text)
        if any(piece in text for piece in _IN_EVERY_FORM):
            text = self._forms.sub(self._masked_form, text)
        return text

    def execution(self, execution: Execution) -> Execution:
        """Return the execution without secrets, in whatever part of it they are."""
        written = storable_json(execution)
        return execution if self.text(written) == written else self.model(execution)

    def model(self, model: Model) -> Model:
        """Return a noun without secrets.

        Names of fields and enumerated values are agentmut's own, whatever is secret.
        """
        fields = {name: self._value(getattr(model, name)) for name in type(model).model_fields}
        if isinstance(model, RequestShape):  # where its instructions end is a count of characters
            fields["system"] = len(self.text(model.instructions))
        return model.model_copy(update=fields)

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self.text(value)
        if isinstance(value, BaseModel):
            return self.model(value)
        if isinstance(value, dict):
            return {self._value(key): self._value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._value, value))
        return value

    def _masked_form(self, found: re.Match[str]) -> str:
        return found[0] if found[0] in self._own else f"{found['name'] or ''}{MASK}"


def secret_values(secrets: Iterable[str], environment: Mapping[str, str]) -> set[str]:
    """Return the `secrets` given, and those of an environment: what is named like a credential, and
    passwords in URLs.
    """
    named = {value for name, value in environment.items() if CREDENTIAL.search(name)}
    in_urls = {secret for value in environment.values() if "://" in value for secret in _userinfo(value)}
    return named.union(secrets, in_urls)


def header_secrets(headers: Mapping[str, SecretStr]) -> set[str]:
    """Return what may be secret in the headers that a project sends: their values, and the words in them (`Bearer
    ...`).
    """
    values = (value.get_secret_value() for name, value in headers.items() if not _PLAIN_HEADER.match(name))
    return {secret for value in values for secret in (value, *value.split())}


def url_secrets(url: str) -> set[str]:
    """Return what may be secret in an address: user and password, also as they are sent, and the values
    of its query.
    """
    try:
        query = parse_qsl(urlsplit(url).query)
    except ValueError:
        query = []
    return {value for _, value in query if "{" not in value}.union(_userinfo(url))


_PLAIN_HEADER = re.compile(r"accept|content-|user-agent", re.IGNORECASE)
_USERINFO = re.compile(r"://([^/@\s]*):([^/@\s]+)@")


def _userinfo(text: str) -> Iterator[str]:
    """User and password of the URLs in a text, the password alone, and both as a header has them."""
    for user, password in _USERINFO.findall(text):
        plain = f"{unquote(user)}:{unquote(password)}"
        yield from (f"{user}:{password}", plain, unquote(password), base64.b64encode(plain.encode()).decode())


def _spellings(secret: str) -> set[str]:
    """Spell a secret as plain text, JSON, JSON within JSON, URLs and base64 write it."""
    forms = {secret, *_in_base64(secret)}
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    raw = secret.encode("utf-8", "surrogateescape")
    for escaped in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        forms |= {escaped, re.sub("%..", lambda found: found[0].lower(), escaped)}
    return forms


def _in_base64(secret: str) -> Iterator[str]:
    """Yield what base64 makes of it wherever it begins, such as behind `user:`; what depends on its
    neighbours is left.
    """
    raw = secret.encode("utf-8", "surrogateescape")
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw).decode()
        begin, end = (0, 2, 3)[before], 4 * ((before + len(raw)) // 3)
        middle = whole[begin:end]
        yield from (middle, middle.replace("+", "-").replace("/", "_"))


__all__ = [
    "CREDENTIAL", "LEAST", "MASK", "Redactor", "header_secrets", "secret_values", "url_secrets",
]  # fmt: skip
