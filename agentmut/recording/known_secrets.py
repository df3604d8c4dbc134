"""Secrets whose values are known, in every spelling: those of variables, headers and addresses."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import SecretStr

from agentmut.recording.secret_forms import BEGINS

CREDENTIAL = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|WEBHOOK|_PASS\d*$|_PWD\d*$|_PIN$|_AUTH$|_DSN$",
    re.IGNORECASE,
)
"""Names of environment variables that hold credentials."""
LEAST = 12
"""Characters of a secret that is replaced wherever it stands. Shorter passwords are replaced as whole words."""
LEAST_OF_PASSWORD = 4
_PASSWORD = re.compile(r"(?:PASSW(?:OR)?D|PASSPHRASE|_PASS|_PWD|_PIN|SECRET)_?\d*$", re.IGNORECASE)
_SHORT_KEY = re.compile(r"(?:KEY|TOKEN|CREDENTIALS?|_AUTH)_?\d*$", re.IGNORECASE)
_NO_SECRETS = frozenset((
    "admin", "administrator", "anonymous", "anything", "basic", "bearer", "changeme", "default", "demo",
    "dummy", "empty", "enabled", "disabled", "example", "fake", "false", "guest", "local", "localhost", "mock",
    "mysql", "none", "null", "offline", "password", "pass", "placeholder", "postgres", "postgresql", "private",
    "public", "redacted", "redis", "required", "root", "secret", "simulated", "simulator", "string", "test",
    "testing", "token", "true", "undefined", "unused", "user", "username", "value",
))  # fmt: skip
"""Values that everybody knows: replacing them would garble ordinary text and protect nothing."""


def secret_values(secrets: Iterable[str], environment: Mapping[str, str]) -> set[str]:
    """Return `secrets` and the secrets of an environment: variables named like credentials, and passwords in URLs."""
    named = {value for name, value in environment.items() if CREDENTIAL.search(name)}
    in_urls = {secret for value in environment.values() if "://" in value for secret in _userinfo(value)}
    return named.union(secrets, in_urls)


def short_secrets(environment: Mapping[str, str]) -> set[str]:
    """Return the short values of variables that are named as a password or a key.

    Every value of a password is one, except words that everybody knows. A short key or token has a digit or a sign.

    >>> sorted(short_secrets({"DB_PASSWORD": "hunter", "API_KEY": "a-1b", "MODEL_KEY": "offline"}))
    ['a-1b', 'hunter']
    """
    named = ((name, value) for name, value in environment.items() if _is_short(value))
    passwords = {
        v for _, text in environment.items() if "://" in text for v in _passwords(text) if _is_short(v)
    }
    return passwords | {
        value
        for name, value in named
        if _PASSWORD.search(name) or (_SHORT_KEY.search(name) and not value.isalpha() and not value.isdigit())
    }


def _is_short(value: str) -> bool:
    return LEAST_OF_PASSWORD <= len(value) < LEAST and value.lower() not in _NO_SECRETS


def _passwords(text: str) -> Iterator[str]:
    yield from (unquote(password) for _, password in _USERINFO.findall(text))


def header_secrets(headers: Mapping[str, SecretStr]) -> set[str]:
    """Return the possible secrets in a project's headers: the values, and the words in them (`Bearer ...`)."""
    values = (value.get_secret_value() for name, value in headers.items() if not _PLAIN_HEADER.match(name))
    return {secret for value in values for secret in (value, *value.split())}


def url_secrets(url: str) -> set[str]:
    """Return the possible secrets in a URL: user and password, in both encodings, and the values of the query."""
    try:
        query = parse_qsl(urlsplit(url).query)
    except ValueError:
        query = []
    return {value for _, value in query if "{" not in value}.union(_userinfo(url))


_PLAIN_HEADER = re.compile(r"accept|content-|user-agent", re.IGNORECASE)
_USERINFO = re.compile(r"://([^/@\s]*):([^/@\s]+)@")


def _userinfo(text: str) -> Iterator[str]:
    """Yield user and password of the URLs in a text, the password alone, and both in the form of a header."""
    for user, password in _USERINFO.findall(text):
        plain = f"{unquote(user)}:{unquote(password)}"
        yield from (f"{user}:{password}", plain, unquote(password), base64.b64encode(plain.encode()).decode())


