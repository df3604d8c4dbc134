"""The texts that mutants change, in the form that reports show: the prompt with its rules, and the documents."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign.selection.locate import spot
from agentmut.language import Instruction, parse
from agentmut.nouns import About, Edit, Mutant, Origin, PromptRule, SourceText, TextChange
from agentmut.recording import Redactor

LONGEST = 200_000
"""Characters above which a text is left out: a result is read by people, and by pages that show it."""


class SourceTexts(NamedTuple):
    """The texts, and the place of each in the config."""

    texts: tuple[SourceText, ...]
    number: Mapping[str, int]
    """JSON pointer -> index in `texts`; without those whose offsets no longer fit, since secrets were taken out."""

    def changes(self, mutant: Mutant) -> tuple[TextChange, ...]:
        """Return a mutant's changes in these texts; empty if the mutant changes anything else too."""
        if any(edit.span is None or edit.pointer not in self.number for edit in mutant.edits):
            return ()
        return tuple(sorted(map(self._change, mutant.edits), key=lambda change: (change.text, change.start)))

    def _change(self, edit: Edit) -> TextChange:
        start, end = edit.span or (0, 0)
        return TextChange(text=self.number[edit.pointer], start=start, end=end, after=str(edit.after))


def source_texts(origin: Origin, mutants: Sequence[Mutant], redactor: Redactor) -> SourceTexts:
    """Return the prompt and the documents of an agent, without secrets."""
    texts: list[SourceText] = []
    number: dict[str, int] = {}
    for pointer, text in _written(origin):
        shown = redactor.text(text)
        if shown == text:
            number[pointer] = len(texts)
        place = spot(About(pointer=pointer, span=(0, 0)), origin).target
        rules = tuple(_rules(origin, mutants)) if pointer == "/prompt" and shown == text else ()
        texts.append(SourceText(path=place.path or "", line=place.line, text=shown, rules=rules))
    return SourceTexts(tuple(texts), number)


def _written(origin: Origin) -> Iterator[tuple[str, str]]:
    config = origin.config
    texts = [("/prompt", config.prompt)]
    texts += [(f"/context/{number}/text", document.text) for number, document in enumerate(config.context)]
    yield from ((pointer, text) for pointer, text in texts if text and len(text) <= LONGEST)


def _rules(origin: Origin, mutants: Sequence[Mutant]) -> Iterator[PromptRule]:
    instructions = parse(origin.config.prompt).instructions
    touching = _touching(instructions, mutants)
    for instruction in instructions:
        span = (instruction.start, instruction.end)
        line = spot(About(pointer="/prompt", span=span), origin).target.line
        ids = tuple(touching.get(instruction.start, ()))
        yield PromptRule(start=instruction.start, end=instruction.end, line=line, mutants=ids)


def _touching(instructions: Sequence[Instruction], mutants: Iterable[Mutant]) -> dict[int, list[str]]:
    """Map the start of each instruction to the mutants that change at least one character of it, each mutant once."""
    ends = [instruction.end for instruction in instructions]
    touched: dict[int, dict[str, None]] = {}
    for mutant in mutants:
        for edit in mutant.edits:
            if edit.pointer != "/prompt" or edit.span is None:
                continue
            start, end = edit.span
            for at in range(bisect_left(ends, start + 1), len(instructions)):
                if instructions[at].start >= max(end, start + 1):
                    break
                touched.setdefault(instructions[at].start, {})[mutant.id] = None
    return {start: list(ids) for start, ids in touched.items()}
