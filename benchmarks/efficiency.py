"""What a budget buys: trials, kills, false kills and the width of the score's interval.

`python -m benchmarks.efficiency [--full]` prints docs/efficiency.md. The small form takes some minutes. Seeds begin at
1001: no constant of the method was chosen on them.
"""

import argparse
import heapq
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import numpy as np

from agentmut.campaign import CampaignState, Plan
from agentmut.campaign.decision.kill_phase import KillPhase
from agentmut.nouns import Status, Usage
from agentmut.stats import KillDesign, decision_table, design_in, level_for, rounds_to
from agentmut.stats.kill.campaigns import simulate
from agentmut.trial import Pricer
from benchmarks.calibration import precision, rounds
from benchmarks.calibration.drift import SCENARIOS, Field, a_result, field
from benchmarks.calibration.rounds import DELTAS, MIX, STRONG, Truth

FIRST_SEED = 1001
PARTS = (1 / 20, 1 / 10, 1 / 5, 1 / 3, 1 / 2, 1)
"""Budgets, as shares of about what one round takes to its end."""
MODELS = ("gpt-4o-mini", "gemini-2.5-flash", "claude-sonnet-4-5")
TRIAL = Usage(input_tokens=6000, output_tokens=600)
CACHED = TRIAL.model_copy(update={"cached_tokens": 4500})
BASELINE = 50
RATE = 0.95
"""The pass rate of the original, where averages are compared with a fixed sample."""


class Seen(NamedTuple):
    """A campaign that is stopped after so many trials."""

    found: float
    """The share of the worse mutants that are killed."""
    false: int
    width: float
    resolution: float


class Course(NamedTuple):
    """One campaign to its end, looked at where budgets would have stopped it."""

    trials: int
    seen: Mapping[int, Seen]


class Kind(NamedTuple):
    """A kind of campaign."""

    name: str
    mutants: int
    make: Callable[[np.random.Generator], Truth]
    whole: int
    """About what one round takes to its end, in trials."""

    @property
    def looks(self) -> tuple[int, ...]:
        """Return the budgets, in trials."""
        return tuple(round(part * self.whole) for part in PARTS)


def low(rng: np.random.Generator) -> Truth:
    """30 % of 60 mutants lose half to all of low pass rates on one to three scenarios, 20 % lose .2 to .3 on one."""
    rates = rng.uniform(0.4, 0.8, SCENARIOS)
    large = [_lost(rng, rates, 3, 0.5, 1.0) for _ in range(round(0.3 * MIX))]
    small = [_lost(rng, rates, 1, 0.3, 0.5) for _ in range(round(0.2 * MIX))]
    return Truth(rates.tolist(), [*large, *small, *[{}] * (MIX - len(large) - len(small))])


def _lost(
    rng: np.random.Generator, rates: np.ndarray, most: int, least: float, top: float
) -> dict[int, float]:
    where = rng.choice(SCENARIOS, int(rng.integers(1, most + 1)), replace=False)
    return {int(j): float(rates[j] * rng.uniform(least, top)) for j in where}


KINDS = (
    Kind("strong: 28 mutants, half of which lose .7 to 1; pass rates .94 to 1", STRONG, rounds.strong, 3_000),
    Kind(
        "mix: 60 mutants, 30 % lose .5 to 1, 20 % lose .2 to .3; pass rates .8 to 1", MIX, rounds.mix, 10_000
    ),
    Kind(
        "low: 60 mutants, 30 % lose half or more, 20 % a third or more; pass rates .4 to .8", MIX, low, 18_000
    ),
)


def in_rounds(plan: Plan, seed: int) -> Plan:
    """Return the plan as a campaign has it today."""
    update = {"seed": seed, "rounds": rounds_to(0.2), "baseline": 100, "baseline_limit": None}
    return plan.model_copy(update=update)


def at_once(plan: Plan, seed: int) -> Plan:
    """Return the plan of 0.1.0: one round for drops of .2, and no trials of the original beside the mutants."""
    rule = plan.rule.model_copy(update={"beside": 0.0})
    update = {"seed": seed, "rounds": (), "baseline": BASELINE, "baseline_limit": None, "rule": rule}
    return plan.model_copy(update=update)


class OneByOne(KillPhase):
    """The order of 0.1.0: mutant after mutant."""

    def _enqueue(self, mutant: str) -> None:
        stamp = self._stamp[mutant] = self._stamp.get(mutant, 0) + 1
        if self.arms[mutant].ready:
            heapq.heappush(self._queue, (0.0, self._position[mutant], stamp, mutant))


