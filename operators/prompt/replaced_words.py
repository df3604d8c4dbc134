"""Replace words of the prompt; used by several prompt operators."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from agentmut.language import Instruction, PromptDocument, Relation, Use, parse, quoted, reads_as_english
from agentmut.nouns import AgentConfig, Candidate, prompt_edit

PLACES = 2
"""So many places of an instruction an operator changes at most, the first ones."""

_CLOSES = re.compile(r"[.,;!](?:\s|$)|\s*$")
"""The end of a phrase."""

_LONGEST = 2_000
"""Characters; a longer "sentence" is data that nobody punctuated, and patterns would take long over it."""


def english_instructions(config: AgentConfig) -> Iterator[tuple[PromptDocument, Instruction]]:
    """Yield the instructions of the prompt that English patterns apply to, with their document; no endless ones."""
    document = parse(config.prompt, config.tool_names)
    for instruction in document.instructions:
        if len(instruction.text) <= _LONGEST and reads_as_english(instruction.text):
            yield document, instruction


def reworded(
    document: PromptDocument, instruction: Instruction, start: int, end: int, replacement: str
) -> Candidate | None:
    """Say `replacement` for the characters `start` to `end` of the prompt; drop them where it is empty.

    None where protected text would change, or where what is left would not read well.
    """
    text = document.text
    what = (
        f"say {quoted(replacement)} for {quoted(text[start:end])}"
        if replacement
        else f"drop {quoted(text[start:end])}"
    )
    if not replacement:
        dropped = _dropped(text, instruction, start, end)
        if dropped is None:
            return None
        start, end, replacement = dropped
    if text[start:end] == replacement or document.protects(start, end):
        return None
    return Candidate(
        edits=(prompt_edit(text, start, end, replacement),),
        description=f"{what} in {quoted(instruction.text)}",
        anchor=instruction.text,
    )


def first_places(found: Iterable[Use], *relations: Relation) -> Iterator[Use]:
    """Return the first uses for which the lexicon has a replacement in one of the relations."""
    return islice((use for use in found if any(use.replacement(r) is not None for r in relations)), PLACES)


def replacements(
    document: PromptDocument, instruction: Instruction, use: Use, *relations: Relation
) -> Iterator[Candidate]:
    """Yield the lexicon's replacements of a use in each relation, as far as they read well."""
    for relation in relations:
        replacement = use.replacement(relation)
        if replacement is not None and (
            made := reworded(document, instruction, use.start, use.end, replacement)
        ):
            yield made


def _dropped(text: str, instruction: Instruction, start: int, end: int) -> tuple[int, int, str] | None:
    """Return where a cut begins and ends, and what is left: the next word may begin the sentence.

    The blank behind the words goes with them, and a comma behind a sentence's first word. At the end of a phrase the
    blank before them goes.
    """
    if start > instruction.start and text[start - 1] == " " and _CLOSES.match(text, end):
        return start - 1, end, ""
    opens = start == instruction.start and text[start].isupper()
    if opens and text.startswith(", ", end):
        end += 1
    alone = start == instruction.start or text[start - 1].isspace()
    if not alone or text[end : end + 1] != " " or end + 1 >= instruction.end:
        return None
    following = text[end + 1]
    if not (following.isalnum() or following in "$€£"):
        return None
    return (start, end + 2, following.upper()) if opens and following.islower() else (start, end + 1, "")
