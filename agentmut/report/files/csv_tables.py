"""Tables as CSV, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Iterable, Sequence

from agentmut.nouns import MutantRow, Result
from agentmut.report.bounded import one_line

FORMULA = ("=", "+", "-", "@")
"""A spreadsheet takes a text that begins so for a formula."""
MUTANT_COLUMNS = (
    "run", "mutant", "operator", "class", "intent", "status", "path", "line", "description", "killed_by", "grade",
    "p_value", "ruled_out", "gap", "trials", "usd", "reason",
)  # fmt: skip


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV with one line of names. A missing value is an empty cell, and every text is one line.

    A text that a spreadsheet would take for a formula gets an apostrophe ahead, since models and users wrote it.

    >>> csv_table(("a", "b"), [(1, "=x"), (None, "two\\nlines")])
    "a,b\\n1,'=x\\n,two lines\\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def mutants_csv(result: Result) -> str:
    """Return one row a mutant, with the columns of `MUTANT_COLUMNS`."""
    return csv_table(MUTANT_COLUMNS, (mutant_cells(result.run_id, row) for row in result.mutants))


def mutant_cells(run: str, row: MutantRow) -> tuple[object, ...]:
    """Return the values of a mutant, in the order of `MUTANT_COLUMNS`."""
    return (
        run,
        row.id,
        row.operator,
        row.operator_class.value,
        row.intent.value,
        row.status.value,
        row.target.path,
        row.target.line,
        row.description,
        "; ".join(row.killed_by),
        row.grade,
        row.p_value,
        row.ruled_out,
        row.gap,
        row.trials,
        row.usd,
        row.reason,
    )


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    line = one_line(value, limit=2_000)
    return f"'{line}" if line.startswith(FORMULA) else line