def course(
    on: Field,
    plan: Plan,
    truth: Truth,
    rng: np.random.Generator,
    looks: Sequence[int],
    *,
    by_turns: bool = False,
) -> Course:
    """Play a campaign to its end, and look at its score after so many trials. `by_turns`: in the order of 0.1.0."""
    # the worse ones stand first in a `Truth`
    order = [plan.mutants[i].id for i in rng.permutation(len(plan.mutants))]
    plan = plan.model_copy(update={"order": tuple(order)})
    state = CampaignState(plan, on.session.suite, on.session.tests.scenarios, on.tables)
    number = {mutant.id: i for i, mutant in enumerate(plan.mutants)}
    trials, seen = 0, {}
    while (launch := state.launch()) is not None and not state.problem:
        at = int(launch.scenario[1:])
        rate = 0.0 if launch.mutant == plan.destroyed.id else truth.rates[at]
        if launch.mutant in number:
            rate -= truth.worse[number[launch.mutant]].get(at, 0.0)
        trials += 1
        state.record(launch, a_result(launch, bool(rng.random() < rate), float(trials)))
        if by_turns and state.arms and not isinstance(state.kills, OneByOne):
            state.kills = OneByOne(state.arms, order)
        if trials in looks:
            seen[trials] = _seen(state, truth)
    end = _seen(state, truth)
    return Course(trials, {look: seen.get(look, end) for look in looks})


def _seen(state: CampaignState, truth: Truth) -> Seen:
    status = [(state.status(mutant.id) or (None, ""))[0] for mutant in state.plan.mutants]
    killed = [each is Status.KILLED for each in status]
    real = sum(k for k, worse in zip(killed, truth.worse, strict=True) if worse)
    score = state.score_so_far()
    width = 1.0 if score.low is None or score.high is None else score.high - score.low
    return Seen(real / max(1, truth.real), sum(killed) - real, width, score.resolution or 0.2)


def budgets(kind: Kind, count: int) -> Iterator[str]:
    """Yield the table of one kind: what each part of the price of one round buys, before and now."""
    with tempfile.TemporaryDirectory() as folder:
        on = field(Path(folder), kind.mutants)
        groups = [[play(on, kind, method, i) for i in range(count)] for method in METHODS]
    yield from table(kind, groups)


def table(kind: Kind, groups: Sequence[Sequence[Course]]) -> Iterator[str]:
    """Yield the table of campaigns, a group for each of `METHODS`."""
    yield f"### {kind.name}\n"
    yield (
        "| trials | part | found: 0.1.0 | one round | rounds | false kills "
        "| width: 0.1.0 | one round | rounds | drops of |"
    )
    yield f"|{' --- |' * 10}"
    for part, look in zip(PARTS, kind.looks, strict=True):
        seen = [[each.seen[look] for each in group] for group in groups]
        found = " | ".join(f"{_mean(each, 'found'):.0%}" for each in seen)
        false = "; ".join(f"{_mean(each, 'false'):.1f}" for each in seen)
        width = " | ".join(f"{_mean(each, 'width'):.2f}" for each in seen)
        yield f"| {look:,} | {part:.0%} | {found} | {false} | {width} | {_mean(seen[-1], 'resolution'):.2f} |"
    _, once, rounds_ = map(_ends, groups)
    yield f"\nTo the end: {once:,.0f} trials with one round, {rounds_:,.0f} with rounds.\n"


METHODS = ((at_once, True), (at_once, False), (in_rounds, False))
"""0.1.0, one round with today's order, and rounds: the plan, and whether it is in the order of 0.1.0."""


def play(on: Field, kind: Kind, method: tuple[Callable[[Plan, int], Plan], bool], number: int) -> Course:
    """Play the `number`-th campaign of a kind by one of `METHODS`."""
    (plan, by_turns), seed = method, FIRST_SEED + number
    rng = np.random.default_rng([seed, 23])
    return course(on, plan(on.plan, seed), kind.make(rng), rng, kind.looks, by_turns=by_turns)


def _mean(seen: Sequence[Seen], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in seen]))


def _ends(courses: Sequence[Course]) -> float:
    return float(np.mean([each.trials for each in courses]))


