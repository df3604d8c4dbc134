"""Which operators make the changes of documented incidents, and what each change does to an example agent.

`make incidents` prints docs/incidents.md: each incident of `table.yaml`, its operator, one mutant of that operator on
the agent in `desk`, and what a campaign against the offline simulator showed of that mutant. `--list` runs nothing.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agentmut.campaign import Selection, make_mutants, open_session
from agentmut.nouns import MutantRow, Status
from agentmut.project import Project, load_project
from agentmut.usecases import measure

HERE = Path(__file__).parent
HEAD = """# Incidents

Made by `make incidents` from commit {commit}; do not edit. A row has a regression of a real agent that is documented
in public, and the operator whose mutants make the same change. One mutant of the operator was made on the agent in
`benchmarks/incidents/desk`, and the row says what a campaign against the offline simulator showed. Each incident was
read, and its operator chosen, by the authors of the operators; the operators were written after these incidents were
read. So the shares say what the catalogue can make, and not how it does on incidents that nobody has looked at.

The simulator is no real model: `killed` says that the mutant arrives and matters to four small scenarios.
"""
SHOWN = {
    Status.KILLED: "killed",
    Status.SURVIVED: "arrived, not noticed",
    Status.UNDECIDED: "arrived, undecided",
    Status.NO_COVERAGE: "no run came to it",
    Status.NOT_APPLIED: "did not arrive",
    Status.ERROR: "the runs ended in errors",
}


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="list mutants and run nothing")
    listed = parser.parse_args().list
    incidents = yaml.safe_load((HERE / "table.yaml").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "desk"
        shutil.copytree(HERE / "desk", copy, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
        project = of_operators(load_project(copy), incidents)
        found = described(project) if listed else shown(measure(project).mutants)
    print(HEAD.format(commit=commit()))
    print("\n".join([*summary(incidents, found), "", *rows(incidents, found)]))


def commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def of_operators(project: Project, incidents: Sequence[Mapping[str, Any]]) -> Project:
    """Return the project with the operators of the table alone, and one mutant of each."""
    operators = tuple(sorted({one["operator"] for one in incidents if "operator" in one}))
    mutation = project.mutation.model_copy(update={"operators": operators})
    return project.model_copy(update={"mutation": mutation})


def described(project: Project) -> dict[str, tuple[str, str]]:
    """Return one mutant for each operator, by the operator, with nothing shown."""
    session = open_session(project)
    return {one.operator: (one.description, "") for one in make_mutants(session, Selection()).mutants}


def shown(mutants: Sequence[MutantRow]) -> dict[str, tuple[str, str]]:
    """Return one mutant for each operator, by the operator, and what its runs showed."""
    return {row.operator: (row.description, SHOWN.get(row.status, row.status.value)) for row in mutants}


def summary(incidents: Sequence[Mapping[str, Any]], found: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield how many incidents have an operator, and what the mutants of these operators showed."""
    fits = Counter(one["fit"] for one in incidents)
    total = len(incidents)
    yield (
        f"{total} incidents can be reproduced by a patch of the agent. An operator makes the same change for "
        f"{fits['same']} ({fits['same'] / total:.0%}), and a change that shows in the same way for "
        f"{fits['like']} more; {fits['none'] or 'none'} {'have none' if fits['none'] else 'is left without'}."
    )
    statuses = Counter(status for _, status in found.values() if status)
    if statuses:
        said = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
        yield f"\nMutants of the {len(found)} operators: {said}."


def rows(incidents: Sequence[Mapping[str, Any]], found: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield the table."""
    yield "| incident | what was changed | operator | fit | mutant | what the runs showed |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for one in incidents:
        operator = one.get("operator", "")
        mutant, status = found.get(operator, ("", ""))
        named = f"[{one['id']}]({one['link']}) {one['project']}"
        cells = [
            named,
            one["change"],
            f"`{operator}`" if operator else "-",
            one["fit"],
            mutant or "-",
            status or "-",
        ]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
