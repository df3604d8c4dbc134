"""Word lists and tables that are shipped as YAML: each is read, and holds what its reader takes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base import shipped

ROOT = Path(__file__).parents[2]
READ = re.compile(r'shipped\(\s*"([\w.]+)", "(\w+)"\s*\)')
KEY = re.compile(r'(?:_SHIPPED|\))\[\s*"(\w+)"\s*\]')
SOURCES = [
    text
    for folder in ("agentmut", "operators", "relations")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "shipped(" in (text := file.read_text("utf-8"))
]
FILES = sorted({found for text in SOURCES for found in READ.findall(text)})


def _texts(value: Any) -> Iterator[Any]:
    """Yield what lists and mappings hold, at any depth."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    else:
        yield value


def _readers(package: str, name: str) -> list[str]:
    return [text for text in SOURCES if (package, name) in READ.findall(text)]


@pytest.mark.parametrize(("package", "name"), FILES)
def test_every_list_is_read_and_every_read_list_is_there(package: str, name: str) -> None:
    read = {key for text in _readers(package, name) for key in KEY.findall(text)}
    assert set(shipped(package, name)) == read


@pytest.mark.parametrize(("package", "name"), FILES)
def test_a_table_holds_texts_and_a_list_names_no_word_twice(package: str, name: str) -> None:
    for key, value in shipped(package, name).items():
        rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        assert rows, key
        for row in rows:
            cells = list(_texts(row))
            assert cells and all(isinstance(cell, str) and cell.strip() for cell in cells), (key, row)
        if isinstance(value, str) and "," not in value:
            words = value.split()
            assert sorted(words) == sorted(set(words)), key


def test_words_that_yaml_reads_as_true_or_false_stay_words() -> None:
    lists = yaml.safe_load((ROOT / "agentmut/language/vocabulary/word_lists.yaml").read_text("utf-8"))
    assert {"no", "on", "off"} <= set(lists["stop_words"].split())
