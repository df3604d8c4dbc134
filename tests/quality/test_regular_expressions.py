"""Every regular expression takes linear time on hostile texts, but for those of `slow_patterns.txt`."""

import re
import subprocess
import sys

import pytest

from tests.quality.compiled_patterns import ROOT, Compiled
from tests.quality.pattern_times import known, looked_at

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "finditer"),
        (r"\w+:", "finditer"),
        (r"\{\{.*?\}\}", "finditer"),
        (r"'''\s*.+?\s*'''", "finditer"),
        (r"^(?:a+)+$", "match"),
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
        (r"“[^”]{1,400}”", "finditer"),
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
    assert done.stdout == ""


def test_every_listed_expression_is_one() -> None:
    for place in known():
        file, _, name = place.partition(":")
        assert re.search(rf"\b{re.escape(name)}\b", (ROOT / file).read_text("utf-8")), place
