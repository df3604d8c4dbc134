"""docs/validity.md: does the mutation score of a suite tell how many faults of another kind the suite finds?

`agentmut simulate -- python -m benchmarks.validity [--small]`, as `make validity` does, prints the page; `--only NAME`
prints the part of one agent. With
AGENTMUT_STUDY_MODEL the agents ask that model, and no simulator is needed. Runs are kept in `--kept`, made once.
"""

import argparse
from pathlib import Path

from benchmarks.validity.agents import Study
from benchmarks.validity.collect import Sizes, collect
from benchmarks.validity.page import page

SMALL, LONG = Sizes(mutants=60, repeats=8), Sizes(mutants=105, repeats=12)
SUITES = 250


def main() -> None:
    """Run what is not kept, and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small",
        action="store_true",
        help="60 mutants of an agent and 8 runs of each, in place of 105 and 12",
    )
    parser.add_argument("--kept", type=Path, default=Path(".validity"), help="folder of the runs")
    parser.add_argument("--only", action="append", help="the name of an agent; may be repeated")
    given = parser.parse_args()
    study, sizes = Study.read(), SMALL if given.small else LONG
    study = study.only(given.only) if given.only else study
    print(page(study, sizes, list(collect(study, sizes, given.kept)), SUITES, whole=not given.only))


if __name__ == "__main__":
    main()
