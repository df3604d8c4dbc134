"""CSV that a data frame reads back, and that no spreadsheet runs."""

import csv
import io

from agentmut.nouns import Status
from agentmut.report.builtin_formats import render_as
from tests.report.results import result, row


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_mutant_is_a_row_that_is_read_back() -> None:
    killed = row("aaaaaaaa", Status.KILLED, killed_by=("refund", "other"), grade="strong", p_value=0.0036)
    survived = row(
        "bbbbbbbb", Status.SURVIVED, gap="assertion", ruled_out=0.2, description='drop "a, b"\nand c'
    )
    rows = read(render_as(result(killed, survived), "csv"))
    assert [each["mutant"] for each in rows] == ["aaaaaaaa", "bbbbbbbb"]
    assert rows[0]["killed_by"] == "refund; other" and rows[0]["p_value"] == "0.0036" and rows[0]["gap"] == ""
    assert rows[1]["description"] == 'drop "a, b" and c' and rows[1]["ruled_out"] == "0.2"
    assert rows[1]["path"] == "tools.py" and rows[1]["line"] == "7" and rows[1]["status"] == "survived"


def test_what_a_spreadsheet_would_run_is_text() -> None:
    evil = row("aaaaaaaa", Status.SURVIVED, description="=HYPERLINK(1)", reason="-2+3\x1b[31m")
    (told,) = read(render_as(result(evil), "csv"))
    assert told["description"] == "'=HYPERLINK(1)"
    assert told["reason"] == "'-2+3?[31m"


def test_a_run_without_mutants_has_the_names_of_the_columns() -> None:
    assert read(render_as(result(), "csv")) == []
    assert render_as(result(), "csv").startswith("run,mutant,operator,class,")
