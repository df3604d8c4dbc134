"""An operator that narrows or widens the scope of a rule."""

import re
from collections.abc import Iterable, Iterator

from agentmut.language import BASE_VERBS, DETERMINERS, PRONOUNS, PromptDocument, Use, uses, word_set
from agentmut.nouns import AgentConfig, Candidate
from agentmut.operators.prompt.replaced_words import english_instructions, first_places, replacements
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_JOINING = word_set(
    "of for to from with about by as if when whether after before than that who which is are was were "
    "must should may can will has have do does at in on asks wants says against between per all most some both"
)
_NEEDS_A_DETERMINER = word_set("of for to from with about by in on at against between")
_BEFORE_A_SUBJECT = _JOINING | DETERMINERS | BASE_VERBS
_KIND_OF = re.compile(r"\b(?:types?|kinds?|sorts?|lines?|ranges?|pieces?|numbers?) of $", re.IGNORECASE)
_NAMED = re.compile(r"\s+[\"'`“‘«\[{<]")
_AFTER_A_SUBJECT = _JOINING | PRONOUNS | word_set("and or mentions agrees needs gives arrived unless")


@operator(
    "prompt.change_scope",
    why="A rule is copied from a special case, or a special case from a rule.",
    examples=[
        prompt_example("Check all orders.", "Check most orders."),
        prompt_example("Greet the customer.", "Greet the premium customer."),
        prompt_example("Answer any questions.", "Answer some questions."),
    ],
    on_demand=True,
    english=True,
)
def change_scope(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield mutants that narrow a word of scope a step and then far (all, most, some), and widen it (some, all).

    Also common subjects: "customers" becomes "premium customers", "eligible customers" becomes "customers".
    The first two such words of each instruction, up to three mutants each, and one word of "every customer".
    Left alone: subjects that are part of a longer name ("customer service", "support requests"), or that a
    name follows (the function `check`).
    """
    for document, instruction in english_instructions(config):
        found = filter(_stands_alone, _one_a_phrase(document, uses(document, instruction, "scope")))
        for use in first_places(_no_labels(document, found), "weaker", "weakest", "stronger"):
            yield from replacements(document, instruction, use, "weaker", "weakest", "stronger")


def _no_labels(document: PromptDocument, found: Iterable[Use]) -> Iterator[Use]:
    """Yield whether the noun is no label: not "Payment: ask for ...", nor "types of payment"."""
    for use in found:
        noun = use.entries[0].kind == "noun"
        named = _NAMED.match(document.text, use.end) or document.protects(use.end + 1, use.end + 2)
        kind = _KIND_OF.search(document.text, max(use.start - 20, 0), use.start)
        if document.text[use.end : use.end + 1] != ":" and not (noun and (named or kind)):
            yield use


def _one_a_phrase(document: PromptDocument, found: Iterable[Use]) -> Iterator[Use]:
    """Keep one word of scope for each phrase: drop a noun that follows a word of number."""
    last = -1
    for use in found:
        if not (use.entries[0].kind == "noun" and document.text[last : use.start].isspace() and last >= 0):
            yield use
        last = use.end


def _stands_alone(use: Use) -> bool:
    """Return whether a noun is the whole name of a subject; other words of scope always are."""
    if use.entries[0].kind != "noun":
        return True
    before, after = use.previous.lower(), use.following.lower()
    singular, plural = (*use.entries[0].forms, "")[:2]
    if use.text.lower() == singular and plural == f"{singular}s" and before in _NEEDS_A_DETERMINER:
        return False  # "on file", "in order to", "by email"
    if use.text.lower() == singular and singular in BASE_VERBS and before not in DETERMINERS:
        return False  # "Refund most customers."
    return (not before or before in _BEFORE_A_SUBJECT) and (not after or after in _AFTER_A_SUBJECT)
