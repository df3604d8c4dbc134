"""Instructions trade places."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Intent
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.operators.edits import prompt_edit, prompt_example
from agentmut.protocols import OperatorOptions
from agentmut.text import Instruction, parse

_LEANS_ON_PREVIOUS = re.compile(
    r"\W*(?:then|next|after(?:wards| that| this)|finally|lastly|second(?:ly)?|third(?:ly)?|otherwise"
    r"|instead|also|however|but|and|or|else|so|it|they|this|that|these|those|he|she|its|their|such"
    r"|if (?:so|not|it|they|this)|in (?:this|that|such|these) cases?|for (?:example|instance|this|that)"
    r"|e\.g\.|the (?:same|latter|former)|except|unless|once)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:instead|otherwise|both|too|the others?)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|them|this|these|those)\b", re.IGNORECASE)
_GOES_FIRST = re.compile(
    r"\W*(?:first(?:ly)?|begin|start|you(?:['’]re| are)|your (?:name|role|task|job))\b", re.IGNORECASE
)
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
    lists under a heading that speaks of steps, and lines that announce what follows them.
    """
    instructions = parse(config.prompt, config.tool_names).instructions
    leans = [False, *(_leans(config.prompt, *pair) for pair in pairwise(instructions)), False]
    for index, (first, second) in enumerate(pairwise(instructions)):
        loose = not any(leans[index : index + 3])  # neither torn from what is around them
        if first.group == second.group and loose and not _has_its_place(first, second):
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
    return bool(is_step or announces or _GOES_FIRST.match(first.text))
