"""Run the original, the mutants and the faults of each agent, once; what is there already is not run again."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.validity.agents import Agent, Fault, Study
from benchmarks.validity.runs import NOT_BUILT, Ran, write_in_a_fork

ROOT = Path(__file__).parents[2]


class Variant(NamedTuple):
    """A mutant or a fault, and its runs."""

    name: str
    group: str
    """The operator class of a mutant; the kind of a fault."""
    split: str
    """`mutant`, `development` or `test`."""
    held: Mapping[str, "np.ndarray"]
    """By scenario: whether each check held, runs x checks."""


class Collected(NamedTuple):
    """All runs of one agent."""

    agent: str
    original: Mapping[str, "np.ndarray"]
    """By scenario, runs x checks; checks that the original fails too often are left out, as in the variants."""
    tools: Mapping[str, frozenset[str]]
    """The tools that the original called on each scenario."""
    variants: Sequence[Variant]
    broken: Sequence[str]
    """Faults whose agent could not be built."""


class Sizes(NamedTuple):
    """How much is run."""

    mutants: int
    repeats: int


KEPT_RATE = 0.8
"""A check belongs to the pool where the original holds it in so large a share of its runs."""


def collect(study: Study, sizes: Sizes, kept: Path) -> Iterator[Collected]:
    """Yield the runs of each agent, from `kept` or made now."""
    kept.mkdir(parents=True, exist_ok=True)
    for agent in study.agents:
        own = _runs(agent, None, sizes, kept)
        if own is None:
            raise RuntimeError(f"the agent {agent.name} cannot be built")
        faults = [(fault, _runs(agent, fault, sizes, kept)) for fault in study.of(agent)]
        yield _collected(agent, own, faults)


def _collected(
    agent: Agent, own: Sequence[Ran], faults: Sequence[tuple[Fault, Sequence[Ran] | None]]
) -> Collected:
    original = {name: np.array(rows, dtype=bool) for name, rows in own[0].held.items() if rows}
    good = {name: rows.mean(axis=0) >= KEPT_RATE for name, rows in original.items()}
    pool = {name: rows[:, good[name]] for name, rows in original.items() if good[name].any()}

    def judged(one: Ran) -> dict[str, np.ndarray]:
        rows = {name: np.array(one.held.get(name, []), dtype=bool) for name in pool}
        return {name: each[:, good[name]] for name, each in rows.items() if each.size}

    mutants = [Variant(one.id, one.operator.split(".")[0], "mutant", judged(one)) for one in own[1:]]
    ran = [Variant(f.name, f.kind, f.split, judged(found[0])) for f, found in faults if found]
    tools = {name: frozenset(t for run in own[0].tools[name] for t in run) for name in pool}
    return Collected(agent.name, pool, tools, [*mutants, *ran], [f.name for f, found in faults if not found])


def _runs(agent: Agent, fault: Fault | None, sizes: Sizes, kept: Path) -> list[Ran] | None:
    """Return the runs of one patched project; None where it cannot be run, as its import or build fails."""
    name = (fault.name if fault else agent.name).replace(" ", "_")
    out = kept / f"{name}-{sizes.mutants if fault is None else 0}-{sizes.repeats}.json"
    if not out.exists():
        with tempfile.TemporaryDirectory() as scratch:
            project = agent.write(Path(scratch))
            for patch in fault.patches if fault else ():
                patch.apply(project.parent)
            code = write_in_a_fork(project, sizes.repeats, out, 0 if fault else sizes.mutants)
        if code == NOT_BUILT:
            return None
        if code:
            raise RuntimeError(f"the runs of {name} have failed with code {code}; what they say stands above")
    return [Ran(**each) for each in json.loads(out.read_text())]
