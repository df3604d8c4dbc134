"""The forms of secrets that a text may contain, found in one pass for the marks of all forms."""

import re
from collections import defaultdict
from collections.abc import Sequence

from agentmut.recording.secret_forms import Form


class LikelyForms:
    """Chooses the forms of secrets whose marks appear in a text."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self._forms = forms
        self._always = frozenset(number for number, form in enumerate(forms) if not form.before)
        self._of_mark = _forms_of_shortest_marks(forms)
        marks = _any_of(sorted(self._of_mark))
        self._any_mark = re.compile(marks)
        # Nothing is consumed, so that a mark which overlaps another is found, too. That takes twice as long, and most
        # texts have no mark.
        self._marks = re.compile(f"(?=({marks}))")

    def forms_in(self, text: str) -> list[Form]:
        """Return the forms that the text may contain, in order."""
        found = set(self._marks.findall(text)) if self._any_mark.search(text) else ()
        return [
            self._forms[number]
            for number in sorted(self._always.union(*map(self._of_mark.__getitem__, found)))
        ]


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
