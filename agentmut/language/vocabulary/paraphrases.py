"""Say a sentence in another form, by rules that are sure of their pattern."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agentmut.language.vocabulary.neighbours import BASE_VERBS, DETERMINERS, PRONOUNS
from agentmut.language.vocabulary.orders import order_at
from agentmut.language.vocabulary.uses import in_condition


class Paraphrase(NamedTuple):
    """Other words for the characters `start` to `end` of a sentence."""

    start: int
    end: int
    text: str


_CONDITIONS = "if|when|whenever|unless|once|before|after"
_FRONTED = re.compile(
    rf"(?P<when>(?P<word>{_CONDITIONS}) [^,;:()\"“]+), (?:then )?(?P<rest>[^,;:()\"“]+?)(?P<stop>[.!]?)$",
    re.I,
)
_TRAILING = re.compile(
    r"(?P<rest>[^,;:()\"“]+?) (?P<when>(?P<word>if|when|before|after|unless) [^,;:()\"“]+?)(?P<stop>[.!]?)$"
)
_JOINED = re.compile(
    r"\b(?:and|or|but|so|then|if|when|whenever|unless|once|until|because|while|instead|otherwise|before|after)\b",
    re.I,
)
_ORDER = re.compile(r"(?:(?:always|never|do not|don't|please|you must|you should) )?(?P<verb>[a-z]+)\b", re.I)
# "Ask when ...", "Tell them if ...": the clause is what is asked or told, not a condition.
_OF_QUESTIONS = re.compile(
    r"\b(?:ask|check|verify|confirm|see|know|tell|say|decide|determine|find|find out|state|mention|explain|note|record|"
    r"inform|notify|clarify|specify|indicate|show|learn|look up|remember|remind|consider|establish|report|test)\b",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:only|even|as|just|except|and|or|not|long|soon|immediately|right|shortly|days?|hours?|minutes?|weeks?)$",
    re.I,
)
# "Tell them to wait if ...", "... that it is late when ...": the clause may belong to either verb.
_INNER = re.compile(r"\b(?:that|which|who|whose|how|what|where|why)\b|\bto (?P<verb>[a-z]+)", re.I)
_POINTS = re.compile(r"\b(?:it|they|them|this|that|these|those|he|she|him|her|its|their|one)\b", re.I)
_ALWAYS = re.compile(r"(?P<always>Always )(?P<verb>[a-z]+) ")
_NEVER = re.compile(r"Never (?P<verb>[a-z]+) ")
_MUST = re.compile(r"\b(?P<who>you|they|we|it|he|she) must(?= (?P<next>[a-z]+))", re.I)
_NEED = re.compile(r"\b(?P<who>[Yy]ou|[Tt]hey|[Ww]e) (?:need|have) to(?= (?P<next>[a-z]+))")
_CONTRACTED = {
    "do not": "don't", "does not": "doesn't", "cannot": "can't", "is not": "isn't", "are not": "aren't",
    "should not": "shouldn't", "did not": "didn't", "has not": "hasn't", "have not": "haven't",
}  # fmt: skip
_CONTRACTIONS = _CONTRACTED | {short: long for long, short in _CONTRACTED.items()}
_CONTRACTION = re.compile(rf"\b(?:{'|'.join(sorted(_CONTRACTIONS))})(?= [a-z])", re.I)


def paraphrases(text: str) -> Iterator[Paraphrase]:
    """Return other forms of one English sentence, the surest rule first.

    A condition moves to the end or to the front; "Always do" becomes "Make sure to always do", "Never" "You must
    never", "must" "need to" and back; "Do not" is contracted or spelled out. Left alone: several commas or
    joined clauses, where moving one part would change what belongs to what.

    >>> [one.text for one in paraphrases("Never promise a refund.")]
    ['You must never']
    """
    for rule in _RULES:
        yield from rule(text)


def _condition_to_the_end(text: str) -> Iterator[Paraphrase]:
    match = _FRONTED.match(text)
    if match and _is_simple_order(match["rest"]):
        if _POINTS.search(match["rest"]):  # "it" would come before what it points to
            return
        if not _OF_QUESTIONS.search(match["rest"]) or match["word"].lower() in ("before", "after"):
            said = f"{_upper(match['rest'])} {_lower(match['when'])}"
            yield Paraphrase(0, match.start("stop"), said)


def _condition_to_the_front(text: str) -> Iterator[Paraphrase]:
    match = _TRAILING.match(text)
    if not match or not _is_simple_order(match["rest"]):
        return
    asks = _OF_QUESTIONS.search(match["rest"]) and match["word"] in ("if", "when")
    if asks or _BOUND.search(match["rest"]) or "only" in match["rest"].lower().split():
        return
    condition = match["when"].split()
    points_back = _POINTS.search(match["when"])
    joined = _JOINED.search(match["when"], len(condition[0]))
    if (
        len(condition) > 2
        and not points_back
        and not joined
        and _begins_a_clause(match["word"], condition[1])
    ):
        said = f"{_upper(match['when'])}, {_lower(match['rest'])}"
        yield Paraphrase(0, match.start("stop"), said)


def _begins_a_clause(word: str, following: str) -> bool:
    gerund = word in ("before", "after") and following.endswith("ing")
    return gerund or following in DETERMINERS or following in PRONOUNS


def _always(text: str) -> Iterator[Paraphrase]:
    match = _ALWAYS.match(text)
    if match and match["verb"] in BASE_VERBS:
        yield Paraphrase(0, len("Always"), "Make sure to always")


def _never(text: str) -> Iterator[Paraphrase]:
    match = _NEVER.match(text)
    if match and match["verb"] in BASE_VERBS - {"mind"}:
        yield Paraphrase(0, len("Never"), "You must never")


def _must(text: str) -> Iterator[Paraphrase]:
    match = _MUST.search(text)
    if match and match["next"] in BASE_VERBS and not in_condition(text, match.start()):
        third = match["who"].lower() in ("it", "he", "she")
        yield Paraphrase(match.end("who") + 1, match.end(), "needs to" if third else "need to")


def _need(text: str) -> Iterator[Paraphrase]:
    match = _NEED.search(text)
    if match and match["next"] in BASE_VERBS and not in_condition(text, match.start()):
        yield Paraphrase(match.end("who") + 1, match.end(), "must")


def _contraction(text: str) -> Iterator[Paraphrase]:
    match = _CONTRACTION.search(text.replace("’", "'"))
    if match:
        said = _CONTRACTIONS[match.group().lower()]
        if match.group().isupper():
            said = said.upper()
        yield Paraphrase(*match.span(), _upper(said) if match.group()[0].isupper() else said)


_RULES: tuple[Callable[[str], Iterator[Paraphrase]], ...] = (
    _condition_to_the_end, _condition_to_the_front, _always, _never, _must, _need, _contraction,
)  # fmt: skip


def _is_simple_order(text: str) -> bool:
    """Return whether a text is one order without subordinate clauses that another clause could attach to."""
    inner = any(not m["verb"] or m["verb"].lower() in BASE_VERBS for m in _INNER.finditer(text))
    return not inner and not _JOINED.search(text) and _is_order(text)


def _is_order(text: str) -> bool:
    order = _ORDER.match(text)
    return (
        order is not None
        and order["verb"].lower() in BASE_VERBS
        and (order.start("verb") > 0 or order_at(text) == 0)
    )


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _lower(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text
