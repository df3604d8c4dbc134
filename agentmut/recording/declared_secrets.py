"""Secrets that a project declares: names whose values are secret, and regular expressions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentmut._base import LONGEST_SEARCH_SECONDS, BoundedPattern
from agentmut.recording.secret_forms import BEGINS, kept_of


class DeclaredSecrets:
    """The secrets that a project declares. Raise `ValueError` for an invalid expression or an empty match.

    A search for a pattern may take `seconds`.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        patterns: Iterable[str] = (),
        seconds: float = LONGEST_SEARCH_SECONDS,
    ) -> None:
        self._names = frozenset(name.lower() for name in names)
        self._patterns: list[Any] = [BoundedPattern(pattern, seconds) for pattern in patterns]
        if self._names:
            self._patterns.insert(0, _values_of(self._names))

    def found_in(self, text: str) -> Iterator[str]:
        """Yield the declared secrets in a text. Raise `RunError` if a regular expression exceeds its time bound."""
        for pattern in self._patterns:
            yield from (secret for found in pattern.finditer(text) if (secret := _divided(found)[1]))

    def masked(self, text: str, mask: str, left: frozenset[str] = frozenset()) -> str:
        """Return the text with each declared secret masked, except the secrets in `left`."""
        for pattern in self._patterns:
            pieces, end = [], 0
            for found in pattern.finditer(text):
                kept, secret = _divided(found)
                if secret and secret != mask and secret not in left:
                    pieces += [text[end : found.start()], kept, _in_its_place(found, mask)]
                    end = found.end()
            text = "".join((*pieces, text[end:])) if pieces else text
        return text

    def is_named(self, name: str) -> bool:
        """Return whether the values of a name are secret."""
        return name.lower() in self._names

    def values(self, environment: Mapping[str, str]) -> set[str]:
        """Return the values of the named variables, however short they are."""
        return {value for name, value in environment.items() if value and name.lower() in self._names}


def _divided(found: Any) -> tuple[str, str]:
    """Return what stays of a match, and the secret."""
    kept = kept_of(found) if isinstance(found, re.Match) else ""
    return kept, found[0][len(kept) :]


def _in_its_place(found: Any, mask: str) -> str:
    """Return the mask, in quotation marks where a number of JSON was: so JSON stays JSON."""
    quote = (found["mark"] or "") if isinstance(found, re.Match) and not found["open"] else ""
    return f"{quote}{mask}{quote}"


def _values_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the value after a name: `name=value`, `name: value`, and JSON strings and numbers."""
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(
        rf"(?P<kept>{BEGINS}(?i:{any_name})(?P<mark>\\*[\"'])?\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}(?P<open>\\*[\"'])?)"
        r"(?(open)(?:(?!(?<!\\)(?P=open))[^\r\n])+|[^\s\"'`,;&{}\[\]\\]+)"
    )
