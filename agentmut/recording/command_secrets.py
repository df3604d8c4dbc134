"""Secrets in arguments of commands and in lines of protocols: `mysql -p...`, `curl -u name:...`, `AUTH PLAIN ...`."""

import base64
import binascii
import re
from collections.abc import Iterator

from agentmut.recording.loose_values import is_strong
from agentmut.recording.secret_forms import BEGINS, Form, secret_in
from agentmut.recording.spans import Span

_VALUE = r"[^\s\"'`$<>{}|\\;,]{4,128}"
_QUOTE = r"\\*[\"']?"


def _is_mixed(found: re.Match[str]) -> bool:
    value = secret_in(found)
    return len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_strong(found: re.Match[str]) -> bool:
    return is_strong(secret_in(found))


def _form(kind: str, marks: tuple[str, ...], kept: str, *, strong: bool = False, rest: str = _VALUE) -> Form:
    return Form(kind, marks, re.compile(f"(?P<kept>{kept}){rest}"), _is_strong if strong else _is_mixed)


COMMANDS = (
    _form("name and password", ("-u ", "--user ", "--user=", "--proxy-user", "-U "),
          rf"(?:-u|-U|--(?:proxy-)?user)[ =]{_QUOTE}[^\s:%\"'/]{{1,64}}[:%]"),
    _form("option of a login",
          ("docker login", "podman login", "helm registry login", "mongosh", "mysql", "mariadb", "redis-cli", "ldap",
           "az login", "oc login"),
          rf"(?:(?:docker|podman|helm registry|az|oc) login|mongosh|(?:mysql|mariadb)\w{{0,40}}|redis-cli"
          rf"|ldap\w{{1,40}})\s"
          rf"(?:[^\n]{{0,160}}?\s)??-[paw]\s?{_QUOTE}"),
    _form("password of an archive", ("zip -P", "7z "), rf"(?:zip -P\s?|7z\s[^\n]{{0,80}}?-p){_QUOTE}"),
    _form("argument pass:", ("pass:",), r"(?<=\s)pass:"),
    _form("password of Windows", ("/user:", "/p:"), rf"(?:/user:\S{{1,64}}\s|(?<=\s)/p:){_QUOTE}"),
    _form("password of htpasswd", ("htpasswd -",), r"htpasswd\s+-(?=\w*?b)\w++\s+\S+\s+\S+\s+"),
    _form("login of IMAP", ("LOGIN ",), rf"LOGIN \S{{1,64}} {_QUOTE}", strong=True),
    _form("login of Redis", ("AUTH ",), rf"{BEGINS}AUTH {_QUOTE}", strong=True),
    _form("login of Redis with a name", ("AUTH ",), rf"{BEGINS}AUTH [\w.-]{{1,64}} {_QUOTE}", strong=True),
    Form("login of SMTP", ("AUTH PLAIN ", "AUTH LOGIN "),
         re.compile(r"(?P<kept>AUTH (?:PLAIN|LOGIN) )[A-Za-z0-9+/]{12,}={0,2}")),
    _form("login of Oracle", ("sqlplus ", "oracle:thin:"), r"(?:sqlplus\s(?:-\w+\s){0,4}|oracle:thin:)[\w$#]{1,64}/",
          rest=r"[^\s\"'@\\/]{4,128}(?=@)"),
    _form("line of .pgpass", (":5432:", ":6432:", ":*:"), r":(?:5432|6432|\*):[\w*-]{1,64}:[\w*-]{1,64}:"),
    _form("literal of kubectl", ("--from-literal",), r"--from-literal[= ][\w.-]{1,64}="),
    _form("token of ngrok", ("add-authtoken ", "authtoken "), r"authtoken ", strong=True),
    Form("hash of a password", ("$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"),
         re.compile(r"\$(?:2[aby]|[156y]|apr1|argon2\w{1,2})\$[A-Za-z0-9./$=,+]{20,}")),
    Form("private lines of PuTTY", ("Private-Lines:",),
         re.compile(r"(?P<kept>Private-Lines: \d++\s*+(?:\\++[rn])*+)"
                    r"[A-Za-z0-9+/=\s\\]{32,}?Private-MAC:\s?[0-9a-f]{40,}")),
)  # fmt: skip

_IS_MANIFEST = re.compile(r"(?:\b|(?<=\\n))kind\\*[\"']?:\s?\\*[\"']?Secret\b")
_VALUE_IN_MANIFEST = re.compile(
    r"[\w.-]\\*[\"']?:\s?(?P<quote>\\*[\"'])?(?P<value>[A-Za-z0-9+/]{8,}={0,2})(?=(?(quote)\\*[\"']|(?:\s|\\+[rn]|\\*[\"']|$)))"
)


def manifest_spans(text: str) -> list[Span]:
    """Return the places of the values of Kubernetes' secrets, which are base64 whatever their names are."""
    if "kind" not in text or "Secret" not in text or not _IS_MANIFEST.search(text):
        return []
    return list(_values(text))


def _values(text: str) -> Iterator[Span]:
    for found in _VALUE_IN_MANIFEST.finditer(text):
        try:
            decoded = base64.b64decode(found["value"], validate=True).decode()
        except (binascii.Error, ValueError):
            continue
        if decoded.replace("\n", " ").isprintable():
            yield found.span("value")
