"""Operators that change the layout of the prompt and keep its meaning."""

import re
from collections.abc import Iterator

from agentmut.language import Instruction, PromptDocument, Span, parse, splits
from agentmut.nouns import About, AgentConfig, Candidate, Intent, prompt_edit
from agentmut.operators.shared_edits import line_break, prompt_example
from agentmut.seams import OperatorOptions, operator

_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n(?=\S)")
_LINE_END = re.compile(r"\r?\n|$(?!\n)")
_OTHER_MARKER = {"-": "*", "*": "-", "•": "-", "+": "-"}


@operator(
    "prompt.whitespace",
    why="Editors, formatters and templates change blank lines, trailing blanks and bullets.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("Be polite.\n\nNever guess.\n", "Be polite.\n\n\nNever guess.\n")],
)
def whitespace(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield at most three mutants, each at the first place that has it.

    A blank line is doubled, a bullet is drawn with another sign, a line ends in a blank. Nothing changes
    inside code, tables, examples or other protected text.
    """
    document = parse(config.prompt, config.tool_names)
    for find in (_blank_line, _bullet, _trailing_blank):
        yield from find(document)


def _blank_line(document: PromptDocument) -> Iterator[Candidate]:
    for match in _BLANK_LINE.finditer(document.text):
        if not splits(document.protected, match.end() - 1) and match.start():
            blank = Span(match.end() - 1, match.end())
            gap = line_break(document.text)
            yield _change(document, match.end(), match.end(), gap, "double a blank line", blank)
            return


def _bullet(document: PromptDocument) -> Iterator[Candidate]:
    for instruction in document.instructions:
        other = _OTHER_MARKER.get(instruction.marker)
        at = _marker(document.text, instruction) if other else -1
        if other and at >= 0 and not document.protects(at, at + 1):
            bullet = Span(at, at + 1)
            yield _change(document, *bullet, other, "draw a bullet with another sign", bullet)
            return


def _marker(text: str, instruction: Instruction) -> int:
    """Return where the bullet of an instruction's line stands; -1 where it is on an earlier line."""
    line = text.rfind("\n", 0, instruction.start) + 1
    at = line + len(text[line : instruction.start]) - len(text[line : instruction.start].lstrip())
    return at if text.startswith(instruction.marker, at) and at < instruction.start else -1


def _trailing_blank(document: PromptDocument) -> Iterator[Candidate]:
    for instruction in document.instructions:
        at = instruction.end
        if not splits(document.protected, at) and _LINE_END.match(document.text, at):
            line = Span(max(instruction.start, document.text.rfind("\n", 0, at) + 1), at)
            yield _change(document, at, at, " ", "add a blank at the end of a line", line)
            return


def _change(
    document: PromptDocument, start: int, end: int, after: str, description: str, about: Span
) -> Candidate:
    return Candidate(
        edits=(prompt_edit(document.text, start, end, after),),
        description=description,
        anchor=description,
        about=(About(pointer="/prompt", span=about),),
    )
