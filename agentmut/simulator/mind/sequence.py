"""The rules of a prompt in sequence, since a sentence may depend on the one before it."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from agentmut.language import Instruction, parse
from agentmut.simulator.mind.conditions import Condition
from agentmut.simulator.mind.rules import Rule, matter_condition, understand
from agentmut.simulator.mind.wording import is_otherwise, leans, names_a_matter, says_this

_LONGEST = 2_000
"""Characters of an instruction that are read; a longer one is data that nobody punctuated."""


class _Sentence(NamedTuple):
    text: str
    found: Instruction
    follows: bool
    """It stands in the same list item or paragraph as the sentence before it."""


def read_rules(prompt: str) -> Iterator[Rule]:
    """Read the rules of a prompt, sentence by sentence."""
    scope: Condition | None = None
    asked = False
    for sentence in _merged(list(_sentences(prompt))):
        found = sentence.found
        within = sentence.follows and leans(sentence.text, asked or bool(found.marker))
        scope = _scope(sentence.text, scope) if within else None
        asked = sentence.text.endswith("?")
        if asked:  # "Broken lamp? Send another one."
            if names_a_matter(sentence.text):
                scope = matter_condition(sentence.text)
            continue
        position = round(found.start / max(1, len(prompt)), 2)
        rule = understand(sentence.text, found.heading, position, scope)
        yield rule
        scope = rule.when or scope


def _scope(text: str, scope: Condition | None) -> Condition | None:
    if scope is None or not is_otherwise(text):
        return scope
    return scope._replace(inverted=not scope.inverted)


def _sentences(prompt: str) -> Iterator[_Sentence]:
    found = parse(prompt).instructions
    before = {after.start: first for first, after in pairwise(found)}
    for each in found:
        first = before.get(each.start)
        yield _Sentence(each.text[:_LONGEST], each, first is not None and _adjoins(prompt, first, each))


def _adjoins(prompt: str, first: Instruction, after: Instruction) -> bool:
    """Return whether two sentences share an item or paragraph; a single line stands alone."""
    gap = prompt[first.end : after.start]
    if not after.marker and "\n" in gap and _begins_lines(prompt, first, after):
        return False
    return first.group == after.group and not gap.strip("*_ \t\r\n\"'”)")


def _begins_lines(prompt: str, first: Instruction, after: Instruction) -> bool:
    starts = (prompt.rfind("\n", 0, each.start) + 1 for each in (first, after))
    return all(not prompt[at : each.start].strip() for at, each in zip(starts, (first, after), strict=True))


def _merged(sentences: list[_Sentence]) -> Iterator[_Sentence]:
    """Yield the sentences; a sentence such as "mention this" is joined with its reference."""
    for index, sentence in enumerate(sentences):
        if sentence.follows and says_this(sentence.text) and not sentences[index - 1].text.endswith("?"):
            fact = sentences[index - 1].text.rstrip(".! ")
            yield sentence._replace(text=f"{fact}, {sentence.text}")
        else:
            yield sentence
