"""Find the word "one" and the figure 1 where they count something."""

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from agentmut.language.prompt.spans import Span
from agentmut.language.quantities.units import is_unit, plural_of
from agentmut.language.vocabulary.neighbours import BASE_VERBS, DETERMINERS, PRONOUNS, word_set

_ONE = re.compile(
    r"(?<![\w.,:/#+–$€£-])(?P<one>one|1)(?P<rest>(?:\s[a-z]+){1,4}(?![\w'’-])|(?=[.,;)]|\s*$))", re.IGNORECASE
)
_NEVER_AFTER = DETERMINERS | word_set("not day or and")
"""Before "one": no one, another one, this one, "the one hand", "one or one"."""
_BASIS = word_set("for per in about")
_COUNT_BEFORE = re.compile(r"\d[^.;:]*$")
"""A limit before "for one request": the one only says for what the limit is."""
_LIMITS = word_set(
    "in than most least only within after before exactly just to for with up under over maximum per about every"
)
_NO_NOUNS = (
    DETERMINERS
    | PRONOUNS
    | word_set(
        "of at by or and but that who which what whose when where while if unless until to from for with in on is are "
        "was were be been has have had do does did can could may might must shall should will would not no more "
        "less fewer than as go place hand way thing other side instead only per so then because since after "
        "before between during without within about"
    )
)
_IDIOM_AFTER = re.compile(r"\s+(?:or|after|to|by)\s+(?:another|one|the\s+(?:next|other))\b")
_THERE_IS = re.compile(r"\b(?:there\s+is|is\s+there|there['’]s)\b[^.,;:]*$", re.IGNORECASE)
_IS_LIMITED = re.compile(
    r"\b[Tt]here\s(?P<lead>is(?P<limit>(?:\s(?:at|more|less|than|most|least|only|exactly))*\s))$"
)
_SINGULAR_LATER = re.compile(r"\s+(?:per|for|of|in|at|from|on|that|which)\s[^.,;:]*?\b(?:is|was|has|does)\b")
_VERBS_AFTER = {"is": "are", "was": "were", "has": "have", "does": "do"} | {
    "fits": "fit", "applies": "apply", "matches": "match", "exists": "exist", "remains": "remain",
    "needs": "need", "fails": "fail", "works": "work", "appears": "appear", "comes": "come", "costs": "cost",
}  # fmt: skip
_VERB_AFTER = re.compile(rf"\s(?P<verb>{'|'.join(_VERBS_AFTER)})\b")
_NO_NOUN_ENDS = ("s", "ing", "ed")
_LAST_WORD = re.compile(r"(\w+)\s$")
_PER = re.compile(r"\s+(?:at\s+a\s+time|per|each)\b")
_WORD = re.compile(r"\w+")
_LONGEST_WORD = 40
_LONGEST_CLAUSE = 400
"""Characters before a number that are looked at for a limit."""


class CountedOne(NamedTuple):
    """A counted "one", and the text around any other number; only `start` to `end` changes."""

    start: int
    number: Span
    end: int
    lead: str
    """The text before the number: "are only " for "is only ", mostly empty."""
    plural: str
    """The text after the number: " labels" for " label"; empty in "more than one"."""


def counted_ones(text: str) -> Iterator[CountedOne]:
    """Return where "one" or 1 counts the noun after it and could as well be two.

    >>> text = "Answer in one sentence, not one of them; if more than one label fits, ask."
    >>> [(text[one.start : one.end], one.plural) for one in counted_ones(text)]
    [('one sentence', ' sentences'), ('one label fits', ' labels fit')]
    """
    for match in _ONE.finditer(text):
        last = _LAST_WORD.search(text[max(0, match.start() - _LONGEST_WORD) : match.start()])
        before = last[1].lower() if last else ""
        found = None
        is_basis = before in _BASIS and _COUNT_BEFORE.search(
            text[max(0, match.start() - _LONGEST_CLAUSE) : match.start()]
        )
        if before not in _NEVER_AFTER and not is_basis:
            found = _with_noun(text, match, before) if match["rest"] else _alone(match, before)
        if found is not None and (agreeing := _with_lead(text, found)):
            yield agreeing


def _with_lead(text: str, counted: CountedOne) -> CountedOne | None:
    """Change "there is" before the number too. Return None if it stands too far away."""
    said = text[: counted.start]
    if not _THERE_IS.search(said):
        return counted
    lead = _IS_LIMITED.search(said)
    return counted._replace(start=lead.start("lead"), lead=f"are{lead['limit']}") if lead else None


def _alone(match: re.Match[str], before: str) -> CountedOne | None:
    counts = before in ("than", "most") and match["one"].isalpha()
    number = Span(*match.span("one"))
    return CountedOne(number.start, number, number.end, "", "") if counts else None


def _with_noun(text: str, match: re.Match[str], before: str) -> CountedOne | None:
    noun, number = _noun(match), Span(*match.span("one"))
    if noun is None or _IDIOM_AFTER.match(text, noun.end()) or _SINGULAR_LATER.match(text, noun.end()):
        return None
    named = noun.start() == number.end + 1 and is_unit(noun.group())
    counts = before in _LIMITS or before in BASE_VERBS or _PER.match(text, noun.end()) is not None
    if not (counts or named):
        return None
    plural = text[number.end : noun.start()] + plural_of(noun.group())
    verb = _VERB_AFTER.match(text, noun.end())
    if verb is None:
        return CountedOne(number.start, number, noun.end(), "", plural)
    return CountedOne(number.start, number, verb.end(), "", f"{plural} {_VERBS_AFTER[verb['verb']]}")


def _noun(match: re.Match[str]) -> re.Match[str] | None:
    """Return the last word before a word that cannot continue a noun phrase; None where that is unclear."""
    words = [*_WORD.finditer(match.string, match.start("rest"), match.end("rest"))]
    phrase = [*takewhile(_may_be_in_phrase, words)]
    goes_on = len(phrase) == len(words) and match.string[match.end() : match.end() + 1] == " "
    mixed = any(is_unit(one.group()) and not is_unit(two.group()) for one, two in pairwise(phrase))
    if not phrase or goes_on or mixed or phrase[-1].group().endswith(_NO_NOUN_ENDS):
        return None
    return phrase[-1]


def _may_be_in_phrase(word: re.Match[str]) -> bool:
    said = word.group()
    return said not in _NO_NOUNS and said not in _VERBS_AFTER and not said.endswith("ly")
