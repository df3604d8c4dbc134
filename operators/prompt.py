"""Operators on the system prompt. They cut and replace by span; every other character stays."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import ClassVar

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Edit, Intent, OperatorClass, Reach
from agentmut.operators.describe import quoted
from agentmut.protocols import Example, OperatorOptions
from agentmut.text import Instruction, PromptDocument, parse, synonyms
from agentmut.text.spans import splits


def _parsed(config: AgentConfig) -> PromptDocument:
    return parse(config.prompt, config.tool_names)


def _edit(prompt: str, start: int, end: int, after: str) -> Edit:
    return Edit(pointer="/prompt", before=prompt[start:end], after=after, span=(start, end))


def _example(before: str, after: str) -> Example:
    return Example(AgentConfig(prompt=before), AgentConfig(prompt=after))


class DropInstruction:
    """One mutant per instruction: it is gone, with its bullet and line break.

    What stands under it stays: the sub-items of a list item, the code block it announces.
    """

    id: ClassVar[str] = "prompt.drop_instruction"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.PROMPT
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "A prompt is shortened or merged, and a rule gets lost on the way."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the prompt."""
        for instruction in _parsed(config).instructions:
            yield Candidate(
                edits=(_edit(config.prompt, *instruction.removal, after=""),),
                description=f"drop {quoted(instruction.text)}",
                anchor=instruction.text,
            )

    def examples(self) -> Iterable[Example]:
        """A bullet goes with its line."""
        yield _example("# Rules\n- Be polite.\n- Never guess.\n", "# Rules\n- Never guess.\n")


class Synonym:
    """At most one mutant per instruction: its first word with a synonym in the lexicon is replaced.

    Case and inflection are kept. Words of tool names, quotes, code and instructions that are not English
    are left alone.
    """

    id: ClassVar[str] = "prompt.synonym"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.PROMPT
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "Somebody polishes the wording of a prompt without meaning to change anything."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the prompt."""
        document = _parsed(config)
        for instruction in document.instructions:
            for start, end, said in synonyms(document, instruction, config.tool_names):
                yield Candidate(
                    edits=(_edit(config.prompt, start, end, said),),
                    description=f"say {quoted(said)} for {quoted(config.prompt[start:end])}",
                    anchor=instruction.text,
                )
                break

    def examples(self) -> Iterable[Example]:
        """The first verb that has a synonym changes, in its form."""
        yield _example("Politely decline legal questions.", "Courteously decline legal questions.")


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


class ReorderInstructions:
    """Swaps two instructions that follow each other in the same list or paragraph.

    One mutant per such pair, so always fewer than instructions. Left out, because order carries meaning
    there: pairs of which one leans on what stands before it ("Then ...", "... instead.") or is leaned on by
    the next, openings ("First ...", "You are ..."), numbered lists under a heading that speaks of steps,
    and lines that announce what follows them.
    """

    id: ClassVar[str] = "prompt.reorder_instructions"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.PROMPT
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "Rules are regrouped or sorted, and models weigh what comes first or last more."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the prompt. Texts trade places; bullets and numbers stay."""
        instructions = _parsed(config).instructions
        leans = [False, *(_leans(config.prompt, *pair) for pair in pairwise(instructions)), False]
        for index, (first, second) in enumerate(pairwise(instructions)):
            loose = not any(leans[index : index + 3])  # neither torn from what is around them
            if first.group == second.group and loose and not _has_its_place(first, second):
                yield Candidate(
                    edits=(
                        _edit(config.prompt, first.start, first.end, second.text),
                        _edit(config.prompt, second.start, second.end, first.text),
                    ),
                    description=f"swap {quoted(first.text)} and {quoted(second.text)}",
                    anchor=first.text,
                )

    def examples(self) -> Iterable[Example]:
        """The numbers stay where they are."""
        yield _example("1. Be polite.\n2. Never guess.\n", "1. Never guess.\n2. Be polite.\n")


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


_DISTRACTIONS = (
    "The kitchen on the third floor is being repainted this week.",
    "Our summer party takes place on the last Friday of June.",
    "The colour of the app icon was changed from blue to green last year.",
    "This page was moved from the old wiki to the new one in spring.",
)
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


class InjectNoise:
    """Adds one harmless, irrelevant sentence as a paragraph of its own.

    A small fixed list of sentences, in turn at the end and at the blank line nearest to the middle; those
    for the middle have no mutants where there is no blank line.
    """

    id: ClassVar[str] = "prompt.inject_noise"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.PROMPT
    intent: ClassVar[Intent] = Intent.PRESERVE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "Prompts pick up stray remarks from wikis, templates and other teams."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """In the order of the sentences."""
        prompt = config.prompt
        if not prompt.strip():
            return
        document = _parsed(config)
        places = {"end": _end(document), "middle": _middle(document)}
        line_break = "\r\n" if "\r\n" in prompt else "\n"
        for number, sentence in enumerate(_DISTRACTIONS):
            place = "middle" if number % 2 else "end"
            at = places[place]
            if at is not None:
                yield Candidate(
                    edits=(_edit(prompt, at, at, line_break * 2 + sentence),),
                    description=f"add {quoted(sentence)} at the {place}",
                    anchor=place,
                )

    def examples(self) -> Iterable[Example]:
        """A remark after the last rule."""
        yield _example("Be polite.\n", f"Be polite.\n\n{_DISTRACTIONS[0]}\n")


def _end(document: PromptDocument) -> int:
    last = len(document.text.rstrip())
    return len(document.text) if splits(document.protected, last) else last


def _middle(document: PromptDocument) -> int | None:
    half = len(document.text) // 2
    inner = _BLANK_LINE.finditer(document.text, 0, len(document.text.rstrip()))
    places = [match.start() for match in inner if not splits(document.protected, match.start() + 1)]
    return min((place for place in places if place), key=lambda place: abs(place - half), default=None)
