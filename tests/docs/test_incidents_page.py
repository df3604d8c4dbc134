"""docs/incidents.md: its operators exist, its counts are the table's, and the table has what can be reproduced."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.seams.plugins import names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "incidents.md").read_text("utf-8")
TABLE: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / "benchmarks" / "incidents" / "table.yaml").read_text("utf-8")
)
PARTS = ("shared", "data", "incidents", "development.jsonl")
COLLECTED = next(
    (path for parent in Path(__file__).parents if (path := parent.joinpath(*PARTS)).is_file()),
    Path("missing"),
)
ROWS = re.findall(r"^\| \[(\w+)\]\([^)]+\) [^|]*\| [^|]* \| `?([\w.-]+)`? \| (\w+) \|", PAGE, re.MULTILINE)


def test_every_incident_of_the_table_has_its_row() -> None:
    assert [(one["id"], one.get("operator", "-"), one["fit"]) for one in TABLE] == ROWS


def test_every_operator_exists() -> None:
    assert {one["operator"] for one in TABLE if "operator" in one} <= set(names("operators"))


def test_four_of_five_incidents_have_an_operator_that_makes_the_same_change() -> None:
    fits = Counter(one["fit"] for one in TABLE)
    assert fits["same"] / len(TABLE) >= 0.8
    assert f"same change for {fits['same']} ({fits['same'] / len(TABLE):.0%})" in re.sub(r"\s+", " ", PAGE)


def test_no_mutant_of_the_page_failed_to_arrive() -> None:
    assert "did not arrive" not in PAGE and "ended in errors" not in PAGE


@pytest.mark.skipif(not COLLECTED.is_file(), reason="the collected incidents are not in this checkout")
def test_the_table_has_every_incident_that_can_be_reproduced_and_no_other() -> None:
    found = [json.loads(line) for line in COLLECTED.read_text("utf-8").splitlines()]
    wanted = {one["id"].partition("-")[0] for one in found if one["reproducible_as_patch"] == "yes"}
    assert {one["id"] for one in TABLE} == wanted
