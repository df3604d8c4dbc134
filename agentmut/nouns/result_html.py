"""The result of a run as a few lines of HTML, for notebooks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from agentmut.nouns.mutant import Intent, Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result_figures import Score, nothing_decided

SHOWN = 10
"""Unnoticed changes that are listed."""
LONGEST = 200
"""Characters of a text in a cell."""
_UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)


def result_html(
    score: Score, classes: Mapping[str, Score], mutants: Iterable[MutantRow], problem: str
) -> str:
    """Return score, classes and unnoticed changes as HTML. Texts of users and models are escaped and cut.

    `problem` says why the run is not finished, where it is not.
    """
    rows = [row for row in mutants if row.intent is Intent.DEGRADE and row.status in _UNNOTICED]
    said = f"<br>{_cell(problem)}" if problem else ""
    return "".join(
        (
            f"<p><strong>Mutation score {_figures(score)}</strong>: {_counts(score)}{said}</p>",
            _table(("class", "score", "noticed"), _classes(classes)),
            f"<p>{len(rows)} changes that no scenario notices{_first(rows)}</p>" if rows else "",
            _table(("id", "place", "change", "status"), map(_unnoticed, rows[:SHOWN])) if rows else "",
        )
    )


def _first(rows: Sequence[object]) -> str:
    return f", the first {SHOWN}:" if len(rows) > SHOWN else ":"


def _classes(classes: Mapping[str, Score]) -> Iterator[tuple[str, str, str]]:
    for name, score in classes.items():
        decided = score.killed + score.survived + score.no_coverage
        yield name, _figures(score), f"{score.killed} of {decided}"


def _unnoticed(row: MutantRow) -> tuple[str, ...]:
    place = f"{row.target.path}:{row.target.line}" if row.target.line else str(row.target.path)
    return row.id, place, row.description, row.status.value.replace("_", " ")


def _figures(score: Score) -> str:
    if score.value is None:
        return nothing_decided(score)
    bounds = "" if score.low is None or score.high is None else f" [{score.low:.2f}, {score.high:.2f}]"
    return f"{score.value:.2f}{bounds}"


def _counts(score: Score) -> str:
    return f"{score.killed} killed, {score.survived} survived, {score.no_coverage} no coverage"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    names = "".join(f"<th>{_cell(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    line = " ".join(text[: 2 * LONGEST].split())
    return escape(line if len(line) <= LONGEST else f"{line[:LONGEST]}...")
