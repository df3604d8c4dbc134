"""Instructions trade places."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from agentmut.language import (
    BASE_VERBS,
    Instruction,
    parse,
    quoted,
    reads_as_english,
    unclosed_spans,
    word_set,
)
from agentmut.nouns import AgentConfig, Candidate, Intent, prompt_edit
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_LEANS_ON_PREVIOUS = re.compile(
    r"\W*(?:then|next|after(?:wards| that| this)|finally|lastly|second(?:ly)?|third(?:ly)?|otherwise"
    r"|instead|also|however|but|and|or|else|so|it|they|this|that|these|those|he|she|its|their|such|others?"
    r"|if (?:so|not|it|they|this)|in (?:this|that|such|these) cases?|for (?:example|instance|this|that)"
    r"|e\.g\.|the (?:same|latter|former)|except|unless|once)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:instead|otherwise|both|too|the others?|the (?:above|preceding|following)"
    r"|(?:any|every)thing (?:above|beyond|over|more)|above(?=[.,;:]|$))\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|they|them|this|these|those)\b|\bthat(?=[.!;]|$)", re.IGNORECASE)
_GOES_FIRST = re.compile(
    r"\W*(?:first(?:ly)?|begin|start|you(?:['’]re| are)|your (?:name|role|task|job))\b", re.IGNORECASE
)
_AT_FIRST = re.compile(r"\bfirst\b(?! (?:names?|time|person|aid|class)\b)", re.IGNORECASE)
_RUN_IN_HEADING = re.compile(r"[A-Z][A-Z&/-]+(?: [A-Z&/-]+){0,2}[.:]")
_LABEL = re.compile(r"[A-Z][\w ]{0,30}: ")
_SHOWN_NEXT = re.compile(r"(?=[^\S\n]*\n)\s*+(?:```|~~~)")
_BLOCK_OF_A_TEMPLATE = re.compile(r"\{%|\{\{[#/^]")
_BULLETS = frozenset("-*+•")
_STEPS = re.compile(
    r"\b(?:steps?|order|process|procedure|workflow|sequence|stages?|phases?)\b", re.IGNORECASE
)
_RULES = re.compile(
    r"\b(?:rules?|guidelines?|principles?|polic(?:y|ies)|constraints?|limits?|requirements?|notes?)\b",
    re.IGNORECASE,
)
_OCCASION = re.compile(r"(?:if|when|whenever|before|after|once|to|for|on|in case)\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\W*(?:please )?([a-z]+)\b(?!:)", re.IGNORECASE)
_COLONS = (":", "*:", "**:", "_:", "__:")
_HOLD_ALWAYS = word_set(
    "be keep use avoid prefer treat remember follow stay maintain ensure include exclude do have"
)
"""Verbs of rules that hold all the time: "Be polite." is no step."""


@operator(
    "prompt.reorder_instructions",
    why="Rules are regrouped or sorted, and models weigh what comes first or last more.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("1. Be polite.\n2. Never guess.\n", "1. Never guess.\n2. Be polite.\n")],
)
def reorder_instructions(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Swap two instructions that follow each other in the same list or paragraph.

    One mutant per such pair, so always fewer than instructions; texts trade places, bullets and numbers
    stay. Left out, because order carries meaning there: pairs of which one leans on what stands before it
    ("Then ...", "... instead.") or is leaned on by the next, openings ("First ...", "You are ..."), and lines
    that announce what follows them. Steps too: numbered lists under a heading that speaks of steps, or under
    words that end in a colon and do not speak of rules; two bare orders ("Compare quotes. Choose the cheapest.")
    in a paragraph or a numbered list, or in bullets under "When ...:". Also what stands in different blocks of a
    template or in a placeholder that never closes, and, where the words are not English, all but bullets.
    """
    instructions = parse(config.prompt, config.tool_names).instructions
    announced = _announced(config.prompt, instructions)
    leans = [False, *(_leans(config.prompt, *pair) for pair in pairwise(instructions)), False]
    for index, (first, second) in enumerate(pairwise(instructions)):
        loose = not any(leans[index : index + 3])  # neither torn from what is around them
        apart = _BLOCK_OF_A_TEMPLATE.search(config.prompt, first.end, second.start) or any(
            _SHOWN_NEXT.match(config.prompt, one.end)
            for one in (first, second)  # "Write code as", and the code
        )
        inline = "\n" not in config.prompt[first.end : second.start]
        labelled = inline and _LABEL.match(first.text)  # "Payment: one card. The rest ..."
        if (
            first.group == second.group
            and loose
            and not (apart or labelled)
            and not _has_its_place(first, second)
            and not _are_steps(first, second, announced)
        ):
            yield Candidate(
                edits=(
                    prompt_edit(config.prompt, first.start, first.end, second.text),
                    prompt_edit(config.prompt, second.start, second.end, first.text),
                ),
                description=f"swap {quoted(first.text)} and {quoted(second.text)}",
                anchor=first.text,
            )


def _leans(prompt: str, first: Instruction, second: Instruction) -> bool:
    """Return whether the second instruction needs the first before it: a cautious guess from its words."""
    if first.group != second.group:
        return False
    between = prompt[first.end : second.start]
    if between.strip() and "\n" not in between:  # "1. Ask. 2. Check." on one line
        return True
    pronoun = not between.strip() and _PRONOUN.search(second.text)  # sentences of one paragraph
    return bool(pronoun or _LEANS_ON_PREVIOUS.match(second.text) or _POINTS_BACK.search(second.text))


def _announced(prompt: str, instructions: Sequence[Instruction]) -> frozenset[str]:
    """Return the headings and lead-ins that end in a colon."""
    headings = {instruction.heading for instruction in instructions if instruction.heading}
    return frozenset(
        heading for heading in headings if any(f"{heading}{colon}" in prompt for colon in _COLONS)
    )


def _are_steps(first: Instruction, second: Instruction, announced: Collection[str]) -> bool:
    """Return whether two neighbours of a list or paragraph are, or may well be, one step after the other."""
    heading = first.heading or ""
    numbered = first.marker.strip("().").isalnum() and first.marker != ""
    if numbered and _STEPS.search(heading):
        return True
    if numbered and heading in announced:
        return not _RULES.search(heading)
    bare = _is_bare_order(first.text) and _is_bare_order(second.text)
    if first.marker in _BULLETS and first.removal.start != second.removal.start:
        return bare and heading in announced and _OCCASION.match(heading) is not None
    return bare and not (numbered and _RULES.search(heading))


def _is_bare_order(text: str) -> bool:
    """Return whether an instruction orders one action, as a step does, and states no permanent rule."""
    verb = _FIRST_WORD.match(text)
    return verb is not None and verb[1].lower() in BASE_VERBS - _HOLD_ALWAYS


def _has_its_place(first: Instruction, second: Instruction) -> bool:
    """Return whether one of them opens the prompt, announces what follows it, or holds a torn placeholder."""
    announces = first.text.endswith(":") or second.text.endswith(":")
    heads = _RUN_IN_HEADING.fullmatch(first.text) and not second.text.isupper()  # "4. LIMITS. You may ..."
    foreign = not (reads_as_english(first.text) and reads_as_english(second.text))
    unsure = foreign and first.marker not in _BULLETS  # what leans on what is only known in English
    return bool(
        announces
        or heads
        or unsure
        or _AT_FIRST.search(first.text)
        or _GOES_FIRST.match(first.text)
        or unclosed_spans(first.text)
        or unclosed_spans(second.text)
    )
