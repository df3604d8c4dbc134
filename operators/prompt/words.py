"""An instruction says less, the contrary, or another order: its words are replaced by the lexicon."""

import re
from collections.abc import Iterable, Iterator

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate
from agentmut.operator import operator
from agentmut.operators.edits import prompt_example
from agentmut.operators.prompt.wording import all_said, english_instructions, first_places, reworded
from agentmut.protocols import OperatorOptions
from agentmut.text import BINDING, FIELDS, Instruction, PromptDocument, Use, in_condition, order_at, uses
from agentmut.text.neighbours import BASE_VERBS, word_set

_NEGATED_ALREADY = re.compile(r"\bno (?:more|less|fewer|later|longer|earlier)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bat (?:most|least)\b|\bno more than\b|\bup to\b|\bbut not\b", re.IGNORECASE)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_NO_SIMPLE_NEGATION = word_set("ensure make let do feel try avoid refrain continue remember")


@operator(
    "prompt.weaken_modality",
    why="Somebody softens the tone of a prompt, and a rule becomes a suggestion.",
    examples=[
        prompt_example("You must verify the customer.", "You should verify the customer."),
        prompt_example("Never promise a refund.", "Try not to promise a refund."),
        prompt_example("Give at least 3 reasons.", "Give about 3 reasons."),
    ],
)
def weaken_modality(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Takes words that bind down a step, and then far down: must, should, may; always, usually, sometimes.

    The first two such words of each instruction, up to two mutants each. "Only", "at least" and "exactly" are
    loosened, then dropped. Left alone: words in conditions ("if they must"), quotes, code, compounds.
    """
    for document, instruction in english_instructions(config):
        found = _outside_conditions(instruction, uses(document, instruction, *BINDING, *FIELDS))
        for use in first_places(found, "weaker", "weakest"):
            yield from all_said(document, instruction, use, "weaker", "weakest")


@operator(
    "prompt.negate",
    why="A sentence is rewritten in a hurry, and a 'not' is lost or added.",
    examples=[
        prompt_example("Always verify the customer.", "Never verify the customer."),
        prompt_example("Do not promise a refund.", "Promise a refund."),
        prompt_example("Ask for the number.", "Do not ask for the number."),
    ],
)
def negate(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Turns an instruction into its contrary.

    First its order, if it begins with one ("Ask" becomes "Do not ask"), also after a condition and its comma;
    then its first two words with a contrary (always, never, must, may, do not, include). Left alone: words in
    conditions, and orders whose plain negation would mean something else ("Make sure", "Avoid"), as well as
    permissions with a limit ("may make at most two offers").
    """
    for document, instruction in english_instructions(config):
        yield from _order_negated(document, instruction)
        found = uses(document, instruction, "modality", "frequency", *FIELDS)
        binding = (use for use in found if not _permits_up_to_a_limit(instruction, use))
        for use in first_places(_outside_conditions(instruction, binding), "opposite"):
            yield from all_said(document, instruction, use, "opposite")


@operator(
    "prompt.swap_order_words",
    why="Steps are rearranged, and a 'before' stays where an 'after' belongs.",
    examples=[
        prompt_example(
            "Verify the identity before you issue a refund.", "Verify the identity after you issue a refund."
        ),
        prompt_example("Ask for the number, then look it up.", "Ask for the number, but first look it up."),
    ],
)
def swap_order_words(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Turns the first two words of order of each instruction round: before, after, first, last, then, until.

    Left alone: "first name", "last month" and the like, "then" after an "if", spans of time ("after 30 days"),
    which `prompt.flip_comparator` has.
    """
    for document, instruction in english_instructions(config):
        conditional = instruction.text.lower().startswith(("if ", "when "))
        found = (
            use
            for use in uses(document, instruction, "order")
            if not (conditional and use.text.lower() == "then") and not _after_first(instruction, use)
        )
        for use in first_places(found, "opposite"):
            if use.text.lower() == "first" and use.following.lower() in BASE_VERBS:
                said = "Finally" if use.text[0].isupper() else "finally"  # "last check it" is no English
                yield from filter(None, [reworded(document, instruction, use.start, use.end, said)])
            else:
                yield from all_said(document, instruction, use, "opposite")


def _after_first(instruction: Instruction, use: Use) -> bool:
    """Whether it is the "then" of "first ..., then ...": one mutant turns the order round already."""
    is_then = use.text.lower() in ("then", "and then")
    return is_then and _FIRST.search(instruction.text[: use.start - instruction.start]) is not None


def _permits_up_to_a_limit(instruction: Instruction, use: Use) -> bool:
    return use.text.lower() in ("can", "may") and _LIMIT.search(instruction.text) is not None


def _outside_conditions(instruction: Instruction, found: Iterable[Use]) -> Iterator[Use]:
    return (use for use in found if not in_condition(instruction.text, use.start - instruction.start))


def _order_negated(document: PromptDocument, instruction: Instruction) -> Iterator[Candidate]:
    offset = order_at(instruction.text)
    verb = instruction.text[offset:].split(maxsplit=1)[0].rstrip(".!") if offset is not None else ""
    if offset is None or verb.lower() in _NO_SIMPLE_NEGATION or _NEGATED_ALREADY.search(instruction.text):
        return
    start = instruction.start + offset
    said = f"DO NOT {verb}" if verb.isupper() else f"do not {verb.lower()}"
    said = said[0].upper() + said[1:] if verb[0].isupper() else said
    if made := reworded(document, instruction, start, start + len(verb), said):
        yield made
