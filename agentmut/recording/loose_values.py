"""Random values near the name of a secret, whatever stands between them: `password → ...`, `setPassword("...")`."""

import re
from itertools import pairwise

from agentmut.recording.named_values import BEHIND, KEY, MARKS, PASSWORD, TOKEN
from agentmut.recording.random_text import WORD, kind_of
from agentmut.recording.secret_forms import Form, secret_in

LEAST, LEAST_OF_KEY = 8, 16
CHANGES = 0.25
WORDS = 0.75
"""The least share of neighbours of different kinds. A random password has 0.6 on average."""

NOT_BEHIND_A_LETTER = r"(?:(?<![A-Za-z])|(?<=\\[nrt]))"
"""Where a short name may begin: also behind an escaped end of a line."""
_OTHER_LANGUAGES = (
    "密码", "密碼", "口令", "пароль", "Пароль", "パスワード", "暗証番号", "비밀번호", "senha", "Senha",
    "wachtwoord", "Wachtwoord",
    "hasło", "Hasło", "lösenord", "Lösenord", "şifre", "Şifre", "heslo", "Heslo", "jelszó", "adgangskode", "salasana",
    "κωδικός", "كلمة المرور", "סיסמה", "mật khẩu", "passord", "kata sandi", "parola", "Parola",
)  # fmt: skip
_SHORT = rf"{NOT_BEHIND_A_LETTER}(?i:pass|pw|psk|bind_?pw|requirepass|wpa_passphrase|pre-?shared[ _-]key)"
_NAMES = rf"(?i:{PASSWORD}|{KEY}|{TOKEN}){BEHIND}"
_SHORT_NAMES = rf"(?:{_SHORT}|{'|'.join(_OTHER_LANGUAGES)})"
_MARKS_OF_SHORT = (
    "pass", "Pass", "PASS", "pw", "Pw", "PW", "psk", "PSK", "bind", "BIND", "requirepass", "wpa_", "pre", "Pre", "PRE",
    *_OTHER_LANGUAGES,
)  # fmt: skip
_SIGN = r"(?:\\+[rt]|[^A-Za-z0-9\\\n]|\\(?![nux]))"
_LINE = r"(?:\n|\\+n)"
_SIGNS = rf"(?=[^A-Za-z0-9])(?:{_SIGN}{{0,24}}{_LINE}){{0,2}}{_SIGN}{{0,24}}"
"""No letter and no digit, and at most one empty line."""
_FILLER = (
    r"(?:!!str|&\w{1,20}|s:\d{1,4}:|qq?(?=\()|\d{1,5}(?=\t|\\+t)|default|value|str"
    r"|(?:for|of)\s[\w.@-]{1,30}(?:\s[a-z]{1,12})?(?:\s(?:is|was))?|in:\s\w{1,10}(?:\s|\\+n){1,9}value)"
)
_VALUE = r"[A-Za-z0-9][^\s\"'`,;<>()\[\]{}\\|*]{7,200}"


def is_strong(value: str) -> bool:
    """Return whether a value looks drawn at random: both cases and a digit, or many hexadecimal digits.

    >>> is_strong("Tr0ub4dor&3"), is_strong("OAuthClient2"), is_strong("hunter2hunter2")
    (True, False, False)
    """
    value = value.rstrip(".:!?=")
    kinds = [kind_of(character) for character in value]
    if len(value) < LEAST or "digit" not in kinds or _NAMES_A_THING.search(value):
        return False
    if {"small", "capital"} <= set(kinds):
        words = sum(map(len, WORD.findall(value))) / len(value)
        return words <= WORDS and sum(a != b for a, b in pairwise(kinds)) / (len(kinds) - 1) >= CHANGES
    return _HEX.fullmatch(value) is not None


_HEX = re.compile(r"(?:0x)?(?=[0-9]*[a-fA-F])[0-9a-f]{24,}|(?=[0-9]*[A-F])[0-9A-F]{24,}")
_NAMES_A_THING = re.compile(r"[/@]\w|\w\.\w|:\w|^\d{4}-\d\d|[A-Z]\w{1,200}\(|\$\{|_[A-Za-z]{1,200}_")
"""A path, an address, a version, a time, a call, a template, a name of several words."""


def _is_secret(found: re.Match[str]) -> bool:
    return is_strong(secret_in(found))


def _is_long_secret(found: re.Match[str]) -> bool:
    return len(secret_in(found)) >= LEAST_OF_KEY and is_strong(secret_in(found))


_BRIDGE = (
    rf"(?:>?<!\[CDATA\[|{_SIGNS}(?:{_FILLER}{_SIGNS}"
    r"|(?:[\w:.-]{1,20}=\\*\"[^\"<>]{0,99}\"){1,3}>(?:<!\[CDATA\[)?)?)"
)
"""What stands between a name and its value: signs, a word of a program, attributes of an element."""

_BEHIND_VALUE = (
    *(f" {verb} {article} {name}" for verb in ("is", "as") for article in ("the", "your")
      for name in ("pass", "secret", "token", "api key", "API key")),
    "' | sudo -S", '" | sudo -S', " | sudo -S",
)  # fmt: skip

LOOSE = (
    Form(
        "random value near a name",
        MARKS,
        re.compile(rf"(?P<kept>{_NAMES}{_BRIDGE}){_VALUE}"),
        _is_secret,
    ),
    Form(
        "random value near a short name",
        _MARKS_OF_SHORT,
        re.compile(rf"(?P<kept>{_SHORT_NAMES}{_BRIDGE}){_VALUE}"),
        _is_secret,
    ),
    Form(
        "random value before its name",
        _BEHIND_VALUE,
        re.compile(r"(?<![\w/])[^\s\"'`,;<>()\[\]{}\\|*]{8,64}(?=\\*[`\"']? (?:is|as|\| sudo))"),
        _is_secret,
        before=tuple(range(67, 7, -1)),
    ),
    Form(
        "random value of a variable",
        ("_KEY", "_SK", "_PAT", "_API", "_SALT", "_SIGNING", "_CRED", "_AUTH"),
        re.compile(
            r"(?P<kept>_(?:KEY|SK|PAT|API|SALT|SIGNING|CREDS?|CREDENTIALS?|AUTH)\d{0,2}\\*[\"']?\s?[=:]\s?\\*[\"']?)"
            rf"{_VALUE}"
        ),
        _is_long_secret,
    ),
    Form(
        "random value of a session",
        ("sid", "SID", "csrf", "CSRF", "session", "SESSION", "Session", "refresh", "ticket", "seed",
         "mnemonic", "nonce", "salt", "pat", "PAT", "recovery", "Recovery", "backup", "Backup", "license",
         "licence", "verify", "invite", "reset", "oauth_signature"),
        re.compile(
            rf"(?P<kept>{NOT_BEHIND_A_LETTER}(?:(?i:sid|csrf|session|refresh|ticket|seed|mnemonic|nonce|salt|pat|licen[sc]e"
            rf"|oauth_signature)|(?i:recovery|backup) codes?)\\*[\"']?\s?[=:]\s?\\*[\"']?(?:ST-\d{{1,6}}-)?"
            rf"|(?<=/)(?:verify|invite|reset)(?:-password)?(?:/|\?[a-z]{{1,6}}=)){_VALUE}"
        ),
        _is_long_secret,
    ),
)  # fmt: skip
"""Their values need less of a name than others, since no person chose them."""
