"""The page: what was run, what the score tells, and what it does not."""

import math
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.validity.agents import Study, frozen_digest
from benchmarks.validity.collect import ROOT, Collected, Sizes
from benchmarks.validity.figures import Correlation, class_weights, correlation, of_coverage, partial, sizes
from benchmarks.validity.pooled import calibration, mean_weights, over_agents, predictions
from benchmarks.validity.reliability import SPLITS, WANTED, Reliability, needed, reliability
from benchmarks.validity.suites import DESIGNS, Measured, drawn, faults, mutants, share, whole

SEED = 1
GOAL, ERROR_GOAL = 0.7, 0.1
HEAD = """# Does the mutation score tell which faults a suite finds?

Made by `make validity` from commit {commit}; do not edit. Each of five agents has a pool of scenarios and checks.
Four agents are examples against the offline simulator. The fifth, `table`, is the desk of a library that acts by a
table of words, without a model. {faults} faults were written by hand as patches of tools, agent code, prompts,
documents, history and replies (`benchmarks/validity/faults/`). They use no code of the operators, and most follow
[documented incidents](incidents.md). The digest of a fault's name says whether it is for development or for the test;
the test faults have the digest `{digest}`.

Each variant of an agent, {mutants} mutants and every fault, was run {repeats} times on each scenario, the original
three times as often. Then {suites} random sub-suites of each design were judged by these runs. A sub-suite notices a
variant where a scenario fails more often than with the original, by Fisher's exact test at .05 over its scenarios. A
check is in the pool where the original holds it in four of five runs.

**What limits this.** The simulator is no real model: it follows rules that it finds in the prompt. It shares code
that reads sentences with the prompt operators, so that prompt mutants and prompt faults may show in the same way. The
agent `table` shares no such code: where its figures are like the others', this is not what makes them. Authors of the
operators wrote the faults, too. Five agents are few. Nothing here says that the score of a suite on a
real model predicts its faults; `AGENTMUT_STUDY_MODEL` runs the same study on one.
"""


def page(study: Study, sizes: Sizes, agents: Sequence[Collected], number: int, *, whole: bool = True) -> str:
    """Return docs/validity.md, or the tables of some of the agents."""
    named = ", ".join(found.agent for found in agents)
    head = (HEAD if whole else f"# A part of the study: {named}\n\nFrom commit {{commit}}.\n").format(
        commit=_commit(), faults=len(study.faults), digest=frozen_digest(study.faults), mutants=sizes.mutants,
        repeats=sizes.repeats, suites=number,
    )  # fmt: skip
    suites = {design: [drawn(found, design, number, SEED) for found in agents] for design in DESIGNS}
    alike = suites["equal size"]
    parts = (
        _pools(agents), _correlations(agents, suites), _reliabilities(agents, suites), _classes(agents, alike),
        _weighted(agents, alike),
        _prediction(agents, suites["any size"]) if len(agents) > 1 else (),
    )  # fmt: skip
    return "\n".join([head, *(line for part in parts for line in part)])


def _pools(agents: Sequence[Collected]) -> Iterator[str]:
    yield "## What was run\n"
    yield "| agent | scenarios | checks | mutants | faults, test | not built | pool notices of mutants | of faults |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for found in agents:
        every, own, bad = whole(found), mutants(found), faults(found)
        test = faults(found, "test")
        checks = sum(rows.shape[1] for rows in found.original.values())
        yield (
            f"| {found.agent} | {len(found.original)} | {checks} | {len(own)} | {len(bad)}, {len(test)} | "
            f"{len(found.broken)} | {every.noticed[own].mean():.2f} | {every.noticed[bad].mean():.2f} |"
        )
    yield "\nThe level of a score cannot be read as a share of faults: compare the last two columns.\n"


def _correlations(agents: Sequence[Collected], suites: dict[str, list[list[Measured]]]) -> Iterator[str]:
    yield "## Score and faults, sizes held constant\n"
    yield (
        "Spearman's correlation of the score with the share of **test** faults that sub-suites find, given numbers of "
        f"scenarios and checks, with a bootstrap interval over mutants and faults. The mean has a "
        f"jackknife interval over agents. Goal: at least {GOAL}.\n"
    )
    yield "| agent | design | score | coverage of tools | coverage, given the score, too |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for design, measured in suites.items():
        every = []
        for found, own in zip(agents, measured, strict=True):
            test = faults(found, "test")
            every.append(rho := correlation(own, mutants(found), test, _rng()))
            alone, beside = of_coverage(own, found, test)
            yield f"| {found.agent} | {design} | {_graded(rho)} | {_number(alone)} | {_number(beside)} |"
        if len(every) > 1:
            yield f"| mean of all | {design} | {_graded(over_agents([each.rho for each in every]))} | | |"
    yield ""


RELIABILITIES = """## What so few mutants and faults can show

A score rests on some {mutants} mutants, and a share of faults on some 20 test faults. With other mutants or faults of
the same kinds, both would come out otherwise. *Reliability* is the share of what differs between sub-suites of one
size that would come out again; the rest is chance. It is measured by halves: the mutants (or faults) are divided at
random {splits} times, and the correlation of both halves is stepped up to all of them (Spearman and Brown). The
*ceiling* is the highest correlation that could be seen, even if the score told all: the root of the product of both
reliabilities. *Corrected* is the seen correlation divided by the ceiling. It estimates the correlation of endless
mutants with endless faults. Each such estimate is rough: where the seen correlation is above its ceiling, chance made
it so, or the runs of the original, with which mutants and faults are both compared. An agent whose reliability is 0
has no corrected value, and the mean leaves it out. The last two columns say how many mutants and how many test faults
would give a reliability of {wanted}. Each costs as many runs as a variant now: scenarios times repeats.
"""


