"""The plot of all promises: a strip for each section, with a dot for each figure that has an upper bound."""

import re
from collections.abc import Sequence
from html import escape

from benchmarks.calibration.tables import Table

AT_MOST = re.compile(r"at most (?:alpha(?:/2)? = )?(\d*\.?\d+)(?: either way)?")
WIDTH, LABEL, RIGHT, TOP, STRIP = 980, 500, 16, 12, 16
"""Sizes in the units of the picture: its width, the room for titles, the margins, and the height of a strip."""
MOST = 1.5
"""The right end of the scale, as a share of the bound."""
LONGEST = 80
"""Characters of a title that have room beside its strip: no title is cut."""


def shares(table: Table) -> tuple[float, ...]:
    """Return measured over promised for each figure of a section whose promise is `at most` a number above 0.

    The sign of a figure is left out: an error that may be "at most 0.02 either way" has two bounds.
    """
    found = ((AT_MOST.match(row.promised), row.measured) for row in table.rows)
    return tuple(abs(float(number)) / float(bound[1]) for bound, number in found if bound and float(bound[1]))


def promises(tables: Sequence[Table]) -> str:
    """Return the plot as SVG. Raises `ValueError` if a figure is beyond the scale, and for a title without room."""
    strips = [(table.section, found) for table in tables if (found := shares(table))]
    if long := [title for title, _ in strips if len(title) > LONGEST]:
        raise ValueError(f"{long[0]}: the title has more than {LONGEST} characters")
    if outside := [title for title, found in strips if max(found) > MOST]:
        raise ValueError(f"{outside[0]}: a figure is more than {MOST} of its promise")
    height = TOP + STRIP * len(strips) + 40
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'font-family="sans-serif" font-size="12">',
            "<title>Each figure with an upper bound, as a share of its bound, by section.</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fbfaf8"/>',
            *_scale(height),
            *(line for at, strip in enumerate(strips) for line in _strip(at, *strip)),
            f'<text x="{LABEL}" y="{height - 6}" fill="#586069">measured, as a share of the promised bound</text>',
            "</svg>\n",
        )
    )


def _x(share: float) -> float:
    return round(2 * (LABEL + (WIDTH - LABEL - RIGHT) * share / MOST)) / 2


def _scale(height: int) -> list[str]:
    drawn = []
    for share, color, dash in ((0.0, "#d3d0ca", "none"), (1.0, "#a34200", "6 4"), (MOST, "#d3d0ca", "none")):
        x, bottom = _x(share), height - 38
        drawn.append(
            f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}" stroke="{color}" stroke-dasharray="{dash}"/>'
        )
        drawn.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle" fill="#1d2126">{share:g}</text>')
    return drawn


def _strip(at: int, title: str, found: Sequence[float]) -> list[str]:
    """Return a section's title and its dots; figures within half a unit share a dot."""
    y = TOP + STRIP * at + STRIP / 2
    label = f'<text x="{LABEL - 8}" y="{y + 4}" text-anchor="end" fill="#1d2126">{escape(title)}</text>'
    places = sorted({_x(share) for share in found})
    return [
        label,
        *(f'<circle cx="{x}" cy="{y}" r="2.5" fill="#0a66ab" fill-opacity="0.5"/>' for x in places),
    ]