class KnownSecrets:
    """Finds secrets in every spelling; secrets shorter than `LEAST` characters are found as whole words only."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted(set(secrets))
        self._long = _longest_first(
            form for secret in known if len(secret) >= LEAST for form in spellings(secret)
        )
        self._short = _longest_first(
            form for secret in known if len(secret) < LEAST for form in _written(secret)
        )
        self._long_without_breaks = frozenset(map(_without_breaks, self._long))
        self._forms = (*self._long, *self._short)
        words = (f"{BEGINS}{re.escape(form)}(?![A-Za-z0-9_])" for form in self._short)
        self._pattern = re.compile("|".join((*map(re.escape, self._long), *words)) or r"(?!)")

    def found_in(self, text: str) -> set[str]:
        """Return the spellings of secrets that a text contains."""
        found = set(self._pattern.findall(text)) if self._has_any(text) else set[str]()
        return found.union(self._over_lines.findall(text)) if self._is_over_lines(text) else found

    def _has_any(self, text: str) -> bool:
        """Return whether any spelling is in a text, as a whole word or not: far faster than the pattern."""
        return any(form in text for form in self._forms)

    def _is_over_lines(self, text: str) -> bool:
        """Return whether a secret stands on two lines or more. It takes far less time than to look for where."""
        if not (self._long and any(end in text for end in _ENDS)):
            return False
        bare = _without_breaks(text)
        if not any(form in bare for form in self._long_without_breaks):
            return False
        joined = "".join(filter(None, _BREAK_OR_RUN.split(text)))
        return any(form in joined for form in self._long)

    @cached_property
    def _over_lines(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_over_lines, self._long)) or r"(?!)")

    def masked(self, text: str, mask: str) -> str:
        """Return the text with a mask in the place of each secret."""
        if self._has_any(text):
            text = self._pattern.sub(mask, text)
        return self._over_lines.sub(mask, text) if self._is_over_lines(text) else text


_BREAK = re.compile(r"[ \t]*\\*(?:\\[rn]|[\r\n])(?:[\s>+|#*]|\\+[nrt])*")
"""The end of a line, as it is or in JSON, and how the next line begins: an indent, a quotation, a change."""
_BREAK_OR_RUN = re.compile(rf"{_BREAK.pattern}|([ \t]{{8,}}+\\*+|\\{{8,}}+)")
"""The same, or a run in which no line ends: a search that began at each of its characters would take its square."""
_IN_BREAKS = b" \t\r\n\\>|+#*nrt"
_ENDS = ("\n", "\r", "\\n", "\\r")
"""What every end of a line has; these are found twenty times as fast."""


def _without_breaks(text: str) -> bytes:
    """Return a text without any character that may stand in the end of a line. It takes 3 ns a character."""
    return "".join(text.split()).encode("utf-8", "surrogatepass").translate(None, _IN_BREAKS)


def _over_lines(secret: str) -> str:
    """Return a pattern for a secret with the ends of lines in it."""
    return f"(?:{_BREAK.pattern})?".join(map(re.escape, secret))


def _longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(forms), key=lambda form: (-len(form), form)))


def spellings(secret: str) -> set[str]:
    """Return the spellings of a secret in plain text, JSON, JSON within JSON, Python, HTML, URLs, base64 and digits."""
    raw = secret.encode("utf-8", "surrogateescape")
    return {*_written(secret), *_in_base64(raw), raw.hex(), raw.hex().upper()}


def _written(secret: str) -> set[str]:
    forms = {secret, html.escape(secret), html.escape(secret, quote=False), repr(secret)[1:-1]}
    raw = secret.encode("utf-8", "surrogateescape")
    forms |= {repr(raw)[2:-1], html.escape(secret).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")}
    for ascii_only in (True, False):
        told = secret
        for _ in range(_NESTED):
            forms.add(told := json.dumps(told, ensure_ascii=ascii_only)[1:-1])
    for escaped in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        forms |= {escaped, re.sub("%..", lambda found: found[0].lower(), escaped), quote(escaped, safe="")}
    return forms


_NESTED = 3
"""How often JSON may stand within JSON: a call's arguments in a message in a log."""


def _in_base64(raw: bytes) -> Iterator[str]:
    """Yield the base64 forms of a secret at each offset, such as after `user:`, without neighbours."""
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw).decode()
        begin, end = (0, 2, 3)[before], 4 * ((before + len(raw)) // 3)
        middle = whole[begin:end]
        yield from (middle, middle.replace("+", "-").replace("/", "_"))
