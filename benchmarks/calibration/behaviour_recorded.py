"""Behaviour against pass/fail on recorded runs: `python -m benchmarks.calibration.behaviour_recorded FILE [--write]`.

FILE is `gpt-4o-airline.json` of tau-bench (historical_trajectories in sierra-research/tau-bench, MIT): 200 runs of 50
tasks. It is not part of this project, so the section has a command of its own. With `--write` it stores the section.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.insight.behaviour_comparison import compare_behaviour
from agentmut.insight.fingerprint import Fingerprint, Reference, fingerprint
from agentmut.nouns import Action, AgentTrace, BrokenRecord, Ending, Execution
from agentmut.seams import TraceFile
from agentmut.stats import Alternative, compare_traces, fisher_test
from agentmut.trace_formats.tau_bench import TauBench
from benchmarks.calibration.__main__ import report
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SEED = 26
SPLITS = 100
"""With a call cut; twice as many are taken with the looks where nothing is cut."""
UNCUT = 700
"""Splits with nothing cut, in one look."""
BEFORE, NOW = 100, 30
LEVEL = 0.01
ALPHA = 0.05


class Recorded(NamedTuple):
    """A recorded run, and whether it was rewarded."""

    whole: Execution
    cut: Execution
    """Without its first call of a tool."""
    prints: tuple[Fingerprint, Fingerprint]
    """The fingerprint of the whole run, and that of the run without its first call."""
    passed: bool


class Split(NamedTuple):
    """What one comparison of 30 runs with 100 others finds."""

    p: float
    """The p-value of behaviour at 30 runs, in one look."""
    changed: bool | None
    """Whether `agentmut test --behaviour` says so at its looks; None where it was not asked."""
    fisher: float
    """The one-sided p-value of the pass rates."""


def section(path: Path) -> Section:
    """Behaviour and pass/fail on runs of which the first tool call is cut, and on untouched ones."""
    runs = list(_recorded(path))
    how = (
        f"Recorded: {len(runs)} trajectories of `{path.name}` (tau-bench, gpt-4o). {SPLITS} times (seed {SEED}), "
        f"{BEFORE} of them drawn at random are the baseline and {NOW} of the others are today's, all tasks together. "
        f"Nothing cut: {UNCUT} such splits. Each of them is a random one, so the test is exact for it, and splits are "
        "independent given the runs: their share has the error of as many coins. "
        "Cut: the first tool call of each of today's runs, with its result, is left out; rewards stay. Pass/fail is "
        "Fisher's test of the rewards, one-sided."
    )
    return Section("Behaviour on recorded runs", how, tuple(_figures(runs)))


def _recorded(path: Path) -> Iterator[Recorded]:
    for trial in TauBench().read([TraceFile(path, path.name)]):
        if not isinstance(trial, BrokenRecord):
            whole, cut = (_executed(trace) for trace in (trial.trace, _without_first_call(trial.trace)))
            prints = fingerprint(whole), fingerprint(cut)
            yield Recorded(whole, cut, prints, trial.scores["reward"].value >= 1 - 1e-6)


def _figures(runs: Sequence[Recorded]) -> Iterator[Figure]:
    cut = [_split(runs, number, cut=True) for number in range(SPLITS)]
    rate, error = simulated_rate(each.p <= LEVEL for each in cut)
    yield Figure(f"one call cut: p <= {LEVEL} at {NOW} runs", rate, "at least .9", low=0.9, error=error)
    yield Figure("  the median p", float(np.median([each.p for each in cut])), f"at most {LEVEL}", high=LEVEL)
    rate, error = simulated_rate(bool(each.changed) for each in cut)
    yield Figure("  called changed by agentmut, looks at 5, 10 and 20", rate, "", error=error)
    rate, error = simulated_rate(each.fisher <= ALPHA for each in cut)
    yield Figure("  called worse by pass/fail", rate, "at most .05", high=ALPHA, error=error)
    same = [_split(runs, number, cut=False, looks=number < 2 * SPLITS) for number in range(UNCUT)]
    rate, error = simulated_rate(each.p <= ALPHA for each in same)
    yield Figure(
        f"nothing cut, {UNCUT} splits: p <= {ALPHA} at {NOW} runs",
        rate,
        ".04 to .06",
        0.04,
        0.06,
        error=error,
    )
    rate, error = simulated_rate(each.changed for each in same if each.changed is not None)
    yield Figure(
        f"  called changed by agentmut, {2 * SPLITS} splits",
        rate,
        "at most .0375: three of four looks",
        high=0.0375,
        error=error,
    )


def _split(runs: Sequence[Recorded], number: int, *, cut: bool, looks: bool = True) -> Split:
    """Return what one split shows.

    Given the recorded runs, each split draws anew which of them are today's. So with nothing cut, every split has
    p <= t with chance t at most, whatever runs there are, and splits are independent given the runs.
    """
    rng = np.random.default_rng([SEED, number])
    order = [runs[int(i)] for i in rng.permutation(len(runs))]
    before, now = order[:BEFORE], order[BEFORE : BEFORE + NOW]
    columns = Reference([each.prints[0] for each in before]).columns([each.prints[cut] for each in now])
    found = compare_traces(columns.baseline, columns.candidate, rng)
    old, new = [each.whole for each in before], [each.cut if cut else each.whole for each in now]
    passes = [sum(each.passed for each in some) for some in (now, before)]
    return Split(
        found.test.p_value,
        bool(compare_behaviour("b", {"airline": old}, {"airline": new}, ALPHA, number).changed)
        if looks
        else None,
        fisher_test(passes[0], NOW, passes[1], BEFORE, Alternative.LESS).p_value,
    )


def _executed(trace: AgentTrace) -> Execution:
    return Execution(ending=Ending.ANSWERED, trace=trace)


def _without_first_call(trace: AgentTrace) -> AgentTrace:
    first = next((i for i, step in enumerate(trace.steps) if step.action is Action.CALL_TOOL), None)
    return (
        trace
        if first is None
        else trace.model_copy(update={"steps": (*trace.steps[:first], *trace.steps[first + 1 :])})
    )


if __name__ == "__main__":
    file, *options = sys.argv[1:]
    command = f"python -m benchmarks.calibration.behaviour_recorded {Path(file).name}"
    report(section(Path(file)), command, write="--write" in options)
