"""Tables as Parquet, for data frames: the columns of the CSV tables, each with one type whatever its values are."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentmut._base import UsageError
from agentmut.nouns import Result
from agentmut.report.files.csv_tables import MUTANT_COLUMNS, mutant_cells

MUTANT_TYPES: Mapping[str, str] = {
    "line": "int64",
    "trials": "int64",
    "p_value": "float64",
    "ruled_out": "float64",
    "usd": "float64",
}
"""Columns of mutants that are no text."""


def parquet_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], types: Mapping[str, str]
) -> bytes:
    """Return a table as a Parquet file; a column that `types` does not name is text, a missing value is null.

    Raises `UsageError` where pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow. Install with: pip install 'agentmut[parquet]'") from None
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    made = {
        name: pyarrow.array([_cell(each) for each in column], type=types.get(name, "string"))
        for name, column in zip(columns, values, strict=True)
    }
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(made), file)
    return file.getvalue()


def mutants_parquet(result: Result) -> bytes:
    """Return one row a mutant, with the columns of the CSV table. Raises what `parquet_table` raises."""
    return parquet_table(
        MUTANT_COLUMNS, (mutant_cells(result.run_id, row) for row in result.mutants), MUTANT_TYPES
    )


def _cell(value: Any) -> Any:
    """Return a value as Parquet takes it: half of a surrogate pair is no UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
