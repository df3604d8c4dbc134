"""Whether a step names a tool's action: its verb, or a close synonym, and its object."""

import re
from functools import lru_cache

from agentmut._base import shipped
from agentmut.language import stem
from agentmut.simulator.mind.language import Topics, topics
from agentmut.simulator.mind.verbs import VERBS

_ALIKE = shipped("agentmut.simulator.mind", "word_lists")["verbs_of_one_deed"]
_LIGHT = "do make issue give grant process perform start"
"""With these the deed is in the noun: "make a transfer"."""
_ANY = topics("anything something everything one any of them")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_PASSIVE = re.compile(
    r"^(?P<what>.+?)(?<!\s)\s+(?:(?:must|may|should|can|shall|will)\s*(?:not|never)\s+be|(?:is|are)\s+(?:not|never))\s+"
    r"(?P<verb>\w+)\b",
    re.I,
)


@lru_cache(maxsize=1_024)
def _root(word: str) -> str:
    return stem(word.lower()).removesuffix("i")


_GROUPS = tuple(frozenset(map(_root, line.split())) for line in _ALIKE)


@lru_cache(maxsize=4_096)
def deed(phrase: str) -> tuple[str, Topics]:
    """Return the verb of a step, and its object.

    >>> deed("dim the lamp") == deed("Lamps must never be dimmed")
    True
    """
    if (match := _PASSIVE.match(phrase)) is not None:
        return _root(match["verb"]), topics(match["what"]) - _ANY
    verb, _, matter = phrase.partition(" ")
    return _root(verb.strip(",.")), topics(matter) - _ANY


@lru_cache(maxsize=1_024)
def doings(name: str, description: str) -> Topics:
    """Return the verbs of a tool: the first word of its name, or else of its description.

    >>> sorted(doings("send lamp", "Post a lamp."))
    ['send']
    """
    first, *others = _WORD.findall(name.lower()) or [""]
    if first in VERBS:
        return frozenset([_root(first)])
    first_words = _WORD.findall(description)[:1]
    return frozenset(map(_root, [first, *first_words, *(word for word in others if word in VERBS)]))


def same_verb(verb: str, doing: Topics) -> bool:
    """Return whether a verb is among a tool's, or a close synonym of one."""
    return verb in doing or any(verb in group and group & doing for group in _GROUPS)


def does(phrase: str, doing: Topics, named: Topics, described: Topics) -> bool:
    """Return whether a step is a tool's action, by its verbs and the topics of its name and description.

    With the tool's own verb the object may be in the description; with a synonym it has to be in the name.
    """
    verb, matter = deed(phrase)
    if verb in doing:
        return not matter or bool(matter & (named | described) - doing)
    if same_verb(verb, doing) and matter & named - doing:
        return True
    return verb in _LIGHT_ROOTS and bool(matter & doing)


def about_same(phrase: str, other: str) -> bool:
    """Return whether two steps have the same object; a step without an object fits any."""
    matter, others = deed(phrase)[1], deed(other)[1]
    return not matter or bool(matter & others)


_LIGHT_ROOTS = frozenset(map(_root, _LIGHT.split()))
