"""How the agents of this folder talk: at length, in other words each time, in any order.

Chance is that of the trial, so that a run can be repeated. The paraphrases were written for what the agents say, as
people and models put it, and without regard to what agentmut reads.
"""

import random
import re
from collections.abc import Iterable

SMALL_TALK = (
    "Thank you for getting in touch with us!", "Great question.", "I hope this helps.", "Have a lovely day!",
    "Let me know if there is anything else that I can do for you.", "I had a look at our pages for you.",
    "Happy to help with that.", "Thanks a lot for your patience.", "Here is what I found out.",
    "We are always glad to hear from our customers.", "Please do not hesitate to write again.",
)  # fmt: skip
ASIDES = (
    "We have been open since 1987.", "We answer within 24 hours.", "Our customers give us 4.8 of 5 stars.",
    "You can also call us at 0800 123 456.", "We can't wait to hear from you!", "No problem at all!",
    "You can always write to us.", "We do not mind questions.", "Our team of 12 is happy to help.",
    "Two of my colleagues have looked at it as well.", "I am not a lawyer, of course.",
)  # fmt: skip
"""What may stand beside any answer, with figures and negations that have nothing to do with it."""
PARAPHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"unused goods can be returned within (\d+) days of delivery",
        (
            r"you have \1 days from delivery to send unused goods back",
            r"returns of unused goods are accepted for \1 days after delivery",
            r"as long as they are unused, goods may come back to us up to \1 days after delivery",
            r"unused goods? No problem, you can return them within \1 days of delivery",
        ),
    ),
    (
        r"express delivery costs ([\d.]+) euros",
        (
            r"the price of express delivery is €\1",
            r"for express delivery we charge EUR \1",
            r"express delivery is priced at **\1 euros**",
            r"if you are in a hurry: express delivery comes at €\1",
        ),
    ),
    (
        r"the warranty on tents lasts (\d+) months",
        (
            r"tents come with a \1-month warranty",
            r"our tents are under warranty for \1 months",
            r"the warranty period of our tents is \1 months",
        ),
    ),
    (
        r"worn boots cannot be returned",
        (
            r"unfortunately, boots that have been worn can't be returned",
            r"I'm afraid that we are unable to take worn boots back",
            r"we do not accept returns of boots that were worn",
            r"boots are not returnable once they have been worn",
            r"regrettably, returning worn boots is not possible",
        ),
    ),
    (
        r"orders of last year cannot be refunded",
        (
            r"unfortunately, we can't refund orders of last year",
            r"I am sorry, but a refund is not possible for an order of last year",
            r"an order that was placed last year is no longer eligible for a refund",
            r"we have to decline: orders from last year are not refundable",
            r"I'm afraid we're unable to refund an order from last year",
            r"refunding an order of last year is not something that we can offer",
        ),
    ),
)


def at_length(rng: random.Random, text: str, talk: bool = True) -> str:
    """A text in other words, its sentences in any order, with some that say nothing."""
    said = [reworded(rng, sentence) for sentence in sentences(text)]
    rng.shuffle(said)
    if not talk:
        return " ".join(said)
    before, after = rng.sample(["", "", *SMALL_TALK], 2)
    if rng.random() < 0.15:
        said.insert(rng.randrange(len(said) + 1), rng.choice(ASIDES))
    if len(said) > 1 and rng.random() < 0.25:
        numbered = rng.random() < 0.5
        points = (f"{number}. {one}" if numbered else f"- {one}" for number, one in enumerate(said, start=1))
        return "\n".join(filter(None, (before, *points, after)))
    return " ".join(filter(None, (before, *said, after)))


def sentences(text: str) -> list[str]:
    """The sentences of a model's answer that say something: without what it says about itself."""
    found = re.split(r"(?<=[.!?])\s+", text.strip())
    idle = re.compile(r"You asked:|I have gone through|Please note what", re.IGNORECASE)
    return [one for one in dict.fromkeys(found) if one and not idle.match(one) and not one.endswith("?")]


def reworded(rng: random.Random, sentence: str) -> str:
    """One of the ways to say a sentence."""
    for pattern, others in PARAPHRASES:
        said = re.sub(pattern, rng.choice(("\\g<0>", *others)), sentence, count=1, flags=re.IGNORECASE)
        if re.search(pattern, sentence, re.IGNORECASE):
            return said[:1].upper() + said[1:]
    return sentence


def joined(items: Iterable[str]) -> str:
    """Items as a list in prose."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
