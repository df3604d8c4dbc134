"""Words that bind, a step softer: as somebody writes who only wants a friendlier tone."""

import re
from collections.abc import Iterator

from agentmut.language import BASE_VERBS, Instruction, PromptDocument, Use, gerund, quoted, word_set
from agentmut.nouns import Candidate, Edit, prompt_edit
from agentmut.operators.prompt.replaced_words import replacements, reworded

_FORBIDDING = frozenset(["do not", "don't", "never"])
_BEGIN_ORDERS = frozenset(["", "you", "please", "and", "but", "then", "or", "so", "to"])
"""Before the words of an order; others have a subject: "Refunds do not include ..."."""
_BOUND = frozenset(["you", "they", "agents", "customers", "employees", "guests", "members"])
_NO_VERBS = word_set("a an the in on under with without more again before too not")
_AT_ONCE = frozenset(["immediately", "promptly"])
_VERB = re.compile(r"\W{1,4}(?P<verb>[A-Za-z]+)")
_FURTHER_VERB = re.compile(r"(?:,|\b(?:or|and|nor|then))\s+(?P<verb>[a-z]+)\b")
_CLAUSE_END = re.compile(r"[.;:!?()–—]")


def softened(document: PromptDocument, instruction: Instruction, use: Use) -> Iterator[Candidate]:
    """Yield what a word that binds becomes: the lexicon's weaker words, or another wording of the whole order."""
    word, is_order = use.text.lower(), use.previous.lower() in _BEGIN_ORDERS
    orders = is_order and _is_verb(use)
    if word in _FORBIDDING and orders:
        avoiding = _avoiding(document, instruction, use)
        yield from [avoiding] if avoiding else replacements(document, instruction, use, "weaker")
    elif word == "always" and orders:
        opens = not any(map(str.isalnum, document.text[instruction.start : use.start]))
        beginning = "Try to" if opens and use.text[0].isupper() else "try to"
        yield from filter(None, [reworded(document, instruction, use.start, use.end, beginning)])
    elif not _is_no_order(use, word):
        yield from replacements(document, instruction, use, "weaker", "weakest")


def _is_verb(use: Use) -> bool:
    """Return whether the next word is the verb of an order; behind a "never" that begins one, any word that may be."""
    word = use.following.lower()
    if use.text.lower() != "never" or use.previous:
        return word in BASE_VERBS
    return word in BASE_VERBS or not (word.endswith("ly") or word in _NO_VERBS)


def _is_no_order(use: Use, word: str) -> bool:
    """Return whether a word states a fact ("The user cannot see it"), or opens a sentence that would not read well."""
    if word in ("do not", "don't"):
        return True
    states = word in ("cannot", "can't") and use.previous.lower() not in _BOUND
    return states or (word in _AT_ONCE and use.text[0].isupper())


def _avoiding(document: PromptDocument, instruction: Instruction, use: Use) -> Candidate | None:
    """Return the order with "avoid" and its verb in -ing; None where another verb would have to change as well."""
    text = document.text
    found = _VERB.match(text, use.end, instruction.end)
    clause = _CLAUSE_END.split(text[found.end() : instruction.end])[0] if found else ""
    if found is None or any(further["verb"] in BASE_VERBS for further in _FURTHER_VERB.finditer(clause)):
        return None
    start, end = found.span("verb")
    if document.protects(start, end):
        return None
    loud = use.text.isupper() and found["verb"].isupper()
    word = "AVOID" if loud else "Avoid" if use.text[0].isupper() else "avoid"
    verb = gerund(found["verb"].lower())
    verb = verb.upper() if loud else verb
    before = text[use.start : end]
    return Candidate(
        edits=_edits(text, (use.start, use.end, word), (start, end, verb)),
        description=f"say {quoted(f'{word} {verb}')} for {quoted(before)} in {quoted(instruction.text)}",
        anchor=instruction.text,
    )


def _edits(text: str, *said: tuple[int, int, str]) -> tuple[Edit, ...]:
    """Return one edit for two words that stand together, and one each where something is between them."""
    (start, first_end, word), (second, end, verb) = said
    if text[first_end:second] == " ":
        return (prompt_edit(text, start, end, f"{word} {verb}"),)
    return prompt_edit(text, start, first_end, word), prompt_edit(text, second, end, verb)
