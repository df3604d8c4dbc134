"""The forms of secrets that a text may contain, found in one pass for the marks of all forms."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from typing import NamedTuple, Self

from agentmut.recording.secret_forms import Form

LONG, MANY_MARKS = 1000, 8
"""Characters of a text, and marks of a form, from which on it pays to leave out those marks that the text lacks."""
PARTS = 4
"""Searches into which the marks are divided; of 1, 2, 4 and 8 the fastest on requests of 5,000 characters."""


class LikelyForms:
    """Chooses the forms of secrets whose marks appear in a text."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self._forms = forms
        self._always = frozenset(number for number, form in enumerate(forms) if not form.before)
        self._of_mark = _forms_of_shortest_marks(forms)
        self._shortest = {
            mark: next(short for n in range(1, len(mark) + 1) if (short := mark[:n]) in self._of_mark)
            for form in forms
            if form.before
            for mark in form.marks
        }
        """What each mark is found as."""
        self._searches = [_Search.of(marks) for marks in _parts(self._of_mark)]

    def forms_in(self, text: str) -> list[Form]:
        """Return the forms that the text may contain, in order; of a long one, without marks that it lacks."""
        found = {mark for search in self._searches for mark in search.found_in(text)}
        numbers = sorted(self._always.union(*map(self._of_mark.__getitem__, found)))
        forms = [self._forms[number] for number in numbers]
        return forms if len(text) < LONG else [self._with_marks_in(found, form) for form in forms]

    def _with_marks_in(self, found: Set[str], form: Form) -> Form:
        if len(form.marks) < MANY_MARKS or not form.before:
            return form
        return form._replace(marks=tuple(mark for mark in form.marks if self._shortest[mark] in found))


class _Search(NamedTuple):
    """A search for some of the marks."""

    any_mark: re.Pattern[str]

    @classmethod
    def of(cls, marks: Sequence[str]) -> Self:
        return cls(re.compile(_any_of(marks)))

    def found_in(self, text: str) -> Iterator[str]:
        """Yield the marks at all places, also one that overlaps another.

        A look-ahead would find these, too, but it is tried for at every character, which takes twice as long.
        """
        found = self.any_mark.search(text)
        while found:
            yield found[0]
            found = self.any_mark.search(text, found.start() + 1)


def _parts(marks: Collection[str]) -> list[list[str]]:
    """Divide the marks by their first characters: some searches for a few of these take less time than one for all."""
    firsts = sorted({mark[0] for mark in marks})
    return [[mark for mark in sorted(marks) if mark[0] in firsts[part::PARTS]] for part in range(PARTS)]


def _forms_of_shortest_marks(forms: Sequence[Form]) -> dict[str, frozenset[int]]:
    """Return the indices of forms by mark. A mark that begins with a shorter mark is found as the shorter one."""
    by_mark = defaultdict(set)
    for number, form in enumerate(forms):
        for mark in form.marks if form.before else ():
            by_mark[mark].add(number)
    shortest = [
        mark for mark in by_mark if not any(mark[:length] in by_mark for length in range(1, len(mark)))
    ]
    return {
        mark: frozenset().union(*(numbers for longer, numbers in by_mark.items() if longer.startswith(mark)))
        for mark in shortest
    }


def _any_of(marks: Sequence[str]) -> str:
    """Return a pattern for any of the marks. Marks with the same first character share a branch, which is faster."""
    by_first = defaultdict(list)
    for mark in marks:
        by_first[mark[0]].append(re.escape(mark[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())
