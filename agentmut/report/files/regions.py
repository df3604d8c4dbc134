"""Where a mutant's text begins and ends, in lines and UTF-16 columns, as other programs count them."""

from typing import NamedTuple

from agentmut._base import line_starts, position
from agentmut.nouns import MutantRow, Result, SourceText, TextChange


class Region(NamedTuple):
    """Lines and columns from 1, columns in UTF-16 code units; the end is the place after the last character."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


def utf16_length(text: str) -> int:
    """Return how many UTF-16 code units a text takes: characters beyond the basic plane take two.

    >>> utf16_length("aé"), utf16_length("\\U0001f600")
    (2, 2)
    """
    return len(text) + sum(character > "\uffff" for character in text)


def region(text: str, start: int, end: int) -> Region:
    """Return the region of the characters `start` to `end` of a text.

    >>> region("one\\n\\U0001f600 two", 6, 9)
    Region(start_line=2, start_column=4, end_line=2, end_column=7)
    """
    return Region(*_place(text, start), *_place(text, end))


def without_blanks(text: str, change: TextChange) -> tuple[int, int]:
    """Return `start` and `end` of a change without the blanks around it; unchanged where it has nothing else."""
    cut = text[change.start : change.end]
    if not cut.strip():
        return change.start, change.end
    return change.start + len(cut) - len(cut.lstrip()), change.start + len(cut.rstrip())


def change_of(row: MutantRow, result: Result) -> tuple[SourceText, TextChange] | None:
    """Return the first change of a mutant that fits its text; None where the result does not keep it."""
    for change in row.changes:
        if 0 <= change.text < len(result.sources):
            source = result.sources[change.text]
            if 0 <= change.start <= change.end <= len(source.text):
                return source, change
    return None


def in_file(row: MutantRow, result: Result) -> Region | None:
    """Return the region of a mutant in its file, told from the texts that the result keeps.

    None where it cannot be told for certain: the text is not kept, is a block of another file, whose columns are
    not known, or the file has comments to agentmut above this place, which are no part of the text.
    """
    found = change_of(row, result)
    if found is None or found[0].path != row.target.path or row.target.column is None:
        return None
    source, change = found
    start, end = without_blanks(source.text, change)
    if position(source.text, start) != (row.target.line, row.target.column):
        return None
    return region(source.text, start, end)


def _place(text: str, offset: int) -> tuple[int, int]:
    line, _ = position(text, offset)
    return line, utf16_length(text[line_starts(text)[line - 1] : offset]) + 1
