"""What a document says of itself: its date, its version, its page number. No agent goes by that."""

import re

from agentmut.text import Instruction

_OPENS_LINE = re.compile(r"(?:^|\n)[^\w\n©(]*$")
_ITSELF = re.compile(
    r"(?:last\s+)?(?:updated|modified|revised|reviewed)\b|version\b|effective\b|(?:©|\(c\)|copyright\b)|page\s+\d",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r",\s+[a-z]|\b(?:is|are|was|were|has|have|must|may|can|will|should)\b|[:;]\s+[a-z]{4}")
_MOST_WORDS = 12


def is_metadata(text: str, sentence: Instruction) -> bool:
    """Whether a sentence is a line such as "Last updated: 3 March 2026" or "Page 2 of 5".

    Not one that begins alike and goes on to state something: "Version 2 has 5 ports."
    """
    said = sentence.text
    if not _OPENS_LINE.search(text[: sentence.start]) or not _ITSELF.match(said):
        return False
    return len(said.split()) <= _MOST_WORDS and not _CLAUSE.search(said)
