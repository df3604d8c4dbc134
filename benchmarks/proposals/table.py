"""Which proposals graders accept: by evaluator, by where its words come from, and by what supports the tool."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from agentmut.language import stems
from benchmarks.proposals.grades import Graded, graded_rows, prompts

OF_TOOLS = ("tool_called", "tool_not_called", "tool_count", "tool_called_with", "tool_order")
MARKS = "\"'“„«`"
Kind = tuple[str, str, str]
"""Evaluator, source of its words, and support."""


def kind_of(row: Graded) -> Kind:
    """Return the kind of a graded proposal."""
    return row.evaluator, source_of(row), support_of(row)


def source_of(row: Graded) -> str:
    """Return where the text or the values of an evaluator stand: `quoted` and `rule` are of the prompt."""
    argument = json.loads(row.argument)
    if isinstance(argument, dict):
        made = argument.get("arguments")
        values = [str(one).removesuffix(".0") for one in made.values()] if isinstance(made, dict) else []
        given = values and all(_is_word_of(one, row.input) for one in values)
        return "user" if given else "run" if values else "-"
    if row.evaluator in (*OF_TOOLS, "decides", "expression", "regex"):
        return "-"
    text, prompt = (
        str(argument).casefold(),
        f"{row.rule}\n{prompts(row.agents).get(row.input, '')}".casefold(),
    )
    if any(mark + text in prompt for mark in MARKS):
        return "quoted"
    return "rule" if text in prompt else "user" if _is_word_of(text, row.input) else "run"


def _is_word_of(text: str, said: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", said, re.I) is not None


def support_of(row: Graded) -> str:
    """Return who names the tools: the user all words of a name, else the rule; `-` for what is no matter of tools."""
    if row.evaluator not in OF_TOOLS:
        return "rule" if " " in row.rule else "tool"
    argument = json.loads(row.argument)
    named = argument.get("tool", argument.get("tools")) if isinstance(argument, dict) else argument
    last = named[-1] if isinstance(named, list) else str(named)
    if stems(str(last)) <= stems(row.input):
        return "user names it"
    return "rule names it" if stems(str(last)) <= stems(f"{row.rule}") and " " in row.rule else "changed only"


def table(rows: Iterable[Graded]) -> Iterator[str]:
    """Yield the lines of the table: yes of grades, of all and of each grading; a star where two reach four of five."""
    counts: defaultdict[Kind, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        counts[kind_of(row)][row.grading] += row.grades
    yield f"{'evaluator':17}{'source':8}{'support':15}{'yes':>9}  by grading"
    for kind, by in sorted(counts.items(), key=lambda one: (one[0][0], -_share(_all(one[1].values())))):
        every = _all(by.values())
        well = sum(_share(grades) >= 0.8 for grades in by.values()) >= 2
        parts = ", ".join(f"{name} {sum(grades)}/{len(grades)}" for name, grades in by.items())
        yield f"{kind[0]:17}{kind[1]:8}{kind[2]:15}{f'{sum(every)}/{len(every)}':>9}{'*' if well else ' '} {parts}"


def _all(parts: Iterable[list[bool]]) -> list[bool]:
    return [grade for part in parts for grade in part]


def _share(grades: list[bool]) -> float:
    return sum(grades) / len(grades)


def print_table() -> int:
    """Print the table of all graded sheets."""
    print("\n".join(table(graded_rows())))
    return 0
