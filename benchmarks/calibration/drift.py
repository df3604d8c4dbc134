"""In real life: the model service drifts while a campaign runs. Whole campaigns of coins, through the real state."""

import hashlib
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentmut.campaign import (
    CampaignState,
    Launch,
    Plan,
    Selection,
    Session,
    Tables,
    TrialResult,
    make_mutants,
    make_plan,
    open_session,
)
from agentmut.campaign.results.service import service_of
from agentmut.nouns import Ending, Footprint, Outcome, Status
from agentmut.project import load_project
from agentmut.trial import Route, Witness
from benchmarks.calibration.figures import Figure, Section, simulated_rate

SCENARIOS, BASELINE, MUTANTS = 10, 100, 20
RATES = (0.98, 0.95, 0.9, 0.8)
SECONDS = 10.0
"""Between two trials, by the clock of the campaign."""

Course = Callable[[float, float], float]
"""What the pass rate loses, as a function of the seconds since the start and since the end of the baseline."""


def steady(_: float, __: float) -> float:
    """Return no loss."""
    return 0.0


def step(points: float, after: float = 0.0) -> Course:
    """Return a loss of so many points from `after` seconds after the baseline on."""
    return lambda _, since: points / 100 * (since > after)


def slope(points: float, over: float) -> Course:
    """Return a loss that grows to so many points within `over` seconds after the baseline."""
    return lambda _, since: points / 100 * min(1.0, max(0.0, since / over))


