"""The plots of docs/error-rates.md, drawn from the calibration tables by `python -m benchmarks.calibration.in_words`.

A plot has a dot for each measured figure and a line at its promise. Plots are SVG files in docs/pictures.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.strips import promises
from benchmarks.calibration.tables import Row, Table

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 40
"""Room around a plot for its numbers, in the units of the picture."""


class Dot(NamedTuple):
    """A measured figure."""

    x: float
    y: float


class Plot(NamedTuple):
    """Dots against a promise."""

    name: str
    """The name of the file, without its ending."""
    title: str
    """What a reader who does not see the picture is told."""
    across: str
    up: str
    dots: tuple[Dot, ...]
    promise: float
    top: float
    """The largest value that the plot has room for."""
    bottom: float = 0.0


def plots(tables: Sequence[Table]) -> list[Plot]:
    """Return the plots that the tables have the figures for."""
    return [
        Plot(
            "false-kills",
            "The most false kills at any failure rate, by the number of baseline trials: every dot lies below 0.05.",
            "trials of the baseline",
            "chance of a false kill",
            tuple(_dots(tables, r"supremum, n0 = (\d+), alpha = 0\.05")),
            0.05,
            0.06,
        ),
        Plot(
            "drops-noticed",
            "How often a drop of 0.2 is noticed, by the pass rate of the unchanged agent: between 0.78 and 0.92.",
            "pass rate of the unchanged agent",
            "chance that a drop of 0.2 is noticed",
            tuple(_dots(tables, r"power at drop 0\.2, pass rate ([\d.]+)")),
            0.9,
            1.0,
            0.7,
        ),
        Plot(
            "score-interval",
            "How often each end of the score's interval was right, in each cell: every dot lies above 0.965.",
            "cell of the simulation",
            "share of runs in which the end is right",
            tuple(_numbered(tables, r"(?:lower|upper) end, .*?")),
            0.965,
            1.0,
            0.95,
        ),
    ]  # fmt: skip


def _dots(tables: Sequence[Table], figure: str) -> Iterable[Dot]:
    """Yield the figures whose name has a number in it: that number, and what was measured."""
    return (Dot(float(name[1]), float(row.measured)) for name, row in _named(tables, figure))


def _numbered(tables: Sequence[Table], figure: str) -> Iterable[Dot]:
    """Yield the figures of a kind in the order of the tables, the first at 1."""
    return (Dot(n, float(row.measured)) for n, (_, row) in enumerate(_named(tables, figure), 1))


def _named(tables: Sequence[Table], figure: str) -> Iterable[tuple[re.Match[str], Row]]:
    for table in tables:
        for row in table.rows:
            if name := re.fullmatch(figure, row.figure):
                yield name, row


def svg(plot: Plot) -> str:
    """Return a plot as SVG. Raises `ValueError` for one without dots, and for a dot that it has no room for."""
    if not plot.dots:
        raise ValueError(f"{plot.name}: the tables have none of its figures")
    if outside := [dot for dot in plot.dots if not plot.bottom <= dot.y <= plot.top]:
        raise ValueError(f"{plot.name}: {outside[0].y} is outside of {plot.bottom} to {plot.top}")
    low, high = min(dot.x for dot in plot.dots), max(dot.x for dot in plot.dots)

    def right(x: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * ((x - low) / (high - low) if high > low else 0.5), 1)

    def down(y: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (plot.top - y) / (plot.top - plot.bottom), 1)

    ends = ((right(low), f"{low:g}", "start"), (right(high), f"{high:g}", "end"))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="sans-serif" font-size="12">',
            f"<title>{escape(plot.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fbfaf8"/>',
            *_lines(plot, down),
            *(f'<circle cx="{right(dot.x)}" cy="{down(dot.y)}" r="2.5" fill="#0a66ab"/>' for dot in plot.dots),
            *(
                f'<text x="{x}" y="{HEIGHT - 24}" text-anchor="{anchor}" fill="#1d2126">{number}</text>'
                for x, number, anchor in ends
            ),
            f'<text x="{LEFT}" y="{HEIGHT - 8}" fill="#586069">{escape(plot.across)}, against {escape(plot.up)}</text>',
            "</svg>\n",
        )
    )  # fmt: skip


def _lines(plot: Plot, down: Callable[[float], float]) -> Sequence[str]:
    """Return the promise as a dashed line, and the two ends of the scale, each with its number."""
    drawn = []
    for value, color, dash in (
        (plot.bottom, "#d3d0ca", ""),
        (plot.top, "#d3d0ca", ""),
        (plot.promise, "#a34200", "6 4"),
    ):
        y = down(value)
        ends = f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"'
        drawn.append(f'<line {ends} stroke="{color}" stroke-dasharray="{dash or "none"}"/>')
        drawn.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end" fill="#1d2126">{value:g}</text>')
    return drawn


def write(tables: Sequence[Table], folder: Path = FOLDER) -> None:
    """Write all plots of the page."""
    for each in plots(tables):
        (folder / f"{each.name}.svg").write_text(svg(each), encoding="utf-8")
    (folder / "promises.svg").write_text(promises(tables), encoding="utf-8")
