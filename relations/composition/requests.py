"""The independent requests in a message."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.language import BASE_VERBS, Span, identifiers, order_at, sentence_spans, words
from agentmut.relations.refers_back import refers_back
from agentmut.relations.turns import names_a_thing

MOST = 4
"""Requests of one message; a longer list is a task of its own."""
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+(?P<said>\S.*)$")
_LINKED = re.compile(
    r"^(?:and|also|plus|besides|additionally|furthermore|in addition)\b,?\s*(?:also\b,?\s*)?", re.I
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have)"
_AND_ASKS = re.compile(
    rf"(?:,|(?<!\s))\s++and\s++(?:also\s+)?(?=(?:(?:how(?:\s+\w+)?|what|when|where|who|why|which(?:\s+\w+)?)\s+)?{_AUXILIARY}\s+\w)",
    re.I,
)
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|that|this|those|these|then|both|same|instead|otherwise|there|he|she|him|her|his|"
    r"another|again|else|ones?|"
    r"too|as well|either|likewise|such|others?|still|yet|afterwards|therefore|former|latter|above|previous)\b|"
    r"\bif (?:so|not)\b|^(?:how|what) about\b",
    re.I,
)
_COURTESY = re.compile(
    r"^(?:thank|thanks|have an?|take care|let me (?!know)|let['’]?s|hold on|bye|good|wait|see you|look forward)\b",
    re.I,
)
_LABELLED = re.compile(r"^\w+(?: \w+){0,2}:")
_ACTS = re.compile(
    r"^(?:can|could|will|would) (?:you|we) (?!tell|say|explain|let|confirm|ship|offer|sell|have)", re.I
)
_OF_YOU = re.compile(r"\b(?:do|are|is|what|which|when|where)(?: \w+)? (?:you|your)\b", re.I)
_PERSONAL = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.I)
_POLITE = re.compile(r"^(?:please|kindly|now|next|first|second|finally),?\s+", re.I)
_ACCEPTS = re.compile(
    r"^(?:yes|no|yeah|yep|nope|ok|okay|sure|thanks|thank you|correct|right|exactly|fine|great|please do|go ahead)\b",
    re.I,
)


_AGREES = re.compile(
    r"\b(?:go ahead|please do|proceed|confirm(?:ed|s)?|agreed?|do (?:it|that|so)|as planned|right away)\b",
    re.I,
)


class Requests(NamedTuple):
    """The requests of a message, and its other statements."""

    statements: tuple[str, ...]
    """Sentences that ask nothing, such as the number of the order."""
    asked: tuple[str, ...]

    def alone(self, number: int) -> str:
        """Return one of the requests, with the statements that all requests share."""
        return " ".join((*self.statements, self.asked[number]))


def independent_requests(message: str) -> Requests | None:
    """Return two to four requests of a message that are independent of each other; else None.

    A request is a question, an order, or an item of a list. "Refund it, and then ..." depends on what stands before.

    >>> independent_requests("My order is A-1. When will it come? Also, do you ship to Peru?").asked
    ('When will it come?', 'Do you ship to Peru?')
    >>> independent_requests("Where is my order? Can you cancel it?")
    """
    found = _of_list(message) or _of_sentences(message)
    if not 2 <= len(found.asked) <= MOST or lean_on_each_other(found.asked):
        return None
    if not found.statements and depends(found.asked[0]):
        return None
    return found


def lean_on_each_other(requests: Sequence[str]) -> bool:
    """Return whether one of several requests refers to the content of another.

    >>> lean_on_each_other(["Where is order A-1?", "Please cancel the order."])
    True
    """
    later = list(enumerate(requests))[1:]
    if any(depends(one) or refers_back(one, requests[:place]) for place, one in later):
        return True
    return _one_says_whose(requests) or _one_follows_from_a_deed(requests)


def _one_follows_from_a_deed(requests: Sequence[str]) -> bool:
    """Return whether a request may ask about the outcome of an action in another: "How much do I pay?"."""
    deeds = [one for one in requests if not one.endswith("?") or _ACTS.match(_POLITE.sub("", one))]
    others = [one for one in requests if not any(True for _ in identifiers(one)) and not _OF_YOU.search(one)]
    return any(other is not deed for deed in deeds for other in others)


def _one_says_whose(requests: Sequence[str]) -> bool:
    """Return whether an id in one request may be missing in another: "What is my plan? I am ada@example.com"."""
    named = [any(True for _ in identifiers(request)) for request in requests]
    personal = any(_PERSONAL.search(request) for request, has in zip(requests, named, strict=True) if not has)
    return any(named) and personal


def depends(message: str) -> bool:
    """Return whether a message refers to earlier messages.

    >>> depends("Can you cancel it?"), depends("Yes, please."), depends("What does shipping cost?")
    (True, True, False)
    """
    return bool(_REFERS.search(message) or _ACCEPTS.match(message.strip()))


def accepts(message: str) -> bool:
    """Return whether a message may consent to what was asked back.

    >>> accepts("Hello. Yes, please."), accepts("I confirm it."), accepts("What does shipping cost?")
    (True, True, False)
    """
    starts = (_ACCEPTS.match(sentence.strip()) for sentence in re.split(r"[.!?\n]", message))
    return any(starts) or _AGREES.search(message) is not None


def asks(message: str) -> bool:
    """Return whether a message contains a question or an order."""
    return bool(_of_list(message) or _of_sentences(message).asked)


def _of_list(message: str) -> Requests | None:
    lines = [line for line in message.splitlines() if line.strip()]
    items = [match["said"].strip() for line in lines if (match := _ITEM.match(line))]
    if len(items) < 2 or not all(map(_is_request, items)):
        return None
    statements = [line.strip() for line in lines if not _ITEM.match(line) and not line.rstrip().endswith(":")]
    return Requests(tuple(statements), tuple(items))


def _of_sentences(message: str) -> Requests:
    statements: list[str] = []
    asked: list[str] = []
    for sentence in _sentences(message):
        (asked if _is_request(sentence) else statements).append(sentence)
    return Requests(tuple(statements), tuple(asked))


def _sentences(message: str) -> Iterator[str]:
    for span in sentence_spans(message, Span(0, len(message)), ()):
        sentence = message[span.start : span.end]
        parts: Sequence[str] = _AND_ASKS.split(sentence) if sentence.endswith("?") else (sentence,)
        for number, part in enumerate(parts, start=1):
            whole = _LINKED.sub("", part)
            ended = whole if number == len(parts) else f"{whole}?"
            yield ended[:1].upper() + ended[1:]


def _is_request(sentence: str) -> bool:
    plain = _POLITE.sub("", sentence)
    if _COURTESY.match(plain) or (_LABELLED.match(plain) and not sentence.rstrip().endswith("?")):
        return False
    if sentence.rstrip().endswith("?"):
        return True
    first, *following = [word.text.lower() for word in words(plain)[:2]] or [""]
    # "Cancel order A-1042." orders, "Order A-1042 is late." does not.
    return not names_a_thing(plain) and (
        order_at(plain) is not None or (first in BASE_VERBS and bool(following))
    )
