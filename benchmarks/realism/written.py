"""Draw mutants of whole agents that were written for this, and count their grades.

`python -m benchmarks.realism.written draw FOLDER --number 200 --seed final > sheet.csv` draws from all mutants that the
agents of FOLDER get by default: `first`, `second` or `third` of this folder. Each agent is a YAML file with prompt,
tools, model, documents and flow, so that operators of all classes are judged. `count` prints the share of "yes" by
sample of `written-grades.csv`, which has the drawn mutants with grade and reason; docs/realism.md has the figures.
"""

import argparse
import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from agentmut.mutation import generate
from agentmut.nouns import AgentConfig, Mutant
from agentmut.seams import OnDemand, OperatorOptions, load_all

HERE = Path(__file__).parent
GRADES = HERE / "written-grades.csv"
COLUMNS = ("sample", "agent", "operator", "change", "grade", "reason")


def agents(folder: Path) -> dict[str, AgentConfig]:
    """Return the agents of a folder by name."""
    found = sorted(folder.glob("*.yaml"))
    return {path.stem: AgentConfig.model_validate(yaml.safe_load(path.read_text("utf-8"))) for path in found}


def all_mutants(folder: Path) -> Iterator[tuple[str, Mutant]]:
    """Yield every mutant that an agent of a folder gets by default, with the agent's name."""
    operators = [kind() for kind in load_all("operators").values() if not issubclass(kind, OnDemand)]
    for name, config in agents(folder).items():
        for mutant in generate(config, operators, OperatorOptions()).mutants:
            yield name, mutant


def draw(folder: Path, number: int, seed: str) -> list[tuple[str, Mutant]]:
    """Return so many mutants, drawn by chance from all of a folder's agents together."""
    found = list(all_mutants(folder))
    random.Random(seed).shuffle(found)
    return sorted(found[:number], key=lambda pair: (pair[1].operator, pair[0]))


def graded() -> list[Mapping[str, str]]:
    """Return the graded mutants."""
    with GRADES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counted(rows: list[Mapping[str, str]]) -> dict[str, tuple[int, int]]:
    """Return how many mutants of each sample have "yes", and how many there are."""
    of = Counter(row["sample"] for row in rows)
    yes = Counter(row["sample"] for row in rows if row["grade"] == "yes")
    return {sample: (yes[sample], number) for sample, number in of.items()}


def main() -> None:
    """Draw a sheet, or count the grades."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["draw", "count"])
    parser.add_argument("folder", nargs="?", default="first")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", default="final")
    given = parser.parse_args()
    if given.verb == "count":
        for sample, (yes, number) in counted(graded()).items():
            print(f"{sample}: {yes} of {number} ({yes / number:.1%})")
        return
    writer = csv.writer(sys.stdout)
    writer.writerow(COLUMNS)
    for name, mutant in draw(HERE / given.folder, given.number, given.seed):
        writer.writerow([given.folder, name, mutant.operator, mutant.description, "", ""])


if __name__ == "__main__":
    main()
