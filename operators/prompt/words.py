"""An instruction says less, the contrary, or another order: its words are replaced by the lexicon."""

import re
from collections.abc import Iterable, Iterator

from agentmut.language import (
    AMBIGUOUS_VERBS,
    BASE_VERBS,
    BINDING,
    DETERMINERS,
    FIELDS,
    Instruction,
    PromptDocument,
    Use,
    in_condition,
    order_at,
    uses,
    word_set,
)
from agentmut.nouns import AgentConfig, Candidate, Effect
from agentmut.operators.prompt.replaced_words import (
    english_instructions,
    first_places,
    replacements,
    reworded,
)
from agentmut.operators.prompt.softened import softened
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_NEGATED_ALREADY = re.compile(r"\bno (?:more|less|fewer|later|longer|earlier)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bat (?:most|least)\b|\bno more than\b|\bup to\b|\bbut not\b", re.IGNORECASE)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_THEN = re.compile(r"\b(?:then|next|second|after(?:wards| that))\b", re.IGNORECASE)
_AFTER_ADVERBS = frozenset(["", "for", "if", "whether", "with", "by"])
_ANYTHING = re.compile(r"\b(?:any\w*|ever|every\w*|else|all|first)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:!?()–—]\s|\bbut\b")
_ONLY_IF = re.compile(r"\bonly (?:if|when|after|before|where|while|with|in|for)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|no|without|avoid|cannot|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_WITH_NOT = re.compile(r"\bnot\b|\bcannot\b|n['’]t\b", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:over|to|rather|instead)\b", re.IGNORECASE)
_ONLY_DO = re.compile(r"(?P<only>only) (?P<verb>[a-z]+)\b", re.IGNORECASE)
_NO_SIMPLE_NEGATION = word_set(
    "ensure make let do feel try avoid refrain continue remember prefer decline refuse"
)
_CONTRARIES = {"avoid": "prefer", "prefer": "avoid", "decline": "accept", "refuse": "accept"}
_CONTRARIES_TO = {"decline": "agree", "refuse": "agree"}
"""Before "to"."""


@operator(
    "prompt.weaken_modality",
    why="Somebody softens the tone of a prompt, and a rule becomes a suggestion.",
    examples=[
        prompt_example("You must verify the customer.", "You should verify the customer."),
        prompt_example("Never promise a refund.", "Avoid promising a refund."),
        prompt_example("Give at least 3 reasons.", "Give about 3 reasons."),
    ],
    english=True,
)
def weaken_modality(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Take words that bind down a step, as teams do: must, should; always, try to; never promise, avoid promising.

    The first two such words of each instruction, up to two mutants each. "At least" and "exactly" are loosened,
    then dropped, and "only" is dropped. Left alone: words in conditions ("if they must"), quotes, code, compounds.
    """
    for document, instruction in english_instructions(config):
        found = _outside_conditions(instruction, uses(document, instruction, *BINDING, *FIELDS))
        for use in first_places(found, "weaker", "weakest"):
            yield from softened(document, instruction, use)


@operator(
    "prompt.lose_negation",
    effect=Effect.NEGATES_RULE,
    why="A sentence is rewritten in a hurry, and its 'not' is lost.",
    examples=[
        prompt_example("You must not share it.", "You must share it."),
    ],
    english=True,
)
def lose_negation(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Drop a "not" from the first two words of an instruction that have one: must not, cannot, not allowed.

    Left alone: "never" and "do not", whose loss changes more than one small word, and words in conditions.
    """
    for document, instruction in english_instructions(config):
        negated = (use for use in uses(document, instruction, "modality") if _loses_its_not(use))
        for use in first_places(_outside_conditions(instruction, negated), "opposite"):
            yield from replacements(document, instruction, use, "opposite")


@operator(
    "prompt.negate",
    effect=Effect.NEGATES_RULE,
    why="A sentence is rewritten in a hurry, and a 'not' is lost or added.",
    examples=[
        prompt_example("Always verify the customer.", "Never verify the customer."),
        prompt_example("Do not promise a refund.", "Promise a refund."),
        prompt_example("Ask for the number.", "Do not ask for the number."),
    ],
    on_demand=True,
    english=True,
)
def negate(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Turn an instruction into its contrary.

    First its order, if it begins with one ("Ask" becomes "Do not ask", "Avoid" "Prefer", "Only offer" "Never
    offer"), also after a condition and its comma; then its first two words with a contrary (always, never, must,
    may, do not, include). Left alone: words in conditions, ordinary words behind a "not", and orders whose plain
    negation would mean something else ("Make sure"), as well as what is limited ("may make at most two offers",
    "only if ...").
    """
    for document, instruction in english_instructions(config):
        yield from _order_negated(document, instruction)
        found = uses(document, instruction, "modality", "frequency", *FIELDS)
        binding = (use for use in found if not _is_limited(instruction, use))
        for use in first_places(_outside_conditions(instruction, binding), "opposite"):
            yield from replacements(document, instruction, use, "opposite")


@operator(
    "prompt.swap_order_words",
    why="Steps are rearranged, and a 'before' stays where an 'after' belongs.",
    examples=[
        prompt_example(
            "Verify the identity before you issue a refund.", "Verify the identity after you issue a refund."
        ),
        prompt_example("Ask for the number first.", "Ask for the number."),
        prompt_example("Ask for the number, then look it up.", "Ask for the number, but first look it up."),
    ],
    english=True,
)
def swap_order_words(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Turn the first two words of order of each instruction round: before, after, last, then, until. "First" is lost.

    Left alone: "first name", "last month" and the like, "then" after an "if", "first ..., then ...", spans of time
    ("after 30 days"), which `prompt.flip_comparator` has, and "before" all that may follow ("before you say anything").
    """
    for document, instruction in english_instructions(config):
        conditional = instruction.text.lower().startswith(("if ", "when "))
        found = (
            use
            for use in uses(document, instruction, "order")
            if not (conditional and use.text.lower() == "then")
            and not _is_first_then(instruction, use)
            and not _comes_before_all(instruction, use)
            and not _lasts(instruction, use)
            and not use.previous.lower().endswith("est")  # "earliest first": the comparison is turned round
        )
        for use in first_places(found, "opposite"):
            yield from replacements(document, instruction, use, "opposite")


def _is_first_then(instruction: Instruction, use: Use) -> bool:
    """Return whether a word is of "first ..., then ...", where losing or turning one of them leaves the order.

    So is a "first" that belongs to a noun: "the first line".
    """
    before = instruction.text[: use.start - instruction.start]
    after = instruction.text[use.end - instruction.start :]
    if use.text.lower() == "first":
        following = use.following.lower()
        loose = following in _AFTER_ADVERBS or following in BASE_VERBS - AMBIGUOUS_VERBS
        return not loose or use.previous.lower() in DETERMINERS or _THEN.search(after) is not None
    return use.text.lower() in ("then", "and then") and _FIRST.search(before) is not None


def _comes_before_all(instruction: Instruction, use: Use) -> bool:
    """Return whether a "before" is one that nobody writes as "after": "before you say anything"."""
    if use.text.lower() not in ("before", "prior to"):
        return False
    rest = instruction.text[use.end - instruction.start :]
    end = _CLAUSE.search(rest)
    return _ANYTHING.search(rest[: end.start()] if end else rest) is not None


def _lasts(instruction: Instruction, use: Use) -> bool:
    """Return whether an "until" ends what goes on: nobody writes "Wait once ..." for "Wait until ..."."""
    before = instruction.text[: use.start - instruction.start]
    return use.text.lower() == "until" and not _NEGATED.search(before)


def _loses_its_not(use: Use) -> bool:
    """Return whether the contrary of a word is the word without its "not"."""
    replacement = use.replacement("opposite")
    return bool(replacement and _WITH_NOT.search(use.text) and not _NEGATED.search(replacement))


def _is_limited(instruction: Instruction, use: Use) -> bool:
    """Return whether turning a word round would leave something else than the contrary."""
    if use.entries[0].topic in FIELDS:  # "Do not include it": the "not" is turned round already
        clause = _CLAUSE.split(instruction.text[: use.start - instruction.start])[-1]
        return _NEGATED.search(clause) is not None
    permits = use.text.lower() in ("can", "may")
    limited = permits and _LIMIT.search(instruction.text) is not None
    return limited or (use.entries[0].kind == "modal" and _ONLY_IF.search(instruction.text) is not None)


def _outside_conditions(instruction: Instruction, found: Iterable[Use]) -> Iterator[Use]:
    return (use for use in found if not in_condition(instruction.text, use.start - instruction.start))


def _order_negated(document: PromptDocument, instruction: Instruction) -> Iterator[Candidate]:
    found = _contrary(instruction.text)
    if found:
        start, end, replacement = found
        start, end = instruction.start + start, instruction.start + end
        if made := reworded(document, instruction, start, end, replacement):
            yield made


def _contrary(text: str) -> tuple[int, int, str] | None:
    """Return the place of the words that make a text an order, and their contrary."""
    if _NEGATED_ALREADY.search(text) or _ONLY_IF.search(text):
        return None
    only = _ONLY_DO.match(text)
    if only and only["verb"].lower() in BASE_VERBS - {"be"}:
        return 0, len("only"), "NEVER" if only["only"].isupper() else "Never"
    offset = order_at(text)
    if offset is None:
        return None
    first, _, rest = text[offset:].partition(" ")
    verb = first.rstrip(".!")
    contrary = _negated(verb.lower(), rest)
    if not contrary:
        return None
    if verb.isupper():
        contrary = contrary.upper()
    elif verb[0].isupper():
        contrary = contrary[0].upper() + contrary[1:]
    return offset, offset + len(verb), contrary


def _negated(verb: str, rest: str) -> str:
    """Return the negated verb; empty where a verb has no simple contrary."""
    if rest.startswith("to ") and verb in _CONTRARIES_TO:
        return _CONTRARIES_TO[verb]
    if verb in _CONTRARIES:
        return "" if _COMPARED.search(rest) else _CONTRARIES[verb]
    return "" if verb in _NO_SIMPLE_NEGATION else f"do not {verb}"
