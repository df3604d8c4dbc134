"""docs/operators.md: every operator with an example, and what became of its mutants in the example projects.

Run `agentmut simulate -- python benchmarks/operators.py`, as `make operators` does. `--per-operator 0` lists
the operators without running anything.
"""

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agentmut.mutation.controls import Identity
from agentmut.mutation.generation import generate
from agentmut.nouns.mutant import Intent, Mutant, Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.origin import Origin
from agentmut.nouns.result import Result
from agentmut.nouns.trace import AgentTrace
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.project.schema import BudgetSettings, MutationSettings
from agentmut.report.report_wording import status_name
from agentmut.report.terminal.mutant_diff import unified
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import OnDemand, Operator
from agentmut.stats.traces.bigrams import bigram_counts
from agentmut.stats.traces.trace_comparison import compare_traces
from agentmut.store.rows import StoredTrial
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store

ROOT = Path(__file__).parent.parent
LEVEL = 0.01
"""Level of the trace test of one mutant, all its scenarios together."""
LEAST = 10
"""Trials of a mutant on a scenario below which behaviour is not compared."""
EXPLAINED = {
    ("callable", "prompt.synonym"): "this agent knows its rules by their very words, so it is brittle indeed",
}
"""Why harmless changes are noticed, by project and operator, where it was looked into."""
CLASSES = ("prompt", "tool", "model", "context", "orchestration")
HEAD = """# Operators

Made by `make operators` from commit {commit}; do not edit. Each operator with what it is for, an
example, and what became of its mutants in the example projects against the offline simulator. The simulator is no
real model: read the counts as a check that mutants arrive and matter, not as rates to expect.

`changed`: mutants whose runs differ from the original's. It takes a kill, or the trace test at level {level:g} for all
scenarios of a mutant together; scenarios with fewer than {least} trials of it are not compared. Changed and not killed
means that the suite did not notice.
"""


PROJECTS = ("callable", "order_pipeline", "support_desk", "ticket_triage")
"""Examples that need no framework but LangGraph, which the main environment has."""


class Measured(NamedTuple):
    """One mutant of one project, run."""

    project: str
    row: MutantRow
    changed: bool


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-operator", type=int, default=2, help="mutants of each operator and project")
    per_operator = parser.parse_args().per_operator
    kinds = load_all("operators").items()
    operators = {name: kind() for name, kind in kinds if not issubclass(kind, OnDemand)}
    found: dict[str, list[Measured]] = defaultdict(list)
    summaries = []
    for name in PROJECTS if per_operator else ():
        result, measured = measured_project(ROOT / "examples" / name, per_operator)
        summaries.append(summary(name, result))
        for one in measured:
            found[one.row.operator].append(one)
    print(HEAD.format(level=LEVEL, commit=commit(), least=LEAST))
    print("\n".join(summaries))
    print("\n".join(harmless(found)))
    for kind in CLASSES:
        of_class = [operator for name, operator in operators.items() if name.startswith(f"{kind}.")]
        print("\n".join(section(kind, of_class, found)))


def commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return shown.stdout.strip() or "unknown"


