"""The quick pass of the calibration: every promised rate holds, and a broken promise would be noticed."""

import pytest

from benchmarks.calibration.__main__ import SECTIONS, lines, main, measured
from benchmarks.calibration.figures import Figure, Section


# "kill" is looked at in test_characteristics.py, which needs the same decision tables
@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "kill"])
def test_every_figure_is_as_promised(name: str) -> None:
    section = measured(name, thorough=False)
    assert section.figures
    assert not section.failures, "\n".join(lines(section))


def test_a_broken_promise_shows() -> None:
    broken = Figure("false kills", 0.0612, "at most 0.05", high=0.05, error=0.001)
    assert not broken.holds
    assert "| false kills | 0.0612 ± 0.001 | at most 0.05 | **FAILS** |" in lines(
        Section("A", "b", (broken,))
    )


def test_a_figure_that_is_no_number_is_no_kept_promise() -> None:
    assert not Figure("coverage", float("nan"), "0.95").holds


def test_an_unknown_section_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert f"sections: {', '.join(SECTIONS)}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--full", "--size", "3", "kill"],
        ["--size", "3", "drift"],
        ["--full", "--size", "1", "drift"],
        ["--full", "--size", "x", "drift"],
        ["--full", "drift", "--size"],
        ["--write", "drift"],
    ],
)
def test_a_size_that_no_section_takes_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "N: campaigns or projects of a cell, at least 2" in capsys.readouterr().err
