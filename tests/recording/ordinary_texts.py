"""Ordinary texts, in which every secret that is found is a false alarm: prose, documentation, and recorded runs."""

import importlib.metadata
import json
import pydoc_data.topics
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def language_reference() -> Iterator[str]:
    """Yield the topics of Python's own reference, which every Python brings: 65,000 words of prose."""
    yield from pydoc_data.topics.topics.values()


def own_pages() -> Iterator[str]:
    """Yield the pages of this project, and its examples' prompts, scenarios and recorded requests."""
    kinds = (
        "docs/**/*.md",
        "examples/**/*.md",
        "examples/**/*.yaml",
        "examples/**/*.json",
        "tests/testdata/**/*.json",
    )
    for pattern in kinds:
        for path in sorted(ROOT.glob(pattern)):
            if "node_modules" not in path.parts:
                yield path.read_text(encoding="utf-8", errors="replace")


def package_descriptions() -> Iterator[str]:
    """Yield the descriptions of all installed packages: what a reader of documentation is shown, with code in it."""
    for package in importlib.metadata.distributions():
        yield package.read_text("METADATA") or ""


def recorded_runs(path: Path) -> Iterator[str]:
    """Yield each run of a file of recorded runs (a JSON list, or JSON lines) as JSON; another file as it is."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        content = json.loads(text)
    except ValueError:
        yield text
        return
    yield from map(json.dumps, content) if isinstance(content, list) else (text,)


def words_in(texts: list[str]) -> int:
    """Return how many words texts have: what white space separates."""
    return sum(len(text.split()) for text in texts)
