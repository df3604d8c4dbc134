"""Every verb and option that a message, a help text or a docstring of agentmut names exists."""

import re
from collections.abc import Iterator

import pytest

from tests.named_commands import OF_AGENTMUT, OPTIONS, check_line, commands_in, messages
from tests.readability import ROOT, SOURCES

OTHERS = re.compile(
    r"\b(?:git fetch|npm|pytest|inspect eval|ray start|benchmarks\.calibration)\b"
    r"|--(?:junitxml|require|ask|filter-|from-literal|proxy-user|user[ =])"
)
"""Other programs: messages name their options, too."""


NAMES = re.compile(r"`agentmut |--[a-z]")
"""A quick look that spares parsing files without any such name."""


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    return list(read())


def read() -> Iterator[tuple[str, str]]:
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if NAMES.search(source) and not any(part.is_symlink() for part in (path, *path.parents)):
                yield from ((f"{path.relative_to(ROOT)}:{line}", text) for line, text in messages(source))


def test_every_verb_and_option_that_a_message_names_exists(texts: list[tuple[str, str]]) -> None:
    named = [(place, line) for place, text in texts for line in commands_in(text)]
    for place, line in named:
        check_line(line, place)
    assert len(named) > 200


def test_every_option_that_a_message_names_exists(texts: list[tuple[str, str]]) -> None:
    unknown = [
        (place, option)
        for place, text in texts
        if " " in text and not OTHERS.search(text)
        for option in re.findall(r"(?<![^\s(])--[a-z][a-z-]*[a-z]\b(?!-)", text)
        if option not in OPTIONS and option not in OF_AGENTMUT and not option.startswith("--agentmut")
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "line", ["agentmut walk", "agentmut run --sideways", "agentmut simulate -- agentmut walk"]
)
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    with pytest.raises(AssertionError):
        check_line(line, "here")