def measured_project(folder: Path, per_operator: int) -> tuple[Result, list[Measured]]:
    """Run all operators on a copy of an example project."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
        project = widened(load_project(copy), per_operator)
        result = measure(project)
        return result, list(compared(project, result))


def widened(project: Project, per_operator: int) -> Project:
    """Return the project with all operators and without a budget."""
    own = project.mutation
    mutation = MutationSettings(
        per_operator=per_operator, slow_seconds=1.0, identity=tuple(Identity),
        swap_models=own.swap_models or ("sim-medium",), downgrade_models=own.downgrade_models,
    )  # fmt: skip
    budget = BudgetSettings(prices=project.budget.prices)
    return project.model_copy(update={"mutation": mutation, "budget": budget})


def compared(project: Project, result: Result) -> Iterator[Measured]:
    """Yield each mutant of the result, with whether its behaviour changed."""
    with open_store(project) as store:
        originals = by_scenario(store.trials_of(result.run_id, ""))
        for row in result.mutants:
            changed = row.status is Status.KILLED
            if row.status in (Status.SURVIVED, Status.UNDECIDED):
                changed = differs(originals, by_scenario(store.trials_of(result.run_id, row.id)), row.id)
            yield Measured(project.root.name, row, changed)


def by_scenario(trials: Iterable[StoredTrial]) -> dict[str, list[AgentTrace]]:
    """Return the traces of trials, by scenario."""
    found: dict[str, list[AgentTrace]] = defaultdict(list)
    for trial in trials:
        found[trial.scenario].append(trial.execution.trace)
    return found


def differs(
    originals: Mapping[str, Sequence[AgentTrace]], mutated: Mapping[str, Sequence[AgentTrace]], id_: str
) -> bool:
    """Return whether the mutant's traces differ on some scenario, with Bonferroni's correction for their number."""
    rng = np.random.default_rng(int(id_, 16))
    tried = {name: traces for name, traces in mutated.items() if len(traces) >= LEAST}
    return any(
        compare_traces(*features(originals[name], traces), rng, permutations=1999).test.p_value
        <= LEVEL / len(tried)
        for name, traces in tried.items()
    )


def features(before: Sequence[AgentTrace], after: Sequence[AgentTrace]) -> tuple[Any, Any]:
    """Return both samples as numbers: tools, their order, length and cost of the answers."""
    tools = sorted({name for trace in (*before, *after) for name in trace.tools_called})
    orders = bigram_counts([t.tools_called for t in before], [t.tools_called for t in after])
    plain = [np.array([row(trace, tools) for trace in traces]) for traces in (before, after)]
    first, second = np.hstack([plain[0], orders.baseline]), np.hstack([plain[1], orders.candidate])
    return first, second


def row(trace: AgentTrace, tools: Sequence[str]) -> list[float]:
    """Return one trace as numbers."""
    called = Counter(trace.tools_called)
    words = trace.text.split()
    return [
        *(float(called[name]) for name in tools), float(len(trace.steps)), float(len(words)),
        float(trace.usage.output_tokens), float(sum(step.error is not None for step in trace.steps)),
        float(trace.text.count("?")), float("{" in trace.text), float(len(set(words))),
    ]  # fmt: skip


def summary(name: str, result: Result) -> str:
    """Return one line on a project's run."""
    counts = Counter(status_name(row.status) for row in result.mutants)
    said = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    identity = result.controls.identity
    return (
        f"- `examples/{name}`: {len(result.mutants)} mutants ({said}), {result.cost.trials} runs; "
        f"{identity.killed} of {identity.mutants} identity controls killed"
    )


def harmless(found: Mapping[str, Sequence[Measured]]) -> Iterator[str]:
    """Yield the `preserve` mutants that were killed, which identity controls must not be."""
    ran = [one for measured in found.values() for one in measured if one.row.intent is Intent.PRESERVE]
    killed = [one for one in ran if one.row.status is Status.KILLED]
    yield f"\n{len(killed)} of {len(ran)} `preserve` mutants were killed; by chance alone it may be one in twenty."
    for project, row, _ in killed:
        why = EXPLAINED.get((project, row.operator), "not explained yet")
        yield f"- `{row.operator}` in `{project}`: {row.description}, by {', '.join(row.killed_by)}: {why}"


def section(kind: str, operators: Sequence[Operator], found: Mapping[str, list[Measured]]) -> Iterator[str]:
    """Yield the table of one class."""
    yield f"\n## {kind}\n"
    yield "| operator | intent | example | mutants | changed | killed | survived | no coverage | other |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for operator in sorted(operators, key=lambda one: one.id):
        yield f"| {' | '.join(cells(operator, found[operator.id]))} |"
    yield ""
    for operator in sorted(operators, key=lambda one: one.id):
        yield f"- `{operator.id}`: {operator.why}"


def cells(operator: Operator, found: Sequence[Measured]) -> Iterator[str]:
    """Yield the cells of one operator."""
    statuses = Counter(one.row.status for one in found)
    shown = (Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE)
    other = [f"{number} {status_name(status)}" for status, number in statuses.items() if status not in shown]
    yield f"`{operator.id}`"
    yield operator.intent.value
    yield example(operator)
    if found:
        yield str(len(found))
        yield str(sum(one.changed for one in found))
        yield from (str(statuses[status]) for status in shown)
        yield ", ".join(other)
    else:
        yield from ("-",) * 6


def example(operator: Operator) -> str:
    """Return the operator's first example as changed lines."""
    config, _, options = next(iter(operator.examples()))
    (mutant, *_) = generate(config, [operator], options).mutants
    lines = [line for line in diff(config, mutant) if line[:1] in "+-"]
    return "<br>".join(f"`{escaped(line)}`" for line in lines[:4])


def diff(config: Any, mutant: Mutant) -> list[str]:
    """Return the unified diff of a mutant."""
    return list(unified(Origin(config=config, file=""), mutant))


def escaped(line: str) -> str:
    """Return a line that can stand in a cell of a table, in a code span."""
    cut = line if len(line) <= 90 else f"{line[:89]}…"
    return cut.replace("|", "\\|").replace("`", "'")


if __name__ == "__main__":
    main()
