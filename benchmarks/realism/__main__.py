"""Draw mutants of other people's prompts to be graded blind, and count the grades by operator.

`python -m benchmarks.realism sheet FOLDER --grader 1 > one.csv` makes 25 mutants each of the eight prompts that
`benchmarks/realism/prompts.yaml` names, of the operators that run by default. FOLDER holds the prompts as NAME.md; a
text with another digest is refused. Every `--grader N` gets the same mutants in another order.
`python -m benchmarks.realism key FOLDER > key.csv` prints what graders do not see: operator and id of each mutant.
`python -m benchmarks.realism table KEY.csv ONE.csv TWO.csv` counts the grades by operator. The rubric is
`benchmarks/realism/rubric.md`; `key.csv`, `grades-1.csv` and `grades-2.csv` beside it are those of docs/realism.md.
"""

import csv
import difflib
import hashlib
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut.mutation import generate
from agentmut.nouns import AgentConfig, Mutant
from agentmut.seams import OnDemand, OperatorOptions, load_all
from benchmarks.proposals.__main__ import counted, graded

SOURCES = Path(__file__).with_name("prompts.yaml")
COLUMNS = ("number", "prompt", "change", "diff", "grade")
EACH = 25
SEED = 2026
GOAL = 0.9
USAGE = "usage: python -m benchmarks.realism sheet FOLDER [--grader N] | key FOLDER | table KEY.csv ONE.csv TWO.csv"


class Drawn(NamedTuple):
    """One mutant of the sample, with what its graders do not see."""

    number: str
    prompt: str
    operator: str
    mutant: str
    row: Mapping[str, str]


def texts(folder: Path) -> dict[str, str]:
    """Return the prompts by name. Raises `SystemExit` for a missing one, or one with another digest."""
    found = {}
    for source in yaml.safe_load(SOURCES.read_text("utf-8")):
        path = folder / f"{source['name']}.md"
        held = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(held).hexdigest() != source["sha256"]:
            said = "has another digest than" if held else "is missing; take it from"
            raise SystemExit(f"{path} {said} {source['part']} of {source['repository']}/{source['path']}")
        found[source["name"]] = held.decode()
    return found


def mutants(prompt: str) -> tuple[Mutant, ...]:
    """Return the mutants that a prompt gets by default."""
    operators = [kind() for kind in load_all("operators").values() if not issubclass(kind, OnDemand)]
    return generate(AgentConfig(prompt=prompt), operators, OperatorOptions()).mutants


def changed(prompt: str, mutant: Mutant) -> str:
    """Return the lines that a mutant changes, with one line around them."""
    after = mutant.apply(AgentConfig(prompt=prompt)).prompt
    lines = difflib.unified_diff(prompt.splitlines(), after.splitlines(), n=1, lineterm="")
    return "\n".join(list(lines)[2:])


def sample(prompts: Mapping[str, str]) -> list[Drawn]:
    """Return at most `EACH` mutants of each prompt, drawn by chance from all that it gets."""
    found: list[Drawn] = []
    for name, prompt in prompts.items():
        have = list(mutants(prompt))
        random.Random(f"{SEED}:{name}").shuffle(have)
        for mutant in have[:EACH]:
            row = {"prompt": name, "change": mutant.description, "diff": changed(prompt, mutant)}
            found.append(Drawn(str(len(found) + 1), name, mutant.operator, mutant.id, row))
    return found


def table(operators: Mapping[str, str], graders: Sequence[Mapping[str, bool]]) -> list[str]:
    """Return Markdown rows: the mutants of each operator, and how many have yes from each grader."""
    lines = ["| operator | mutants | yes, first | yes, second |", "| --- | ---: | ---: | ---: |"]
    for operator in sorted(set(operators.values())):
        rows = [number for number, its in operators.items() if its == operator]
        yes = " | ".join(str(sum(grader.get(number, False) for number in rows)) for grader in graders)
        lines.append(f"| `{operator}` | {len(rows)} | {yes} |")
    return lines


def write_sheet(drawn: Sequence[Drawn], grader: int) -> None:
    """Print the sheet in a grader's order as CSV."""
    rows = [{"number": one.number, **one.row, "grade": ""} for one in drawn]
    random.Random(grader).shuffle(rows)
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)


def write_key(drawn: Sequence[Drawn]) -> None:
    """Print what graders do not see as CSV."""
    writer = csv.writer(sys.stdout)
    writer.writerow(["number", "prompt", "operator", "mutant"])
    writer.writerows([one.number, one.prompt, one.operator, one.mutant] for one in drawn)


def operators_of(key: Path) -> dict[str, str]:
    """Return the operator of each number of a key."""
    with key.open(encoding="utf-8", newline="") as file:
        return {row["number"]: row["operator"] for row in csv.DictReader(file)}


def compared(key: Path, sheets: Sequence[Path]) -> int:
    """Print the grades by operator and together; return 1 where the goal is missed."""
    graders = [graded(sheet) for sheet in sheets]
    found = counted(graders)
    print("\n".join(table(operators_of(key), graders)))
    shares = ", ".join(f"{share:.3f}" for share in found.shares)
    kappa = "not defined" if found.kappa is None else f"{found.kappa:.2f}"
    print(
        f"\n{found.graded} graded; yes: {shares} (goal {GOAL}); agreement {found.agreement:.2f}, kappa {kappa}"
    )
    return 0 if found.shares and min(found.shares) >= GOAL else 1


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0; 1 where the goal is missed; 2 for a wrong command line."""
    verb, paths = (arguments[0], arguments[1:]) if arguments else ("", ())
    if verb == "table" and len(paths) == 3:
        return compared(Path(paths[0]), [Path(path) for path in paths[1:]])
    numbered = len(paths) == 3 and paths[1] == "--grader" and paths[2].isdigit()
    if not ((verb == "key" and len(paths) == 1) or (verb == "sheet" and (len(paths) == 1 or numbered))):
        print(USAGE, file=sys.stderr)
        return 2
    drawn = sample(texts(Path(paths[0])))
    if verb == "key":
        write_key(drawn)
    else:
        write_sheet(drawn, int(paths[2]) if numbered else 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
