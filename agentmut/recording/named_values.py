"""Secrets that a name introduces: `password=...`, `"api_key": "..."`, `Cookie: ...`."""

import re

from agentmut.recording.secret_forms import Form, secret_in

_KEYS = (
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "subscription",
    "account",
    "master",
    "license",
    "app",
    "application",
    "hmac",
    "jwt",
    "webhook",
    "consumer",
    "integration",
)
_TOKENS = ("auth", "access", "refresh", "bearer", "api", "session", "id", "security", "bot", "deploy")
_NO_SECRET_TOKENS = ("next", "page", "sync", "continuation", "max", "cancellation")


def _behind(words: tuple[str, ...], *, there: bool) -> str:
    """Return a pattern for a place after one of the words, with or without a sign between word and value."""
    places = [f"{word}{sign}" for word in words for sign in ("", "[ _-]")]
    return f"(?:{'|'.join(f'(?<={p})' for p in places)})" if there else "".join(f"(?<!{p})" for p in places)


PASSWORD = (
    r"pass(?:word|wd|phrase|wort|code)|(?<=mot de )passe|contrase[ñn]a"
    r"|(?<![a-z])pwd|(?<=\\[nrtbf])pwd|(?<=_)pass|(?<=ssh)pass|(?<=pg)pass"
)
KEY = rf"secret|{_behind(_KEYS, there=True)}key|{_behind(_TOKENS, there=True)}token|credentials?"
TOKEN = rf"{_behind(_NO_SECRET_TOKENS, there=False)}token"
BEHIND = r"(?:[_-]?(?:\d{1,2}|value|confirm(?:ation)?|again|new|old|prod|test|dev|id|base))?"
_NAME = rf"(?i:(?P<password>{PASSWORD})|(?P<key>{KEY})|(?P<token>{TOKEN})){BEHIND}"
_CORES = ("pass", "contrase", "pwd", "secret", "key", "token", "credential")
MARKS = tuple(form for core in _CORES for form in (core, core.capitalize(), core.upper()))
"""Where a pattern begins: what is before it in a longer name, such as `OPENAI_API_`, is looked back at."""

_PLACEHOLDER = re.compile(
    r"""(?ix) [*x.\-_•]+ | <.*> | \$.* | %.*% | \{.*\} | \[.*\]
    | (?:your|my|some|the|an?|new|old|current|example|fake|dummy|placeholder)[-_ ][a-z_ .-]*
    | .*(?:redacted|changeme|change_me|placeholder|masked|hidden).*
    | (?:your|my)[-_ ].* | string|str|null|none|true|false|undefined|required
    |optional|missing|invalid|incorrect|wrong|empty|any|text|object
    """
)
_FOLDER = re.compile(r"/(?:[\w.@+-]+/)*[\w.@+-]*|[A-Z]:\S*")
"""What a shell's variable PWD holds."""
_CREDENTIAL_WORD = re.compile(r"(?i:password|passwd|pwd|secret|token|key|credentials?)\W*$")
_REFERENCE = re.compile(
    r"[A-Za-z_][\w.]*[(\[].*|(?:self|os|config|settings|env|process|args|request|user)\..*"
)


def _quoted(found: re.Match[str]) -> bool:
    value = secret_in(found)
    if _PLACEHOLDER.fullmatch(value) or _CREDENTIAL_WORD.search(value):
        return False
    if found["password"]:
        return len(value.split()) <= 5
    return (
        " " not in value
        and len(value) >= (16 if found["token"] else 8)
        and (_mixed(value) or bool(found["key"]))
    )


def _assigned(found: re.Match[str]) -> bool:
    value = secret_in(found).rstrip("):]}")  # of a signature in a documentation: `password=None)`
    if (found["password"] or "").lower() == "pwd" and _FOLDER.fullmatch(value):
        return False
    if _PLACEHOLDER.fullmatch(value) or _CREDENTIAL_WORD.search(value) or _REFERENCE.fullmatch(value):
        return False
    return bool(found["password"]) or (len(value) >= (16 if found["token"] else 8) and _mixed(value))


def _is_secret_value(found: re.Match[str]) -> bool:
    value = secret_in(found)
    least = 16 if found["token"] else 6
    return (
        len(value) >= least
        and _mixed(value)
        and not _MEASURE.match(value)
        and not _PLACEHOLDER.fullmatch(value)
    )


