"""Parquet that a data frame reads back, with the same types whatever the values are."""

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentmut._base.errors import UsageError
from agentmut.cli.entry import app
from agentmut.nouns import Status
from agentmut.nouns.result_file import write_result
from agentmut.report.files.csv_tables import MUTANT_COLUMNS
from agentmut.report.files.parquet_tables import MUTANT_TYPES, mutants_parquet
from tests.report.results import result, row

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install 'agentmut[parquet]'")


def test_mutants_are_read_back_with_their_types() -> None:
    killed = row("aaaaaaaa", Status.KILLED, killed_by=("refund", "other"), p_value=0.0036)
    survived = row("bbbbbbbb", Status.SURVIVED, description="=1+1\nand \ud83d half", ruled_out=0.2)
    read = parquet.read_table(io.BytesIO(mutants_parquet(result(killed, survived))))
    assert read.column_names == list(MUTANT_COLUMNS)
    first, second = read.to_pylist()
    assert (first["mutant"], first["killed_by"], first["p_value"]) == ("aaaaaaaa", "refund; other", 0.0036)
    assert (second["p_value"], second["ruled_out"]) == (None, 0.2)
    assert second["description"] == "=1+1\nand ? half"


def test_types_do_not_depend_on_the_values() -> None:
    for rows in ((), (row("aaaaaaaa", Status.SURVIVED),)):
        schema = parquet.read_table(io.BytesIO(mutants_parquet(result(*rows)))).schema
        found = {field.name: str(field.type).replace("double", "float64") for field in schema}
        assert found == {name: MUTANT_TYPES.get(name, "string") for name in MUTANT_COLUMNS}


def test_the_verb_writes_a_file_and_refuses_stdout(tmp_path: Path) -> None:
    found = result(row("aaaaaaaa", Status.KILLED), row("bbbbbbbb", Status.SURVIVED), run_id="20260101-120000")
    write_result(found, tmp_path / ".agentmut" / "runs" / "20260101-120000")
    command = ["report", "--format", "parquet", "--project", str(tmp_path)]
    file = tmp_path / "mutants.parquet"
    done = CliRunner().invoke(app, [*command, "--output", str(file), "--mutant", "bbbbbbbb"])
    assert done.exit_code == 0, done.exception
    assert parquet.read_table(file).column("status").to_pylist() == ["survived"]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, UsageError) and "name it with --output" in str(refused.exception)
