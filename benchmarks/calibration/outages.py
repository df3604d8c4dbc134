"""In real life: the model service has trouble in the middle of a campaign. A row a fault and route, worst length."""

import tempfile
from itertools import product
from pathlib import Path

from benchmarks.calibration.figures import Figure, Section
from benchmarks.outages import FAULTS, LENGTHS, ROUTES, Cell, campaign, cell


def section(*, thorough: bool) -> Section:
    """Measure false kills and changed decisions in each cell of the matrix; the quick pass has one cell."""
    routes, faults, lengths = (
        (ROUTES, FAULTS, LENGTHS) if thorough else (ROUTES[:1], ("brown_out",), LENGTHS[1:2])
    )
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        for route in routes:
            clean, _ = campaign(Path(name) / f"clean_{route}", route, "none", 0)
            for fault, length in product(faults, lengths):
                found = cell(clean, Path(name) / f"{route}_{fault}_{length}", route, fault, length)
                figures += _figures(f"{fault}, {route}, {length} requests", found)
    how = (
        "Whole campaigns against the simulator; the requests pass a front that makes the trouble, from the 60th "
        "request on, in a function of this process (task), in worker processes and for a program behind the proxy. "
        "False kills are a share of the mutants that survive without trouble; other decisions are compared with that "
        "run, too."
    )
    return Section("In real life: outages", how, tuple(figures))


def _figures(where: str, found: Cell) -> list[Figure]:
    share = found.false_kills / found.harmless if found.harmless else 0.0
    return [
        Figure(f"false kills, {where}", share, "0", high=0.0),
        Figure(f"decisions that differ, {where}", float(found.differ), "0", high=0.0),
    ]
