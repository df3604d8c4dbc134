"""Regular expressions of these rooms take linear time on hostile texts, but for those of `slow_patterns.txt`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quality.compiled_patterns import ROOT, Compiled
from tests.quality.pattern_times import looked_at

pytestmark = pytest.mark.process

ROOMS = (
    "_base",
    "cli",
    "doctor",
    "nouns",
    "project",
    "report",
    "suites",
    "trace_formats",
    "trial",
    "usecases",
    "wire",
)
KNOWN = {
    line.partition("  ")[0]
    for line in Path(__file__).with_name("slow_patterns.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "finditer"),
        (r"\w+:", "finditer"),
        (r"\{\{.*?\}\}", "finditer"),
    ],
)
def test_what_is_slow_is_found(pattern: str, method: str) -> None:
    assert looked_at(Compiled(pattern, 0, "", "", (method,)))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?<!\s)\s+$", "finditer"),
        (r"\b\w+:", "finditer"),
        (r"a+$", "match"),
        (r"\{\{.{0,99}\}\}", "finditer"),
    ],
)
def test_what_is_linear_is_not(pattern: str, method: str) -> None:
    assert not looked_at(Compiled(pattern, 0, "", "", (method,)))


def test_every_expression_takes_linear_time() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.quality.pattern_times"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split("\t", 1) for line in done.stdout.splitlines())
    assert not {place: said for place, said in found.items() if place not in KNOWN}


def test_every_listed_expression_is_one() -> None:
    for place in KNOWN:
        file, _, name = place.partition(":")
        assert re.search(rf"\b{re.escape(name)}\b", (ROOT / file).read_text("utf-8")), place
