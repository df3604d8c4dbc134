"""Texts on which a regular expression may take more than linear time, made of the expression's own parts."""

import re
from collections.abc import Iterator
from itertools import product
from re import _constants as code  # type: ignore[attr-defined]  # the parser has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

COMMON = (
    *"aA0 \n\t_-.,:/\\\"'`*#<([{|=&%@é“„",
    *(
        "a ",
        "a. ",
        "a, ",
        "0 ",
        "0,",
        "a\n",
        "- a\n",
        "a.",
        "a-",
        "a_",
        "a/",
        "A ",
        "((",
        "<a ",
        '{"a":',
        "{{",
        "{%",
    ),
    *('"a" ', '\\"', "\r\n", " \n", "1. a\n", "# a\n", "```\n"),
)
"""What is repeated, whatever the expression is."""
LETTERS = "a0 \n.-_A\"'(,:/*#<@é\te1"
CHOICES = 3
"""The first alternatives of a branch, and characters of a set, that are tried."""
CATEGORIES = {
    code.CATEGORY_DIGIT: "0", code.CATEGORY_WORD: "a", code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_DIGIT: "a", code.CATEGORY_NOT_WORD: " ", code.CATEGORY_NOT_SPACE: "a",
}  # fmt: skip
MANY = 100
"""A repeat with at least so large a bound counts as one without."""


class Hostile(NamedTuple):
    """A beginning, a piece that is repeated, and an end that does not match."""

    before: str
    piece: str
    after: str

    def text(self, size: int) -> str:
        """Return about so many characters."""
        return self.before + (self.piece * (size // len(self.piece) + 1))[:size] + self.after


def hostile_texts(pattern: "re.Pattern[str]") -> list[Hostile]:
    """Return texts of which one is likely to show that a search takes more than linear time."""
    tree = list(parser.parse(pattern.pattern, pattern.flags))
    pairs = {(before[:200], piece[:200]) for before, piece in _pairs(tree, [])}
    for choice, short in product(range(CHOICES), (False, True)):
        whole = _sample(tree, choice, short)[:200]
        pairs |= {("", whole), ("", whole[:-1]), ("", whole[: (len(whole) + 1) // 2])}
    pairs |= {("", piece) for piece in COMMON}
    return [Hostile(*pair, after) for pair, after in product(sorted(pairs), ("", "\0")) if pair[1]]


def _pairs(items: list[Any], before: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield for each repeat what leads to it, and what it repeats, alone and with its neighbours."""
    before = list(before)
    for place, (kind, given) in enumerate(items):
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            if given[1] >= MANY:
                yield from _around(before, list(given[2]), items[place + 1 :])
            yield from _pairs(list(given[2]), before)
        for inner in _inner(kind, given):
            yield from _pairs(list(inner), before)
        before.append((kind, given))


def _around(before: list[Any], repeated: list[Any], after: list[Any]) -> Iterator[tuple[str, str]]:
    for choice, short in product(range(CHOICES), (False, True)):
        lead, piece = _sample(before, choice, short), _sample(repeated, choice, short)
        yield lead, piece
        yield "", piece
        yield "", lead + piece
        yield lead, piece + _sample(after[:1], choice, short)
        yield "", lead + piece + _sample(after[:-1], choice, short)


def _inner(kind: Any, given: Any) -> list[Any]:
    """Return the parts of a group, a branch or an assertion."""
    if kind is code.SUBPATTERN:
        return [given[3]]
    if kind is code.BRANCH:
        return list(given[1])
    if kind is code.ATOMIC_GROUP:
        return [given]
    return [given[1]] if kind in (code.ASSERT, code.ASSERT_NOT) else []


def _sample(items: Any, choice: int, short: bool) -> str:
    """Return a text that the items match, in most cases."""
    return "".join(_sample_of(kind, given, choice, short) for kind, given in items)


def _sample_of(kind: Any, given: Any, choice: int, short: bool) -> str:
    if kind is code.LITERAL:
        return chr(given)
    if kind is code.NOT_LITERAL:
        return next(letter for letter in LETTERS[choice:] if letter != chr(given))
    if kind is code.ANY:
        return "a0 "[choice]
    if kind is code.IN:
        return _of_set(given, choice)
    if kind in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
        times: int = given[0] if short else max(given[0], 1)
        return _sample(given[2], choice, short) * min(times, 50)
    if kind is code.BRANCH:
        return _sample(given[1][choice % len(given[1])], choice, short)
    return _sample(given[3] if kind is code.SUBPATTERN else given, choice, short) if _is_group(kind) else ""


def _is_group(kind: Any) -> bool:
    return kind in (code.SUBPATTERN, code.ATOMIC_GROUP)


def _of_set(given: Any, choice: int) -> str:
    """Return one of the characters of a set; of a set that excludes, the first common ones that are left."""
    if given[0][0] is not code.NEGATE:
        return _letter(*given[choice % len(given)])
    fits = [letter for letter in LETTERS if not any(_holds(one[0], one[1], letter) for one in given[1:])] or [
        "a"
    ]
    return fits[choice % len(fits)]


def _letter(kind: Any, given: Any) -> str:
    if kind is code.CATEGORY:
        return CATEGORIES[given]
    return chr(given[0] if kind is code.RANGE else given)


def _holds(kind: Any, given: Any, letter: str) -> bool:
    if kind is code.CATEGORY:
        name = str(given).rpartition("_")[2][0].lower()
        name = name.upper() if "NOT" in str(given) else name
        return re.match(rf"\{name}", letter) is not None
    return bool(given[0] <= ord(letter) <= given[1] if kind is code.RANGE else ord(letter) == given)