def _reliabilities(agents: Sequence[Collected], suites: dict[str, list[list[Measured]]]) -> Iterator[str]:
    most = max(len(mutants(found)) for found in agents)
    yield RELIABILITIES.format(mutants=most, splits=SPLITS, wanted=WANTED)
    yield (
        "| agent | design | seen | reliability of the score | of the share of faults | ceiling | corrected | "
        "mutants needed | faults needed |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for design, measured in suites.items():
        every = [_reliable(found, own) for found, own in zip(agents, measured, strict=True)]
        for found, one in zip(agents, every, strict=True):
            wanted = [(len(mutants(found)), one.score), (len(faults(found, "test")), one.found)]
            counts = " | ".join(_count(needed(*each)) for each in wanted)
            yield (
                f"| {found.agent} | {design} | {one.rho:.2f} | {one.score:.2f} | {one.found:.2f} | "
                f"{one.ceiling:.2f} | {_number(one.corrected)} | {counts} |"
            )
        if len(every) < 2:
            continue
        seen, ceiling, corrected = (
            [one.rho for one in every],
            [one.ceiling for one in every],
            [one.corrected for one in every],
        )
        yield (
            f"| mean of all | {design} | {np.mean(seen):.2f} | | | {np.mean(ceiling):.2f} | "
            f"{over_agents(corrected, most=math.inf)} | | |"
        )
    yield ""


def _reliable(found: Collected, suites: Sequence[Measured]) -> Reliability:
    test, scored, rng = faults(found, "test"), mutants(found), _rng()
    told = share(suites, scored), share(suites, test)
    return Reliability(
        partial(*told, sizes(suites)), reliability(suites, scored, rng), reliability(suites, test, rng)
    )


def _count(number: float) -> str:
    return f"{number:.0f}" if np.isfinite(number) else "-"


def _classes(agents: Sequence[Collected], suites: Sequence[Sequence[Measured]]) -> Iterator[str]:
    yield "## By operator class, at equal size\n"
    yield "| agent | class | mutants | score of the class and test faults | noticed by no sub-suite |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for found, own in zip(agents, suites, strict=True):
        test = faults(found, "test")
        groups = Counter(one.group for one in found.variants if one.split == "mutant")
        for group, count in sorted(groups.items()):
            places = mutants(found, group)
            never = int((~np.array([suite.noticed for suite in own])[:, places].any(axis=0)).sum())
            yield f"| {found.agent} | {group} | {count} | {correlation(own, places, test, _rng())} | {never} |"
    yield ""


def _weighted(agents: Sequence[Collected], suites: Sequence[Sequence[Measured]]) -> Iterator[str]:
    yield "## Other ways to count, at equal size\n"
    yield (
        "*Weighted*: each class weighs by what its score tells about the **development** faults, shrunk half way to "
        "equal weights. *Noticeable*: only mutants that the whole pool notices.\n"
    )
    yield (
        "*Of others*: the same weights, learned from the other agents' development faults, as fixed weights of a "
        "release would be.\n"
    )
    yield "| agent | weights | plain | weighted | of others | noticeable |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    learned = [class_weights(found, own) for found, own in zip(agents, suites, strict=True)]
    rows = []
    for place, (found, own) in enumerate(zip(agents, suites, strict=True)):
        test, scored = faults(found, "test"), mutants(found)
        others = mean_weights([one for i, one in enumerate(learned) if i != place])
        groups = [found.variants[i].group for i in scored]
        seen = scored[whole(found).noticed[scored]]
        ways = (
            (scored, None),
            (scored, np.array([learned[place][group] for group in groups])),
            (scored, np.array([others.get(group, 1.0) for group in groups])),
            (seen, None),
        )
        columns = [correlation(own, places, test, _rng(), weights) for places, weights in ways]
        rows.append([each.rho for each in columns])
        shown = ", ".join(f"{group} {value:.2f}" for group, value in learned[place].items())
        yield f"| {found.agent} | {shown} | {' | '.join(map(str, columns))} |"
    means = " | ".join(str(over_agents(column)) for column in zip(*rows, strict=True))
    yield f"| mean of all | | {means} |\n" if len(rows) > 1 else ""


def _prediction(agents: Sequence[Collected], suites: Sequence[Sequence[Measured]]) -> Iterator[str]:
    yield "## Predicting the share of faults found on an agent that was not seen\n"
    yield (
        "A linear regression on score, scenarios and checks learns from the development faults of the other agents; "
        f"its median absolute error on the test faults of this one. Goal: at most {ERROR_GOAL}.\n"
    )
    yield "| agent | median error | without the score, from sizes alone | error of the others' mean share |"
    yield "| --- | ---: | ---: | ---: |"
    told = predictions(agents, suites)
    for one in told:
        missed = " (goal missed)" if one.median_error > ERROR_GOAL else ""
        errors = f"{one.median_error:.2f}{missed} | {one.size_error:.2f} | {one.plain_error:.2f}"
        yield f"| {one.agent} | {errors} |"
    yield "\nPredicted and found, over all sub-suites of agents that were not seen:\n"
    yield "| predicted share | sub-suites | mean share found | middle half |"
    yield "| --- | ---: | ---: | ---: |"
    for low, high, found in calibration(told):
        if len(found):
            first, third = np.quantile(found, [0.25, 0.75])
            yield f"| {low:.1f} to {high:.1f} | {len(found)} | {found.mean():.2f} | {first:.2f} to {third:.2f} |"
    yield ""


def _graded(rho: Correlation) -> str:
    return f"{rho}{' (goal missed)' if rho.rho < GOAL else ''}"


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "-"


def _rng() -> "np.random.Generator":
    return np.random.default_rng(SEED)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        or "unknown"
    )
