"""Secrets recognised by their entropy: strings that neither a person nor a naming scheme made."""

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise

from agentmut.recording.secret_forms import SERVICES, STRUCTURES, Form, secret_in

LEAST, MOST = 30, 150
"""Characters of a secret that only its entropy shows. Shorter strings are ids of records (21 to 28 characters in common
schemes); longer ones are images, signatures and other content."""
BITS_PER_CHARACTER = 3.6
"""Shannon entropy of the string's own characters: 30 random letters and digits have 4.3 on average."""
CHANGES = 0.38
"""The least share of neighbours of different kinds (capital, small letter, digit, sign). Random letters and digits have
0.62 on average, joined words 0.2 to 0.3."""
CHANGES_OF_TWO_KINDS = 0.28
"""The same where only letters of one case and digits occur: 0.40 on average where they are random."""

WORDS = 0.6
"""The largest share of characters in runs that look like words (`Next`, `cython`). Random letters and digits have 0.30
on average; 2 of 100 random strings of 30 characters have more than this. Paths and names of models have more."""
WORD = re.compile(r"[A-Z][a-z]{2,}|[a-z]{3,}")

_IDS = (
    r"(?:call|toolu|srvtoolu|tooluse|chatcmpl|cmpl|msg|resp|rs|fc|fp|run|thread|asst|step|file|batch|req|gen|item"
    r"|conv|lc|vs|ws|mcp|mcpl|ft|ftjob|modelrun|evt|trace|span|sha256|sha384|sha512)[_-]{1,2}"
)
"""What model services and agent frameworks begin their ids with."""
_PLAIN_NAMES = (
    r"(?:\w{0,30}_)?ids?|[a-z]\w{0,30}Ids?|(?:thought_?)?signature|thoughtSignature|encrypted_content|redactedContent|data"
    r"|etag|sha\d*|digest|checksum|hash|fingerprint|system_fingerprint|cursor|nextPageToken|next_page_token|nextToken"
)
"""JSON names of values that look random and open nothing."""
_RUN = "A-Za-z0-9+/_-"
_PATTERN = re.compile(
    rf"(?<![{_RUN}])(?P<kept>(?<=\\)(?:u[0-9a-fA-F]{{4}}|[nrtbf]))?[{_RUN}]{{{LEAST},}}+={{0,2}}"
)
_LOOKED_BACK = 300
"""Characters before a string that tell whether it stands in an address, or what its JSON name is."""
_NAMES_A_THING = re.compile(
    rf"\b(?:https?|wss?|file)://[^\s\"'<>\\]*$|\bdata:[\w/+.-]{{1,60}};base64,$"
    rf"|[\"'](?:{_PLAIN_NAMES})(?:\\*[\"'])\s*:\s*(?:\\*[\"'])$"
)
_AN_ID = re.compile(_IDS)
_NOT_RANDOM = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{16,}")
"""UUIDs and digests: they name things."""


def is_random(text: str) -> bool:
    """Return whether the string is probably a random secret: long, of high entropy, with mixed kinds of characters.

    >>> is_random("q7Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A")
    True
    >>> is_random("getCustomerOrderHistoryByAccountId2")
    False
    """
    left = _NOT_RANDOM.sub("", text).rstrip("=")
    if not LEAST <= len(left) <= MOST or len(text) > MOST or _entropy(left) < BITS_PER_CHARACTER:
        return False
    kinds = [kind_of(character) for character in left]
    share = sum(a != b for a, b in pairwise(kinds)) / (len(kinds) - 1)
    present = set(kinds)
    if {"digit", "small", "capital"} <= present:
        words = sum(map(len, WORD.findall(left))) / len(left)
        return share >= CHANGES and words <= WORDS and not _names_nothing_secret(text)
    return (
        "digit" in present and len(present) == 2 and "sign" not in present and share >= CHANGES_OF_TWO_KINDS
    )


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def kind_of(character: str) -> str:
    """Return what a character is: a digit, a small or a capital letter, or a sign."""
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "capital" if character.isupper() else "small"
    return "sign"


def _names_nothing_secret(text: str) -> bool:
    """Return whether the string is base64 of a harmless text: a cursor, a name, the content of a file."""
    url_safe = "-" in text or "_" in text
    try:
        decoded = base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_" if url_safe else None
        ).decode("ascii")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    printable = decoded.replace("\n", " ").isprintable()
    return printable and not any(True for form in (*SERVICES, *STRUCTURES) for _ in form.found_in(decoded))


def _is_secret(found: re.Match[str]) -> bool:
    text, begin, string = found.string, found.start(), secret_in(found)
    if _AN_ID.match(string) or not is_random(string):
        return False
    return _NAMES_A_THING.search(text[max(0, begin - _LOOKED_BACK) : begin]) is None


RANDOM = Form("random string", (), _PATTERN, _is_secret, before=())
"""Strings in the paths of addresses, in `data:` addresses, and ids of model services are left: they name things."""