def hours(sd: float, seed: int) -> Course:
    """Return an effect of each hour, normal with this standard deviation, common to all scenarios."""
    drawn = np.random.default_rng([seed, 7]).normal(0.0, sd, 10_000)
    return lambda seconds, _: float(drawn[int(seconds // 3600) % len(drawn)])


class Campaign(NamedTuple):
    """What one campaign came to."""

    killed: Sequence[bool]
    trials: int
    """All of it, the baseline excluded."""
    own: Sequence[int]
    """Each mutant's own trials."""
    checking: int
    """Trials by which kills are checked: the original's after the baseline, and the mutants' after their kills."""
    named: bool
    """Whether a drift was named."""
    failed: bool
    in_doubt: Sequence[bool] = ()
    """Whether each mutant's kill is reported to be in doubt, since the drift may explain it."""


Pair = tuple[Campaign, Campaign]
"""The same campaign with the check and without it."""


class Field(NamedTuple):
    """A project with ten scenarios and its decision tables: what campaigns are played on."""

    session: Session
    plan: Plan
    tables: Tables


class Life(NamedTuple):
    """How the service drifts, and what is promised then."""

    name: str
    course: Callable[[int], Course]
    """By the seed of the campaign."""
    false_kills: float
    named: tuple[float, float]
    """Least and largest share of campaigns that name a drift; `NOT_PROMISED` where it may be any."""


NOT_PROMISED = (0.0, 1.0)
LIVES = (
    Life("nothing", lambda _: steady, 0.05, (0.0, 0.05)),
    Life("3 points at the end of the baseline", lambda _: step(3), 0.06, NOT_PROMISED),
    Life("5 points at the end of the baseline", lambda _: step(5), 0.08, (0.8, 1.0)),
    Life("5 points in the middle", lambda _: step(5, 2500 * SECONDS), 0.08, (0.8, 1.0)),
    Life("a slope of 3 points", lambda _: slope(3, 5000 * SECONDS), 0.06, NOT_PROMISED),
    Life("an effect of each hour, sd .04", lambda seed: hours(0.04, seed), 0.06, NOT_PROMISED),
    Life("18 points at the end of the baseline", lambda _: step(18), math.inf, NOT_PROMISED),
    Life("40 points at the end of the baseline", lambda _: step(40), math.inf, NOT_PROMISED),
)
NOT_IN_DOUBT = 0.08
"""False kills after a large drift that may be left without a mark: no more than kills at 5 points."""
DROPS = (0.2, 0.4, 0.8)
"""The drops that every mutant has on one of the ten scenarios."""
CAMPAIGNS, CAMPAIGNS_QUICK = 12, 2
"""Campaigns of a cell: about two seconds of processor time each, and half a second for the one without the check."""
MOST = 0.1
"""The most trials that the check may take, as a share of all of a campaign without it."""


def section(*, thorough: bool, size: int | None = None, only: str = "") -> Section:
    """Measure false kills, named drifts and costs for each course of the service; power without drift.

    `size`: the campaigns of a cell, at least 2. `only`: a part of the names of the courses to measure, without power;
    `ValueError` if no course has it.
    """
    chosen = [life for life in (LIVES if thorough else LIVES[:3:2]) if only in life.name]
    if not chosen:
        raise ValueError(f"no course of the service has {only!r} in its name")
    drops = () if only else DROPS if thorough else DROPS[1:2]
    campaigns, rates = (size or CAMPAIGNS, RATES) if thorough else (CAMPAIGNS_QUICK, RATES[:2])
    with tempfile.TemporaryDirectory() as folder:
        on = field(Path(folder), MUTANTS if thorough else 8)
        lives = [_life(on, rates, life, campaigns) for life in chosen]
        powers = [_power(on, p, drop, campaigns) for p in rates for drop in drops]
    how = (
        f"Whole campaigns of coins through the campaign's state, with a clock: {SCENARIOS} scenarios with {BASELINE} "
        f"trials of the baseline, {len(on.plan.mutants)} mutants, one round for a drop of 0.2, {campaigns} campaigns "
        "a cell, seeds from 1. False kills are a share of unchanged mutants; their error is taken over campaigns. "
        "'By the baseline alone', 'more trials' and 'trials of the check' compare with the same campaigns without "
        "trials of the original beside the mutants: a trial has one outcome in both, by its place. The check takes the "
        "original's trials after the baseline and the mutants' after their kills. 'More trials' counts besides what "
        "mutants take that the baseline alone would have killed falsely, and early. Both are shares of all trials of "
        "the campaigns without the check, with their baselines."
    )
    figures = (figure for figures in (*lives, *powers) for figure in figures)
    return Section("In real life: drift", how, tuple(figures))


def _life(on: Field, rates: Sequence[float], life: Life, campaigns: int) -> list[Figure]:
    """Return the figures of one course at each rate, and those of all rates together."""
    figures: list[Figure] = []
    every: list[Campaign] = []
    by_rate: list[Sequence[Pair]] = []
    for p in rates:
        seeds = range(1, campaigns + 1)
        played = [play(on, p, life.course(seed), seed) for seed in seeds]
        plain = [play(on, p, life.course(seed), seed, beside=0.0) for seed in seeds]
        every += played
        # where the unchanged agent itself is killed, the campaign without the check ends early
        by_rate.append([pair for pair in zip(played, plain, strict=True) if not pair[1].failed])
        figures += _harm(played, life, f"p = {p:g}, drift: {life.name}")
    where = f"all rates, drift: {life.name}"
    before, before_error = _share_killed([plain for pairs in by_rate for _, plain in pairs])
    alone = Figure(f"false kills by the baseline alone, {where}", before, "-", error=before_error)
    costs = [*_unmarked(every, where)] if math.isinf(life.false_kills) else [alone, *_cost(by_rate, where)]
    return [*figures, *_harm(every, life, where), *costs]


def _unmarked(every: Sequence[Campaign], where: str) -> Iterator[Figure]:
    """Yield the false kills that no report marks as being in doubt. Costs are of no use where the control is killed."""
    certain = [
        each._replace(killed=[k and not d for k, d in zip(each.killed, each.in_doubt, strict=True)])
        for each in every
    ]
    rate, error = _share_killed(certain)
    what = f"false kills that are not reported to be in doubt, {where}"
    yield Figure(what, rate, f"at most {NOT_IN_DOUBT:g}", high=NOT_IN_DOUBT, error=error)


def _harm(played: Sequence[Campaign], life: Life, where: str) -> list[Figure]:
    rate, error = _share_killed(played)
    named, named_error = simulated_rate(c.named for c in played)
    low, high = life.named if life.named != NOT_PROMISED else (-math.inf, math.inf)
    promise = f"{low:g} to {high:g}" if math.isfinite(low) else "-"
    most = life.false_kills
    return [
        Figure(
            f"false kills, {where}", rate, f"at most {most:g}" if most < 1 else "-", high=most, error=error
        ),
        Figure(f"share naming a drift, {where}", named, promise, low, high, named_error),
    ]


def _cost(by_rate: Sequence[Sequence[Pair]], where: str) -> Iterator[Figure]:
    """Yield what the check takes, and how many more trials a campaign takes with it, as shares of all of one without.

    The second has more where the check saves mutants from false kills: they are tried on to the end. The error is that
    of a ratio of two means, over the campaigns of each pass rate.
    """
    all_of = [np.array([SCENARIOS * BASELINE + plain.trials for _, plain in pairs]) for pairs in by_rate]
    whole = sum(float(trials.sum()) for trials in all_of)
    for what, values in (
        ("trials of the check", [np.array([each.checking for each, _ in pairs]) for pairs in by_rate]),
        (
            "more trials",
            [np.array([each.trials - plain.trials for each, plain in pairs]) for pairs in by_rate],
        ),
    ):
        share = sum(float(each.sum()) for each in values) / whole
        over = [each - share * trials for each, trials in zip(values, all_of, strict=True)]
        error = math.sqrt(sum(len(each) * float(each.var(ddof=1)) for each in over)) / whole
        yield Figure(f"{what}, {where}", share, f"at most {MOST:g}", high=MOST, error=error)


def _power(on: Field, p: float, drop: float, campaigns: int) -> list[Figure]:
    seeds = range(1, max(2, campaigns // 3) + 1)
    played = [play(on, p, steady, seed, drop=drop) for seed in seeds]
    where = f"p = {p:g}, a drop of {drop:g} in one scenario"
    rate, error = _share_killed(played)
    trials, trials_error = _mean([float(np.mean(c.own)) for c in played])
    low, most = (0.95, 60.0) if drop == 0.4 else (-math.inf, math.inf)
    return [
        Figure(f"killed, {where}", rate, "at least 0.95" if low > 0 else "-", low, error=error),
        Figure(
            f"own trials, {where}", trials, "at most 60" if low > 0 else "-", high=most, error=trials_error
        ),
    ]


def _share_killed(played: Sequence[Campaign]) -> tuple[float, float]:
    """Return the share of mutants killed and its standard error over campaigns, at least that of single mutants.

    Two campaigns that happen to agree say nothing about the error.
    """
    rate, error = _mean([float(np.mean(c.killed)) for c in played])
    return rate, max(error, math.sqrt(rate * (1 - rate) / sum(len(c.killed) for c in played)))


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over campaigns and its standard error, at least that of one kill in all of them."""
    each = np.array(values, dtype=float)
    least = 1 / (len(each) * MUTANTS)
    return float(each.mean()), max(float(each.std(ddof=1)) / math.sqrt(len(each)), least)


PROJECT = """
version: 1
agent: {adapter: python, run: "field_agent:run", config: {prompt: prompt.md}}
mutation: {operators: [prompt.drop_instruction]}
"""


def field(folder: Path, mutants: int = MUTANTS) -> Field:
    """Write the project into an empty folder and read it."""
    (folder / "field_agent.py").write_text("async def run(config, input):\n    return 'yes'\n")
    (folder / "prompt.md").write_text("".join(f"- Never talk about subject {i}.\n" for i in range(mutants)))
    (folder / "scenarios").mkdir()
    cases = (f"- name: s{i}\n  input: hello\n  evaluators: [contains: 'yes']\n" for i in range(SCENARIOS))
    (folder / "scenarios" / "all.yaml").write_text("".join(cases))
    (folder / "agentmut.yaml").write_text(PROJECT)
    session = open_session(load_project(folder))
    plan = make_plan(session, make_mutants(session, Selection()), 1, 0.0)
    return Field(
        session,
        plan.model_copy(update={"baseline": BASELINE, "rounds": (), "baseline_limit": None}),
        Tables(None),
    )


def play(
    on: Field, p: float, course: Course, seed: int, *, drop: float = 0.0, beside: float | None = None
) -> Campaign:
    """Play a campaign: each mutant loses `drop` on one scenario, and the service loses what `course` says.

    Trials are recorded in the order of their launches, `SECONDS` apart. `beside`: the share of sentinels; 0 for
    campaigns without trials of the original beside mutants. A trial's coin is a function of the seed, the pass rate and
    the trial's place, so that two ways to run a campaign differ by their decisions alone.
    """
    state = CampaignState(_plan(on, seed, beside), on.session.suite, on.session.tests.scenarios, on.tables)
    worse = {mutant.id: f"s{i % SCENARIOS}" for i, mutant in enumerate(state.plan.mutants)}
    now, baseline = 0.0, None
    while (launch := state.launch()) is not None and not state.problem:
        now += SECONDS
        if baseline is None and state.baseline_complete:
            baseline = now
        rate = p - course(now, -1.0 if baseline is None else now - baseline)
        if launch.mutant == state.plan.destroyed.id:
            rate = 0.0
        elif worse.get(launch.mutant) == launch.scenario:
            rate -= drop
        state.record(launch, a_result(launch, _coin((seed, round(1000 * p)), launch) < rate, now))
    return _campaign(state)


def _coin(seed: tuple[int, int], launch: Launch) -> float:
    """Return the number in [0, 1) that decides a trial: it passes if the number is below its pass rate."""
    place = f"{seed}|{launch.mutant}|{launch.scenario}|{launch.repeat}"
    return int.from_bytes(hashlib.blake2b(place.encode(), digest_size=8).digest(), "big") / 2**64


def _plan(on: Field, seed: int, beside: float | None) -> Plan:
    rule = on.plan.rule if beside is None else on.plan.rule.model_copy(update={"beside": beside})
    return on.plan.model_copy(update={"seed": seed, "rule": rule})


def a_result(launch: Launch, passed: bool, now: float) -> TrialResult:
    """Return a trial that arrived and took a second."""
    witness = Witness(route=Route.SENT, seen=1, edits=1) if launch.mutant else None
    return TrialResult(
        outcome=Outcome.PASS if passed else Outcome.FAIL, ending=Ending.ANSWERED, reason="", checks=(),
        witness=witness, footprint=Footprint(reads=("prompt",)), tools=Counter(), tokens=0, usd=0.0,
        unpriced=frozenset(), seconds=1.0, abandoned=False, finished=now,
    )  # fmt: skip


def _campaign(state: CampaignState) -> Campaign:
    arms = [state.arms[mutant.id] for mutant in state.plan.mutants]
    every = sum(len(arm.trials.launches) for arm in state.arms.values()) + state.service.sentinels
    watch = service_of(state)
    doubted = watch.drift.in_doubt if watch and watch.drift else ()
    return Campaign(
        [arm.status is Status.KILLED for arm in arms],
        every,
        [arm.trials.own for arm in arms],
        _checking(state),
        bool(watch and watch.drift),
        bool(state.problem),
        [arm.mutant.id in doubted for arm in arms],
    )


def _checking(state: CampaignState) -> int:
    confirmations = (each for arm in state.arms.values() for each in arm.confirmations)
    return state.service.sentinels + state.service.confirming + sum(each.further for each in confirmations)
