"""Find lines of metadata in a document: date, version, page number. No agent decides by them."""

import re

from agentmut.language import MONTH, Instruction

_THEN = rf"[\s*_]*(?::|\bv?\d|\b(?:{MONTH}|on|in|as\s+of|date|from|since|by)\b)"
_ITSELF = re.compile(
    rf"[^\w©(]*(?:(?:(?:last\s+)?(?:updated|modified|revised|reviewed)|version|effective|page){_THEN}"
    r"|©|copyright\b|\(c\)\s*(?:copyright\b|(?:19|20)\d\d))",
    re.IGNORECASE,
)
_OPENS_LINE = re.compile(r"[^\w©(]*(?:\(c\)\s*)?", re.IGNORECASE)
_CLAUSE = re.compile(r",\s+[a-z]|\b(?:is|are|was|were|has|have|must|may|can|will|should)\b")
_MOST_WORDS = 12


def is_metadata(text: str, sentence: Instruction) -> bool:
    """Whether a sentence is a line such as "Last updated: 3 March 2026" or "Page 2 of 5".

    Not one that begins alike and goes on to state something: "Version 2 has 5 ports."
    """
    line = text.rfind("\n", 0, sentence.start) + 1
    if not _OPENS_LINE.fullmatch(text, line, sentence.start):
        return False
    said = text[line : sentence.end]
    return bool(_ITSELF.match(said)) and len(said.split()) <= _MOST_WORDS and not _CLAUSE.search(said)
