"""Arguments of calls that contradict the user's words: the user gives the value for another thing."""

import re
from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from agentmut.insight.explain.views import View
from agentmut.judging import as_text
from agentmut.language import stem, stems, words

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_GENERIC = frozenset(map(stem, ("id", "ids", "number", "no", "nr", "name", "code", "key", "ref", "nummer")))
"""Words of a parameter's name that say the kind of value, and not whose it is."""
BEFORE = 2
"""Content words in front of a value that may say what it is."""


def is_misplaced(name: str, value: JsonValue, text: str, names: Collection[str]) -> bool:
    """Return whether the user's words beside a value speak of another parameter among `names`, and not of this one.

    >>> said, names = "It is about policy number N-7. Damage: 40 pounds.", ("policy_number", "claim_number", "damage")
    >>> [is_misplaced(name, "N-7", said, names) for name in ("claim_number", "policy_number")]
    [True, False]
    >>> is_misplaced("damage", 40, said, names)
    False
    """
    own = telling_words(name)
    others = frozenset[str]().union(*map(telling_words, names)) - own
    beside = words_beside(as_text(value), text)
    return bool(own) and own.isdisjoint(beside) and not others.isdisjoint(beside)


def has_misplaced(made: Mapping[str, JsonValue], text: str, names: Collection[str]) -> bool:
    """Return whether any of the arguments of a call is misplaced."""
    return any(is_misplaced(name, value, text, names) for name, value in made.items())


def parameters_of(runs: Sequence[View]) -> frozenset[str]:
    """Return the names of all arguments that runs give to tools."""
    return frozenset(name for view in runs for _, made in view.calls for name in made)


def telling_words(name: str) -> frozenset[str]:
    """Return the stems of a parameter's name that say whose value it is: `ticket` of `ticket_number`."""
    return stems(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)) - _GENERIC


def words_beside(value: str, text: str) -> frozenset[str]:
    """Return the stems next to a value in a user's sentences: two before it, and for a number the one behind it."""
    found: set[str] = set()
    number = value.removesuffix(".0")
    for sentence in _SENTENCE.split(text):
        for match in re.finditer(rf"(?<!\w){re.escape(number)}(?!\w)", sentence, re.I):
            before = [stem(one.text) for one in words(sentence[: match.start()])]
            found.update([one for one in before if one not in _GENERIC][-BEFORE:])
            if number.replace(".", "", 1).isdecimal():
                found.update(stem(one.text) for one in words(sentence[match.end() :])[:1])
    return frozenset(found)