_MEASURE = re.compile(r"\d+[-–]?[a-z]+$|\d{4}-\d\d")
"""`12-character`, `30days`, a date."""


def _mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


_BY_NEIGHBOUR = (
    r"(?:\\*[\"'])?(?:\s?</\w+>(?:\s|\\+[rn]){0,4}<\w+>\s?|>|\s?\|\s?"  # an element, the next cell of a table
    r"|\s(?:for|of)\s[^\s:]{1,60}\s(?:to|is|was)\s"  # "the password of bob is"
    r"|(?:\\*[\"'])?,?(?:\s|\\+[nr]){1,9}\\*[\"']?value\\*[\"']?\s?[:=]\s?\\*[\"']?)"  # name: PASSWORD, value: ...
)
"""What stands between a name and its value where they are neighbours in a list, a table or a sentence."""
_COOKIES = re.compile(r"[\w.-]+=[^;\s]+")
_CREDENTIALS = re.compile(
    r"(?i:basic|bearer|token|digest|apikey|negotiate|aws4-hmac-sha256|key|bot)\s+\S{6,}|(?=\D*\d)\S{10,}"
)


def _header(found: re.Match[str]) -> bool:
    value = secret_in(found)
    if "${" in value:  # a template
        return False
    return bool((_COOKIES if found["cookie"] else _CREDENTIALS).match(value))


NAMED = (
    Form(
        "header in a list",
        ("uthorization", "UTHORIZATION"),
        re.compile(r"(?P<kept>(?i:uthorization)\\*[\"'],\s?b?\\*[\"'])[^\r\n\"'\\]{6,4096}"),
        lambda found: _CREDENTIALS.match(secret_in(found)) is not None,
    ),
    Form(
        "header",
        ("uthorization", "UTHORIZATION", "ookie", "OOKIE"),
        re.compile(
            r"(?P<kept>(?i:(?P<cookie>ookie)|uthorization)"
            r"(?:\\*[\"'])?\s*[:=]\s*(?:\\*[\"'])?)[^\r\n\"'\\]{6,4096}"
        ),
        _header,
    ),
    Form(
        "quoted value of a name",
        MARKS,
        re.compile(
            rf"(?P<kept>{_NAME}(?:\\*[\"'`])?\]?\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}[bBrRuUfF]{{0,2}}(?P<quote>\\*[\"']))"
            r"(?:(?!(?<!\\)(?P=quote))[^\r\n]){3,256}(?=(?P=quote))"
        ),
        _quoted,
    ),
    Form(
        "value assigned to a name",
        MARKS,
        re.compile(rf"(?P<kept>{_NAME}=)[^\s\"'`&;,<>()\[\]{{}}\\$*=][^\s\"'`&;,<>\\]{{3,255}}"),
        _assigned,
    ),
    Form(
        "value told of a name",
        MARKS,
        re.compile(
            rf"(?P<kept>{_NAME}(?:\s\([\w ]{{1,30}}\))?[\"'`*]{{0,3}}"
            r"(?:\s?[:=]|\s(?:[-–]|=>|(?:is|was)(?:\snow)?:?))\s{1,3}[\"'`*]{0,3})"
            r"[^\s\"'`*,;()<>\[\]{}\\=]{5,127}[^\s\"'`*,;()<>\[\]{}\\=.!?:]={0,2}"
        ),
        _is_secret_value,
    ),
    Form(
        "value beside a name",
        MARKS,
        re.compile(rf"(?P<kept>{_NAME}{_BY_NEIGHBOUR})[^\s\"'`|,;<>\\]{{6,128}}"),
        _is_secret_value,
    ),
    Form(
        "value of an option",
        MARKS,
        re.compile(rf"(?P<kept>(?<=-){_NAME}\s)[^\s\"'`|,;<>\\-][^\s\"'`|,;<>\\]{{5,127}}"),
        _is_secret_value,
    ),
    Form(
        "password of a statement",
        ("IDENTIFIED BY", "identified by"),
        re.compile(r"(?P<kept>(?i:identified by)\s\\*[\"'])[^\s\"'\\]{4,128}"),
    ),
    Form(
        "password of a command",
        ("sshpass -p", "login "),
        re.compile(
            r"(?P<kept>sshpass -p\s?\\*[\"']?|login\s\S{1,60}\s{1,3}password\s{1,3})[^\s\"'\\]{4,128}"
        ),
    ),
)
"""Names of passwords take any value; names of keys and tokens take what cannot be a word."""
