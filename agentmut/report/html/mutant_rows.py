"""Mutants as the page's script reads them: compact, cut and cleaned."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentmut.nouns import DecisionTable, Evidence, MutantRow, Result
from agentmut.report.html.inline import cut, diff_of
from agentmut.report.paint import clean
from agentmut.report.proof_wording import proof
from agentmut.report.report_wording import MEANING
from agentmut.report.terminal.mutant_page import advice
from agentmut.report.terminal.partial_delivery import delivery_note
from agentmut.report.terminal.survivor_gap import doubts, gap_in_words

_ROOM = 4_000_000
"""Characters that the texts of all mutants may have together, roughly."""


def longest_text(rows: int) -> int:
    """Return how many characters of a text are shown: fewer for more mutants, so that the page stays small."""
    return max(400, min(6_000, _ROOM // max(1, rows)))


class Strings:
    """Distinct texts, each with a number."""

    def __init__(self) -> None:
        self.all: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the index of a text; a new text is added."""
        return self.all.setdefault(text, len(self.all))


class Sayings(NamedTuple):
    """The sentences of the page about single mutants."""

    doubts: Mapping[str, str]
    rule: Mapping[str, float]

    def sentences_on(self, row: MutantRow) -> list[str]:
        """Return sentences on a mutant: the meaning of its status, the reason, and what to do."""
        doubt = self.doubts.get(row.id, "")
        said = [MEANING[row.status], proof(row, self.rule), cut(row.reason, 1_000)]
        if row.killed_by_relations:
            names = ", ".join(cut(name, 200) for name in row.killed_by_relations[:6])
            said.append(f"Relations notice this change, and the status does not count them: {names}.")
        if note := delivery_note(row):
            said.append(f"Partly delivered: it {note}." if note.startswith("reached") else f"{note}.")
        return [line for line in (*said, *gap_in_words(row, doubt), *advice(row, unsure=bool(doubt))) if line]


def sayings(result: Result) -> Sayings:
    """Return the page's sentences about the mutants of a result."""
    return Sayings(doubts(result.mutants), result.rule)


def page_data(result: Result, rows: Sequence[MutantRow], sayings: Sayings) -> dict[str, Any]:
    """Return everything that the page's script needs, as JSON types."""
    strings, longest = Strings(), longest_text(len(rows))
    scenarios = _scenario_names(result)
    place = {name: number for number, name in enumerate(scenarios)}
    mutants = [_row(row, result, sayings, strings, place, longest) for row in rows]
    return {
        "scenarios": [cut(name, 200) for name in scenarios],
        "baseline": {place[row.scenario]: [row.passes, row.trials] for row in result.baseline},
        "tables": [_table(table) for table in result.decision_tables],
        "strings": list(strings.all),
        "mutants": mutants,
    }


def _scenario_names(result: Result) -> list[str]:
    tried = (item.scenario for row in result.mutants for item in row.evidence)
    return list(dict.fromkeys((*(row.scenario for row in result.baseline), *tried)))


def _row(
    row: MutantRow,
    result: Result,
    sayings: Sayings,
    strings: Strings,
    place: Mapping[str, int],
    longest: int,
) -> dict[str, Any]:
    return {
        "id": cut(row.id, 80),
        "op": strings.number(cut(row.operator, 120)),
        "cls": row.operator_class.value,
        "intent": row.intent.value,
        "st": row.status.value,
        "at": strings.number(where(row)),
        "desc": cut(row.description, 300),
        "diff": [list(piece) for piece in diff_of(row, result.sources, longest)],
        "by": [strings.number(cut(name, 200)) for name in row.killed_by],
        "ev": [_evidence(item, strings, place) for item in row.evidence],
        "n": row.trials,
        "usd": row.usd,
        "say": [strings.number(line) for line in sayings.sentences_on(row)],
        "gap": cut(row.gap or "", 40),
        "group": cut(row.group, 80),
        "under": cut(row.subsumed_by, 80),
        "ci": [[red.runs, red.value, red.low, red.high] for red in row.ci_red],
    }


def where(row: MutantRow) -> str:
    """Return file and line of a change."""
    line = f":{row.target.line}" if row.target.line else ""
    return clean(f"{(row.target.path or '')[:200]}{line}")


def _evidence(item: Evidence, strings: Strings, place: Mapping[str, int]) -> list[Any]:
    """Return scenario, trials, failures, decision, a failure, table, and the failed trials (null: unknown)."""
    failed = [number for number, out in enumerate(item.outcomes, 1) if out == "1"]
    return [
        place[item.scenario],
        item.trials,
        item.failures,
        cut(item.decision, 40),
        strings.number(cut(item.failure, 300)),
        item.table,
        failed if item.outcomes else None,
    ]


def _table(table: DecisionTable) -> dict[str, Any]:
    return {
        "f0": table.f0,
        "n0": table.n0,
        "alpha": table.alpha,
        "kill": table.kill_at,
        "survive": table.survive_at,
        "low": list(_lowest(table.survive_at)),
        "log": table.log_evidence,
    }


def _lowest(survive_at: Iterable[int]) -> Iterator[int]:
    """Yield the fewest failures that undecided trials can have come to: where each row of the log evidence begins."""
    low = 0
    for survives in survive_at:
        yield low
        low = max(low, survives + 1)