def reached(count: int) -> Iterator[str]:
    """Yield the figures of the campaign of 28 strong mutants beside their targets."""
    with tempfile.TemporaryDirectory() as folder:
        on = field(Path(folder), STRONG)
        played = []
        for seed in range(FIRST_SEED, FIRST_SEED + count):
            rng = np.random.default_rng([seed, 19])
            played.append(rounds.play(on, rounds.strong(rng), seed, rng))
    found = np.array([each.found_by(620) for each in played])
    yield "| 28 mutants, half of them strong | measured | target |"
    yield "| --- | --- | --- |"
    yield f"| share of the kills found by 620 trials | {found.mean():.3f} ± {_error(found):.3f} | >= 0.95 |"
    for at, most in ((0, 720), (1, 1200), (2, 0), (3, 0)):
        trials = np.array([each.rounds[min(at, len(each.rounds) - 1)].trials for each in played])
        target = f"<= {most:,}" if most else ""
        what = f"trials until every mutant has its answer for {DELTAS[at]:g}"
        yield f"| {what} | {trials.mean():,.0f} ± {_error(trials):,.0f} | {target} |"


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0


def precise(count: int) -> Iterator[str]:
    """Yield how many of 300 mutants a precision of .1 draws, and whether its bounds hold, on seeds of no choice."""
    kind = precision.KINDS[0]
    with tempfile.TemporaryDirectory() as folder:
        on = field(Path(folder), kind.mutants)
        ended = [precision.play(on, kind, seed) for seed in range(FIRST_SEED, FIRST_SEED + count)]
    drawn, width = (np.array([getattr(each, name) for each in ended]) for name in ("drawn", "width"))
    held = sum(all(each.holds) for each in ended)
    yield f"| {kind.name}, precision {kind.precision:g} | measured | target |"
    yield "| --- | --- | --- |"
    yield f"| mutants drawn | {drawn.mean():.0f} ± {_error(drawn):.0f} | <= {kind.most_drawn:g} |"
    yield f"| width of the interval | {width.mean():.3f} | <= {2 * kind.precision:g} |"
    yield f"| campaigns in which both ends hold | {held} of {count} | >= 95 % |"


def fixed_sample(p: float, drop: float, level: float, power: float = 0.9, n0: int = 100) -> int:
    """Return the trials a scenario of a fixed sample that notices a drop with this power.

    Fisher's exact test against `n0` trials of the original at `level`, one-sided; exact over both counts.
    """
    from scipy.stats import binom, hypergeom

    f0 = np.arange(n0 + 1)
    of_original = binom.pmf(f0, n0, 1 - p)
    for n in range(1, 400):
        f = np.arange(n + 1)
        p_values = hypergeom.sf(f[:, None] - 1, n0 + n, f0[None, :] + f[:, None], n)
        noticed = np.asarray(p_values <= level, dtype=float)
        if binom.pmf(f, n, 1 - p + drop) @ noticed @ of_original >= power:
            return n
    raise ValueError(f"no sample of fewer than 400 trials has power {power:g}")


class Average(NamedTuple):
    """What a mutant takes in one round, on average: an unchanged one, and one with the drop; and the power."""

    unchanged: float
    dropped: float
    power: float
    level: float


def average(drop: float, rng: np.random.Generator, runs: int = 2000) -> Average:
    """Return the averages of simulated mutants in the round for `drop`: ten scenarios that pass at `RATE`."""
    here = next(each for each in rounds_to(0.2) if each.delta == drop)
    design = design_in(here, KillDesign(level_for(SCENARIOS), delta=drop))
    rates, none = [RATE] * SCENARIOS, [0.0] * SCENARIOS
    table_of = cache(decision_table)
    unchanged, dropped = (
        simulate(rates, drops, design, runs, rng, n0=here.baseline, table_of=table_of)
        for drops in (none, [drop, *none[1:]])
    )
    return Average(
        float(unchanged.trials.mean()),
        float(dropped.trials.mean()),
        float(dropped.killed.mean()),
        design.alpha,
    )


