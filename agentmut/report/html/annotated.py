"""The prompt, with a mark at each rule that says whether the suite notices its loss."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from agentmut.insight import ABLATING
from agentmut.nouns import MutantRow, OperatorClass, Result, SourceText, Status
from agentmut.report.paint import clean
from agentmut.report.report_wording import counted
from agentmut.seams import effect_of


class Loss(StrEnum):
    """Whether the suite notices that a rule is lost or reversed."""

    NOTICED = "noticed"
    UNNOTICED = "unnoticed"
    OPEN = "open"
    """Tried, and not decided."""
    UNTRIED = "untried"
    """No mutant of this run drops or negates it."""


class Mark(NamedTuple):
    """The mark of a rule: its loss, with a sentence."""

    loss: Loss
    line: int | None
    mutant: str
    """The mutant that tells; empty where there is none."""
    says: str


class Passage(NamedTuple):
    """Some text of the prompt: a rule, or what stands between rules."""

    text: str
    mark: Mark | None = None


def annotated(result: Result) -> tuple[str, list[Passage]]:
    """Return the prompt's path and its text in passages; without its text, the rules that mutants tell of."""
    rows = {row.id: row for row in result.mutants}
    text = next((source for source in result.sources if source.rules), None)
    if text is not None:
        return clean(text.path), list(_passages(text, rows))
    lost = [row for row in result.mutants if effect_of(row) in ABLATING and row.before.strip()]
    groups: dict[tuple[int, str], list[MutantRow]] = {}
    for row in sorted(lost, key=lambda row: row.target.line or 0):
        groups.setdefault((row.target.line or 0, row.before.strip()), []).append(row)
    path = clean(lost[0].target.path or "") if lost else ""
    marks = ((said, _mark(line or None, group, group)) for (line, said), group in groups.items())
    return path, [Passage(f"{clean(said)}\n", mark) for said, mark in marks]


class Part(NamedTuple):
    """A tool or a document, with the mutants that change it."""

    name: str
    place: str
    passages: tuple[Passage, ...]
    mutants: tuple[MutantRow, ...]


def documents(result: Result) -> list[Part]:
    """Return the texts beside the prompt that mutants change, in passages by the mutants that change them."""
    found = []
    for number, source in enumerate(result.sources):
        rows = [row for row in result.mutants if any(change.text == number for change in row.changes)]
        if rows and not source.rules:
            found.append(Part(clean(source.path), "", tuple(_pieces(source.text, number, rows)), tuple(rows)))
    return found


def tools(result: Result) -> list[Part]:
    """Return the tools with the texts that a model gets; without texts, the tools that mutants change."""
    rows: dict[str, list[MutantRow]] = {tool.name: [] for tool in result.tools}
    for row in result.mutants:
        if row.operator_class is OperatorClass.TOOL and row.subject:
            rows.setdefault(row.subject, []).append(row)
    texts = {tool.name: tool for tool in result.tools}
    found = []
    for name, changing in rows.items():
        tool = texts.get(name)
        text = "\n".join(filter(None, (tool.description, tool.parameters))) if tool else ""
        place = f"{tool.path}:{tool.line}" if tool and tool.line else tool.path if tool else ""
        found.append(Part(clean(name), clean(place), (Passage(clean(text)),), tuple(changing)))
    return found


def _pieces(text: str, number: int, rows: Sequence[MutantRow]) -> Iterator[Passage]:
    """Yield a text in pieces, each marked by the mutants that change all of it."""
    spans = [
        (c.start, c.end, row) for row in rows for c in row.changes if c.text == number and c.end > c.start
    ]
    edges = sorted({0, len(text), *(at for start, end, _ in spans for at in (start, end))})
    for start, end in pairwise(edges):
        touching = [row for first, last, row in spans if first <= start and end <= last]
        said = clean(text[start:end])
        yield Passage(said, _mark(None, touching, touching, _CHANGES) if touching else None)


def tally(passages: Iterable[Passage]) -> dict[Loss, int]:
    """Return how many rules there are of each kind."""
    found = dict.fromkeys(Loss, 0)
    for passage in passages:
        if passage.mark:
            found[passage.mark.loss] += 1
    return found


def _passages(source: SourceText, rows: Mapping[str, MutantRow]) -> Iterator[Passage]:
    starts = [rule.start for rule in source.rules]
    yield Passage(clean(source.text[: starts[0]]))
    for rule, (_, following) in zip(source.rules, pairwise((*starts, len(source.text))), strict=True):
        touching = [rows[id] for id in rule.mutants if id in rows]
        lost = [row for row in touching if effect_of(row) in ABLATING]
        mark = _mark(rule.line, lost, touching)
        yield Passage(clean(source.text[rule.start : rule.end]), mark)
        yield Passage(clean(source.text[rule.end : following]))


def _mark(
    line: int | None,
    lost: Sequence[MutantRow],
    touching: Sequence[MutantRow],
    meanings: "Sequence[tuple[Loss, Sequence[Status], str]] | None" = None,
) -> Mark:
    for loss, statuses, said in meanings or _MEANINGS:
        telling = next((row for row in lost if row.status in statuses), None)
        if telling is not None:
            return Mark(loss, line, telling.id, f"{said}{_others(touching)}")
    return Mark(Loss.UNTRIED, line, "", f"No mutant of this run drops or negates it.{_others(touching)}")


_MEANINGS = (
    (Loss.NOTICED, (Status.KILLED,), "Its loss is noticed."),
    (Loss.UNNOTICED, (Status.SURVIVED, Status.NO_COVERAGE), "Nothing notices its loss."),
    (Loss.OPEN, tuple(Status), "Whether its loss is noticed is not decided."),
)


_CHANGES = (
    (Loss.UNNOTICED, (Status.SURVIVED, Status.NO_COVERAGE), "At least one change here goes unnoticed."),
    (Loss.NOTICED, (Status.KILLED,), "A change here is noticed."),
    (Loss.OPEN, tuple(Status), "Whether a change here is noticed is not decided."),
)
"""Where mutants overlap in a document, the status that comes first here is shown: an unnoticed one tells most."""


def _others(touching: Sequence[MutantRow]) -> str:
    """Return how many mutants change a rule and how many of them are killed; empty for a single mutant."""
    killed = sum(row.status is Status.KILLED for row in touching)
    return f" {counted(len(touching), 'mutant')} change it, {killed} killed." if len(touching) > 1 else ""
