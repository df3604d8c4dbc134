"""Instructions trade places."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Intent, prompt_edit
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.operators.edits import prompt_example
from agentmut.protocols import OperatorOptions
from agentmut.text import Instruction, parse, reads_as_english

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
_PRONOUN = re.compile(r"\b(?:it|they|them|this|these|those)\b", re.IGNORECASE)
_GOES_FIRST = re.compile(
    r"\W*(?:first(?:ly)?|begin|start|you(?:['’]re| are)|your (?:name|role|task|job))\b", re.IGNORECASE
)
_AT_FIRST = re.compile(r"\bfirst\b(?! (?:names?|time|person|aid|class)\b)", re.IGNORECASE)
_RUN_IN_HEADING = re.compile(r"[A-Z][A-Z&/-]+(?: [A-Z&/-]+){0,2}[.:]")
_LABEL = re.compile(r"[A-Z][\w ]{0,30}: ")
_SHOWN_NEXT = re.compile(r"\s*\n\s*(?:```|~~~)")
_BLOCK_OF_A_TEMPLATE = re.compile(r"\{%|\{\{[#/^]")
_BULLETS = frozenset("-*+•")
_STEPS = re.compile(
    r"\b(?:steps?|order|process|procedure|workflow|sequence|stages?|phases?)\b", re.IGNORECASE
)


@operator(
    "prompt.reorder_instructions",
    why="Rules are regrouped or sorted, and models weigh what comes first or last more.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("1. Be polite.\n2. Never guess.\n", "1. Never guess.\n2. Be polite.\n")],
)
def reorder_instructions(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Swaps two instructions that follow each other in the same list or paragraph.

    One mutant per such pair, so always fewer than instructions; texts trade places, bullets and numbers
    stay. Left out, because order carries meaning there: pairs of which one leans on what stands before it
    ("Then ...", "... instead.") or is leaned on by the next, openings ("First ...", "You are ..."), numbered
    lists under a heading that speaks of steps, and lines that announce what follows them. Also what stands in
    different blocks of a template, and, where the words are not English, all but bullets.
    """
    instructions = parse(config.prompt, config.tool_names).instructions
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
    """Whether the second needs the first before it: a cautious guess from its words."""
    if first.group != second.group:
        return False
    between = prompt[first.end : second.start]
    if between.strip() and "\n" not in between:  # "1. Ask. 2. Check." on one line
        return True
    pronoun = not between.strip() and _PRONOUN.search(second.text)  # sentences of one paragraph
    return bool(pronoun or _LEANS_ON_PREVIOUS.match(second.text) or _POINTS_BACK.search(second.text))


def _has_its_place(first: Instruction, second: Instruction) -> bool:
    """Whether one of them opens the prompt, is a numbered step, or announces what follows it."""
    is_step = first.marker.strip("().").isalnum() and _STEPS.search(first.heading or "")
    announces = first.text.endswith(":") or second.text.endswith(":")
    heads = _RUN_IN_HEADING.fullmatch(first.text) and not second.text.isupper()  # "4. LIMITS. You may ..."
    foreign = not (reads_as_english(first.text) and reads_as_english(second.text))
    unsure = foreign and first.marker not in _BULLETS  # what leans on what is only known in English
    return bool(
        is_step
        or announces
        or heads
        or unsure
        or _AT_FIRST.search(first.text)
        or _GOES_FIRST.match(first.text)
    )
