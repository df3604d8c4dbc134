"""Whole commands on projects that double in size: `python benchmarks/sizes.py [SUBJECT...] [--share SHARE]`.

Prints a row for each command: sizes, seconds of processor time, the exponent by which time grows between the last two
sizes (1 is linear), and the peak memory of its largest process. A share below 1 makes all sizes smaller. Exits with 1
where an exponent is above 1.3, or a command has not done its work. Subjects: scenarios, steps, tools, mutants, traces,
replies, relations, prompt, revisions, imports.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import large_inputs  # noqa: E402
from benchmarks.commit import commit  # noqa: E402
from benchmarks.sized_commands import DONE, MAY_BE_OPEN, Measured, Row, command  # noqa: E402

MOST = 1.3
NOTICED_SECONDS = 5.0
"""Less than this is mostly the start of Python, and its growth says nothing."""
AGENT = "async def run(config, input):\n    return 'yes, at once' if config.prompt else 'no'\n"
STEPS = """
import agentmut

@agentmut.tool
def look_up(order: str, row: int) -> dict:
    return {{"order": order, "row": row, "status": ["shipped", "late", "lost"][row % 3]}}

async def run(config, input):
    tool = agentmut.toolbox(config, [look_up])["look_up"]
    for row in range({size}):
        tool(order=f"W{{row % 97}}", row=row)
    return "yes, all rows are read" if config.prompt else "no"
