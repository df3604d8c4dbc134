"""The requests of a message that do not depend on each other."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentmut.text.neighbours import AMBIGUOUS_VERBS, BASE_VERBS, word_set
from agentmut.text.orders import order_at
from agentmut.text.sentences import sentence_spans
from agentmut.text.spans import Span
from agentmut.text.words import words

MOST = 4
"""Requests of one message; a longer list is a task of its own."""
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+(?P<said>\S.*)$")
_LINKED = re.compile(
    r"^(?:and|also|plus|besides|additionally|furthermore|in addition)\b,?\s*(?:also\b,?\s*)?", re.I
)
_AND_ASKS = re.compile(
    r",?\s+and\s+(?:also\s+)?(?=(?:how|what|when|where|who|why|which|can|could|will|would|is|are|do|does|did|has|have)"
    r"\s+\w)",
    re.I,
)
_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|that|this|those|these|then|both|same|instead|otherwise|there|he|she|him|her|his|"
    r"another|again|one|afterwards|therefore|former|latter|above|previous)\b|\bif (?:so|not)\b",
    re.I,
)
_FINITE = word_set("is are was were has had did does can cannot will would should must could never not")
_POLITE = re.compile(r"^(?:please|kindly|now|next|first|second|finally),?\s+", re.I)
_ACCEPTS = re.compile(
    r"^(?:yes|no|yeah|yep|nope|ok|okay|sure|thanks|thank you|correct|right|exactly|fine|great|please do|go ahead)\b",
    re.I,
)


class Requests(NamedTuple):
    """What a message asks, and what it tells besides."""

    told: tuple[str, ...]
    """Sentences that ask nothing, such as the number of the order."""
    asked: tuple[str, ...]

    def alone(self, number: int) -> str:
        """One of the requests, with what is told."""
        return " ".join((*self.told, self.asked[number]))


def independent_requests(message: str) -> Requests | None:
    """The requests of a message, where there are two to four and none speaks of another; else None.

    A request is a question, an order, or an item of a list. "Refund it, and then ..." depends on what stands before.

    >>> independent_requests("My order is A-1. When will it come? Also, do you ship to Peru?").asked
    ('When will it come?', 'Do you ship to Peru?')
    >>> independent_requests("Where is my order? Can you cancel it?")
    """
    found = _of_list(message) or _of_sentences(message)
    if not 2 <= len(found.asked) <= MOST or any(depends(request) for request in found.asked[1:]):
        return None
    if not found.told and depends(found.asked[0]):
        return None
    return found


def depends(message: str) -> bool:
    """Whether a message speaks of something that was said before it.

    >>> depends("Can you cancel it?"), depends("Yes, please."), depends("What does shipping cost?")
    (True, True, False)
    """
    return bool(_REFERS.search(message) or _ACCEPTS.match(message.strip()))


def asks(message: str) -> bool:
    """Whether a message has a question or an order in it."""
    return bool(_of_list(message) or _of_sentences(message).asked)


def _of_list(message: str) -> Requests | None:
    lines = [line for line in message.splitlines() if line.strip()]
    items = [match["said"].strip() for line in lines if (match := _ITEM.match(line))]
    if len(items) < 2 or not all(map(_is_request, items)):
        return None
    told = [line.strip() for line in lines if not _ITEM.match(line) and not line.rstrip().endswith(":")]
    return Requests(tuple(told), tuple(items))


def _of_sentences(message: str) -> Requests:
    told: list[str] = []
    asked: list[str] = []
    for sentence in _sentences(message):
        (asked if _is_request(sentence) else told).append(sentence)
    return Requests(tuple(told), tuple(asked))


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
    if sentence.rstrip().endswith("?"):
        return True
    first, *following = [word.text.lower() for word in words(plain)[:4]] or [""]
    # "Cancel order A-1042." orders, "Order A-1042 is late." does not.
    names = first in AMBIGUOUS_VERBS and bool(_FINITE.intersection(following))
    return not names and (order_at(plain) is not None or (first in BASE_VERBS and bool(following)))
