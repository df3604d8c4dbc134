"""Given ids that are like another id, found without a look at all given ids.

Ids are their letters and digits in upper case. An id that resembles another is equal to it once a character of one id
or of both is left out, or it has the same letters and as many digits. So an index by these forms finds it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge

from agentmut._base import ends_in_common

_PREFIX = re.compile(r"[A-Za-z]{2,}")
_FORM = re.compile(r"(?P<letters>[A-Z]*)(?P<digits>\d+)")
SHORTEST = 4
"""Letters and digits of an id that can be told from another by one of them."""
LONGEST = 64
"""Characters of an id that is found by what is left without one of them; longer ids are found by their length."""

_Positions = dict[str | int, list[int]]


@dataclass
class LikeIds:
    """Given ids in the order in which they were first given. An id is indexed when the next one is looked for."""

    order: list[str] = field(default_factory=list)
    _indexed: int = field(default=0, compare=False)
    _near: _Positions = field(default_factory=dict, compare=False)
    _forms: _Positions = field(default_factory=dict, compare=False)
    _numbers: _Positions = field(default_factory=dict, compare=False)
    _letters: _Positions = field(default_factory=dict, compare=False)

    def resembling(self, own: str) -> Iterator[str]:
        """Yield the given ids that an id resembles, in their order."""
        self._index()
        alike = self._forms.get(_form(own), []) if _PREFIX.match(own) else []
        before = -1
        for at in merge(_found(self._near, own), alike):
            if at != before and resembles(own, self.order[at]):
                yield self.order[at]
            before = at

    def short_of(self, own: str) -> Iterator[str]:
        """Yield the given ids whose number an id resembles, as 1043 and A-1042; or the only short id of its form."""
        self._index()
        if not own.isdecimal():
            yield from self._the_other(own)
            return
        for at in _found(self._numbers, own):
            if resembles(own, _digits(self.order[at])):
                yield self.order[at]

    def _the_other(self, own: str) -> Iterator[str]:
        """Yield the id that differs by one digit and is the only one of its form, as A-8 from A-7."""
        form = _FORM.fullmatch(own)
        if not form or not form["letters"] or len(same := self._letters.get(form["letters"], [])) != 1:
            return
        other = self.order[same[0]]
        if len(own) == len(other) and sum(a != b for a, b in zip(own, other, strict=True)) == 1:
            yield other

    def _index(self) -> None:
        for at in range(self._indexed, len(self.order)):
            own = self.order[at]
            _put(self._near, _index_keys(own), at)
            if _PREFIX.match(own):
                _put(self._forms, (_form(own),), at)
            if form := _FORM.fullmatch(own):
                _put(self._numbers, _index_keys(form["digits"]), at)
                _put(self._letters, (form["letters"],), at)
        self._indexed = len(self.order)


def resembles(identifier: str, other: str) -> bool:
    """Return whether one character differs, two neighbours have changed places, or only digits differ."""
    if min(len(identifier), len(other)) < SHORTEST:
        return False
    start, end = ends_in_common(identifier, other)
    left, right = identifier[start : len(identifier) - end], other[start : len(other) - end]
    swapped = len(left) == len(right) == 2 and left == right[::-1]
    if swapped or (len(left) <= 1 and len(right) <= 1):
        return True
    mine, others = _PREFIX.match(identifier), _PREFIX.match(other)
    same_prefix = mine is not None and others is not None and mine.group() == others.group()
    return same_prefix and _form(identifier) == _form(other)


def number_of(own: str) -> int:
    """Return the number of an id that is letters and digits; -1 for any other id."""
    return int(_digits(own) or -1)


def _digits(own: str) -> str:
    match = _FORM.fullmatch(own)
    return match["digits"] if match else ""


def _form(own: str) -> str:
    return re.sub(r"\d", "9", own)


def _put(positions: _Positions, keys: Iterable[str | int], at: int) -> None:
    for key in keys:
        positions.setdefault(key, []).append(at)


def _found(positions: _Positions, own: str) -> list[int]:
    """Return where ids stand that have a key in common with an id, in order."""
    return sorted({at for key in _sought_keys(own) for at in positions.get(key, ())})


def _index_keys(own: str) -> Iterable[str | int]:
    return _without_one(own) if len(own) <= LONGEST else (len(own),)


def _sought_keys(own: str) -> Iterable[str | int]:
    long = range(max(LONGEST, len(own) - 2) + 1, len(own) + 2)
    return (*long, *(_without_one(own) if len(own) <= LONGEST + 1 else ()))


def _without_one(own: str) -> set[str]:
    """Return the id, and what is left of it without any one character."""
    return {own, *(own[:at] + own[at + 1 :] for at in range(len(own)))}