"""
PROJECT = """
version: 1
agent: {{adapter: python, run: "my_agent:run", safe_tools: all, config: {{prompt: prompt.md, tools: tools.yaml}}}}
suite: {{scenarios: scenarios.yaml}}
mutation: {{operators: {operators}}}
budget: {{trials: {trials}}}
statistics: {{baseline: 2, rounds: one}}
"""
OF_TRIALS = frozenset({"run", "resume", "test", "relations"})
"""Verbs whose answer can be open: the projects here have few trials for their size."""
CALLS_LOOK_UP = "[contains: 'yes', tool_called: look_up, {tool_count: {tool: look_up, at_least: 1}}]"


IMPORTED = "version: 1\nsuite: {traces: {imported: true, evaluators: [contains: order]}}\n"


class Subject(NamedTuple):
    """What grows, and the commands that are measured on it, one after the other in one project."""

    sizes: tuple[int, ...]
    unit: str
    write: Callable[[Path, int], None]
    commands: tuple[str, ...]


def project(
    folder: Path,
    *,
    scenarios: int = 2,
    rules: int = 3,
    tools: int = 1,
    trials: int = 40,
    operators: str = "[prompt.drop_instruction]",
    agent: str = AGENT,
    evaluators: str = "[contains: 'yes']",
) -> None:
    """Write a project of these sizes."""
    (folder / "my_agent.py").write_text(agent)
    (folder / "prompt.md").write_text("".join(f"- Never talk about subject {i}.\n" for i in range(rules)))
    cases = (f"- {{name: s{i}, input: hello {i}, evaluators: {evaluators}}}\n" for i in range(scenarios))
    (folder / "scenarios.yaml").write_text("".join(cases))
    parameters = {"type": "object", "properties": {"order": {"type": "string"}, "row": {"type": "integer"}}}
    named = ["look_up", *(f"look_up_{i}" for i in range(1, tools))]
    described = [
        {"name": one, "description": f"{one} finds an order.", "parameters": parameters} for one in named
    ]
    (folder / "tools.yaml").write_text(json.dumps(described))
    (folder / "agentmut.yaml").write_text(PROJECT.format(operators=operators, trials=trials))


def _steps(folder: Path, size: int) -> None:
    project(folder, agent=STEPS.format(size=size), evaluators=CALLS_LOOK_UP)


def _tools(folder: Path, size: int) -> None:
    project(folder, tools=size, operators="[tool.remove, tool.reorder]")


def _runs(folder: Path, size: int) -> None:
    """Write so many recorded runs of a kilobyte each."""
    said = "The order is on its way, and it will be there within some days. " * 14
    runs = [
        {"task_id": n % 50, "trial": n // 50, "reward": 1.0, "info": {}, "traj": [
            {"role": "user", "content": f"Where is order {n % 50}?"}, {"role": "assistant", "content": said}]}
        for n in range(size)
    ]  # fmt: skip
    (folder / "runs.json").write_text(json.dumps(runs))
    (folder / "agentmut.yaml").write_text(IMPORTED)


SUBJECTS = {
    "scenarios": Subject(
        (625, 1250, 2500),
        "scenarios",
        lambda folder, size: project(folder, scenarios=size, rules=10, trials=2 * size),
        (
            "mutants",
            "doctor --yes",
            "run --yes",
            "resume --trials {more}",
            "report",
            "rescore",
            "coverage",
            "suggest",
            "relations --stored",
            "trend",
            "report --format html --output r.html",
        ),
    ),
    "steps": Subject(
        (1250, 2500, 5000),
        "tool calls a run",
        _steps,
        (
            "test --yes --trials 6",
            "coverage",
            "export t.jsonl",
            "relations --stored",
            "import t.jsonl",
            "analyze",
        ),
    ),
    "tools": Subject((250, 500, 1000), "tools", _tools, ("mutants", "doctor --yes", "run --yes", "coverage")),
    "mutants": Subject(
        (500, 1000, 2000),
        "rules of the prompt",
        lambda folder, size: project(folder, rules=size, trials=200),
        ("mutants", "doctor --yes", "run --yes", "report --format html --output r.html", "coverage"),
    ),
    "traces": Subject(
        (5000, 10000, 20000),
        "runs of 1 KB",
        _runs,
        ("import runs.json", "analyze", "test --yes", "coverage", "relations --stored", "trials"),
    ),
    "replies": Subject(
        (250, 500, 1000),
        "KB a reply, five kinds of evaluators",
        large_inputs.replies,
        ("test --yes --trials 6",),
    ),
    "relations": Subject(
        (25, 50, 100), "KB a reply", large_inputs.replies, ("relations --yes --pairs 1 --sources 10",)
    ),
    "prompt": Subject((250, 500, 1000), "KB of a prompt", large_inputs.prompt, ("mutants", "doctor --yes")),
    "revisions": Subject(
        (5, 10, 20), "MB of changed files", large_inputs.revisions, ("mutants --in-diff HEAD",)
    ),
    "imports": Subject(
        (3, 6, 12),
        "MB",
        large_inputs.recorded,
        (*(f"import {name}.jsonl" for name in large_inputs.FORMATS), "analyze"),
    ),
}


def rows(subject: Subject, share: float) -> Iterator[Row]:
    """Measure the commands of a subject for all sizes; yield a row for each command."""
    sizes = tuple(dict.fromkeys(max(2, round(size * share)) for size in subject.sizes))
    measured: dict[str, list[Measured]] = {words: [] for words in subject.commands}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subject.write(folder, size)
            for words, found in measured.items():
                found.append(command(folder, *words.format(more=round(2.4 * size)).split()))
    for words, found in measured.items():
        codes = MAY_BE_OPEN if words.split()[0] in OF_TRIALS else DONE
        yield Row(f"`{words.format(more='N')}`", sizes, subject.unit, tuple(found), codes)


def faults(row: Row) -> Iterator[str]:
    """Yield what is wrong with a row, in a phrase each."""
    last = row.measured[-1]
    if last.seconds > NOTICED_SECONDS and row.exponent > MOST:
        yield f"{row.what} grows with an exponent of {row.exponent:.2f}"
    for one in row.measured:
        if one.code not in row.codes or "bug of agentmut" in one.said:
            yield f"{row.what} ended with {one.code}: {one.said[-200:]}"


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", help="subjects; all if left out")
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    print(
        f"commit {commit()}\n\n| command | sizes | seconds | exponent | MB |\n| --- | --- | --- | ---: | ---: |"
    )
    wrong: list[str] = []
    for name in given.subjects or SUBJECTS:
        for row in rows(SUBJECTS[name], given.share):
            print(row, flush=True)
            wrong += faults(row)
    print("\n" + ("\n".join(wrong) if wrong else "nothing grows faster than it should"))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