def fixed() -> Iterator[str]:
    """Yield what a mutant costs on average, and what it costs in a fixed sample of the same power and level."""
    yield (
        "| drop | power | an unchanged mutant | one with the drop | a fixed sample, each "
        "| times fewer: unchanged | dropped |"
    )
    yield f"|{' --- |' * 7}"
    rng = np.random.default_rng(FIRST_SEED)
    dollars = []
    for drop in DELTAS:
        ours = average(drop, rng)
        n = fixed_sample(RATE, drop, ours.level, ours.power) * SCENARIOS
        counts = f"{ours.unchanged:.0f} | {ours.dropped:.0f} | {n}"
        yield f"| {drop:g} | {ours.power:.2f} | {counts} | {n / ours.unchanged:.1f} | {n / ours.dropped:.1f} |"
        dollars.append((drop, (ours.unchanged + ours.dropped) / 2, n))
    yield ""
    yield f"| a mutant in US dollars: half unchanged, half dropped; fixed | {' | '.join(MODELS)} |"
    yield f"|{' --- |' * (1 + len(MODELS))}"
    each = [Pricer({}).cost(model, TRIAL) or 0.0 for model in MODELS]
    for drop, mean, n in dollars:
        yield f"| drop of {drop:g} | {' | '.join(f'{mean * usd:.2f}; {n * usd:.2f}' for usd in each)} |"


def prices() -> Iterator[str]:
    """Yield dollars for a thousand trials, without a prompt cache and with one."""
    pricer = Pricer({})
    yield "| model | 1,000 trials | with three quarters of the input from the cache |"
    yield "| --- | --- | --- |"
    for model in MODELS:
        plain, cached = (1000 * (pricer.cost(model, usage) or 0.0) for usage in (TRIAL, CACHED))
        yield f"| {model} | ${plain:.2f} | ${cached:.2f} |"


INTRODUCTION = """Made by `{command}` at commit {commit}; do not edit. Whole campaigns of coins through the campaign's
state: ten scenarios that reach every mutant, {count} campaigns of each kind unless said. Seeds begin at {seed}: no
constant of the method was chosen on them. Coins are no agents: the trials of a real scenario may be less alike."""
BY_BUDGET = """Each campaign is stopped after a part of about the trials that one round takes to its end. 0.1.0 is a
baseline of {baseline} trials, drops of .2 at once, mutant after mutant, and no trials of the original beside them. It
has today's interval, which 0.1.0 had not. One round is the same with today's order, most likely kills first. Rounds
are what a campaign has today, with confirmed kills. `found` is the share of the worse mutants that are killed, small
drops included. The coarse rounds do not look for small drops, and rule out large drops of all mutants first. So one
round has more kills in the middle of the mix, more false ones, and a wider interval. False kills are those of a
campaign: 0.1.0, one round, rounds. `drops of` is the mean drop that the score with rounds speaks of. The other two
always speak of .2, so their interval promises more. All trials are counted, those of the controls included. No sample
is drawn here; a run with a small budget draws one."""
FIXED = """What a mutant on ten scenarios takes on average in the round that looks for a drop, where the original
passes at .95. The mutants are simulated, unchanged ones and ones with the drop on one scenario, with baselines of 20,
30, 50 and 100 trials. A tool that runs every mutant equally often, as the rivals do, takes the fixed sample for the
same power at the same level: Fisher's exact test against 100 trials of the original, exact. Baselines are shared and
left out on both sides."""
DOLLARS = """List prices of genai-prices for a trial with {input:,} input and {output:,} output tokens. This size is an
assumption; `agentmut plan` has the figure of your agent."""


def page(count: int, commit: str, command: str) -> Iterator[str]:
    """Yield the lines of docs/efficiency.md."""
    yield "# What a budget buys\n"
    yield _text(INTRODUCTION, command=command, commit=commit, count=count, seed=FIRST_SEED)
    yield "## Figures with a target\n"
    strong, sampled = max(20, count), max(5, count // 2)
    yield (
        f"{strong} campaigns of 28 mutants and {sampled} of 300. The controls are left out; sentinels and the trials\n"
        "that confirm kills are counted.\n"
    )
    yield from reached(strong)
    yield ""
    yield from precise(sampled)
    yield "\n## By budget\n"
    yield _text(BY_BUDGET, baseline=BASELINE)
    for kind in KINDS:
        yield from budgets(kind, count)
    yield "## Against a fixed sample\n"
    yield _text(FIXED)
    yield from fixed()
    yield "\n## Dollars\n"
    yield _text(DOLLARS, input=TRIAL.input_tokens, output=TRIAL.output_tokens)
    yield from prices()


def _text(template: str, **values: object) -> str:
    return fill(" ".join(template.format(**values).split()), 120, break_on_hyphens=False) + "\n"


def main() -> int:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="60 campaigns of each kind instead of 8")
    full = parser.parse_args().full
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    command = "python -m benchmarks.efficiency" + (" --full" if full else "")
    for line in page(60 if full else 8, commit, command):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
