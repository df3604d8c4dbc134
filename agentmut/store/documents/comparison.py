"""The differences between two results: scores, and the outcome of each mutant."""

from collections.abc import Iterable, Iterator, Mapping

from agentmut._base import Frozen
from agentmut.nouns import Cost, Intent, MutantRow, Result, Score, Status, Target

UNNOTICED = (Status.SURVIVED, Status.NO_COVERAGE)


class RunSummary(Frozen):
    """One of the two results."""

    run_id: str
    status: str
    config: str
    """Digest of the agent's config."""
    mutants: int
    cost: Cost


class ScoreChange(Frozen):
    """A score in both results; None in a result without it. `difference` is new minus old."""

    name: str
    old: Score | None
    new: Score | None
    difference: float | None
    overlap: bool | None
    """Whether the two intervals have values in common: then the difference may be none. None where one is missing."""


class MutantChange(Frozen):
    """A mutant whose status differs; None in a result without the mutant."""

    id: str
    operator: str
    intent: Intent
    target: Target
    before: str
    after: str
    description: str
    old: Status | None
    new: Status | None


class InCommon(Frozen):
    """Degrading mutants that both results decided (killed, survived or without coverage)."""

    mutants: int
    killed_old: int
    killed_new: int
    newly_killed: int
    newly_unnoticed: int
    p: float | None
    """McNemar's test, two-sided: whether as many became killed as became unnoticed. It takes mutants as independent.
    None without mutants in common."""


class Comparison(Frozen):
    """Two results, the older first. Equal ids mean equal mutants: id and place do not depend on lines."""

    kind: str = "comparison"
    old: RunSummary
    new: RunSummary
    unfair: tuple[str, ...]
    """Why the two do not measure the same thing, in sentences; empty where nothing speaks against it."""
    scores: tuple[ScoreChange, ...]
    """The mutation score, robustness, then one for each class."""
    in_common: InCommon
    newly_killed: tuple[MutantChange, ...]
    newly_unnoticed: tuple[MutantChange, ...]
    """Killed before, and survived or without coverage now."""
    newly_brittle: tuple[MutantChange, ...]
    """Harmless changes that now lower a pass rate."""
    no_longer_brittle: tuple[MutantChange, ...]
    changed_otherwise: tuple[MutantChange, ...]
    """Decided in one of the two only, and the like."""
    appeared: tuple[MutantChange, ...]
    gone: tuple[MutantChange, ...]


def compare_results(old: Result, new: Result) -> Comparison:
    """Return what changed from `old` to `new`."""
    before = {row.id: row for row in old.mutants}
    after = {row.id: row for row in new.mutants}
    both = [(row, after[row.id]) for row in old.mutants if row.id in after]
    kinds: dict[str, list[MutantChange]] = {}
    for was, now in both:
        if was.status is not now.status:
            kinds.setdefault(_kind(was, now), []).append(_change(now, was.status, now.status))
    return Comparison(
        old=_summary(old),
        new=_summary(new),
        unfair=tuple(_unfair(old, new)),
        scores=tuple(_scores(old, new)),
        in_common=_in_common(both),
        **{kind: tuple(kinds.get(kind, ())) for kind in _KINDS},
        appeared=tuple(_change(row, None, row.status) for id, row in after.items() if id not in before),
        gone=tuple(_change(row, row.status, None) for id, row in before.items() if id not in after),
    )


_KINDS = ("newly_killed", "newly_unnoticed", "newly_brittle", "no_longer_brittle", "changed_otherwise")


def _kind(was: MutantRow, now: MutantRow) -> str:
    """Return which list a mutant of another status belongs to."""
    harmless = now.intent is Intent.PRESERVE
    if was.status is Status.KILLED and now.status in UNNOTICED:
        return "no_longer_brittle" if harmless else "newly_unnoticed"
    if was.status in UNNOTICED and now.status is Status.KILLED:
        return "newly_brittle" if harmless else "newly_killed"
    return "changed_otherwise"


def _change(row: MutantRow, old: Status | None, new: Status | None) -> MutantChange:
    same = ("id", "operator", "intent", "target", "before", "after", "description")
    return MutantChange(**{name: getattr(row, name) for name in same}, old=old, new=new)


def _summary(result: Result) -> RunSummary:
    return RunSummary(
        run_id=result.run_id,
        status=result.status,
        config=result.agent.digest,
        mutants=len(result.mutants),
        cost=result.cost,
    )


def _scores(old: Result, new: Result) -> Iterator[ScoreChange]:
    yield _score("mutation score", old.score, new.score)
    yield _score("robustness", old.robustness, new.robustness)
    for name in dict.fromkeys((*old.classes, *new.classes)):
        yield _score(name, old.classes.get(name), new.classes.get(name))


def _score(name: str, old: Score | None, new: Score | None) -> ScoreChange:
    difference = overlap = None
    if old is not None and new is not None:
        if old.value is not None and new.value is not None:
            difference = round(new.value - old.value, 6)
        if old.low is not None and old.high is not None and new.low is not None and new.high is not None:
            overlap = old.low <= new.high and new.low <= old.high
    return ScoreChange(name=name, old=old, new=new, difference=difference, overlap=overlap)


def _in_common(both: Iterable[tuple[MutantRow, MutantRow]]) -> InCommon:
    from agentmut.stats import Alternative, mcnemar_test

    decided = (Status.KILLED, *UNNOTICED)
    killed = [
        (was.status is Status.KILLED, now.status is Status.KILLED)
        for was, now in both
        if _counts(now) and was.status in decided and now.status in decided
    ]
    lost = sum(was and not now for was, now in killed)
    won = sum(now and not was for was, now in killed)
    return InCommon(
        mutants=len(killed),
        killed_old=sum(was for was, _ in killed),
        killed_new=sum(now for _, now in killed),
        newly_killed=won,
        newly_unnoticed=lost,
        p=mcnemar_test(won, lost, Alternative.TWO_SIDED).p_value if killed else None,
    )


def _counts(row: MutantRow) -> bool:
    return row.intent is Intent.DEGRADE and not row.parts


def _unfair(old: Result, new: Result) -> Iterator[str]:
    """List the differences between two results that make the comparison unfair."""
    for which, result in (("older", old), ("newer", new)):
        if result.status != "finished":
            yield f"The {which} run is not finished ({result.status}): its score is partial."
        if result.shard:
            yield f"The {which} run is shard {result.shard}: its score counts its own mutants only."
    if old.agent.digest != new.agent.digest:
        yield (
            f"The agent's config differs ({old.agent.digest[:12]}, now {new.agent.digest[:12]}): a part that "
            "changed has other mutants."
        )
    if old.agent.adapter != new.agent.adapter:
        yield f"The adapter differs: {old.agent.adapter}, now {new.agent.adapter}."
    yield from _suites(old, new)
    yield from _settings(old, new)


def _suites(old: Result, new: Result) -> Iterator[str]:
    before = {row.scenario: row.threshold for row in old.baseline}
    after = {row.scenario: row.threshold for row in new.baseline}
    for names, said in ((after.keys() - before.keys(), "new"), (before.keys() - after.keys(), "gone")):
        if names:
            yield f"The suite differs: scenarios that are {said}: {_first(sorted(names))}."
    moved = sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
    if moved:
        yield f"Thresholds differ on {_first(moved)}."


def _settings(old: Result, new: Result) -> Iterator[str]:
    if old.seed != new.seed:
        yield f"The seeds differ ({old.seed}, now {new.seed}): samples and trials differ by chance."
    rules = [
        f"{name} {_number(old.rule, name)}, now {_number(new.rule, name)}"
        for name in dict.fromkeys((*old.rule, *new.rule))
        if old.rule.get(name) != new.rule.get(name)
    ]
    if rules:
        yield f"The kill rule differs: {'; '.join(rules)}."
    if old.selective != new.selective:
        yield "The runs kept different shares of the operators (selective mutation)."
    if old.agentmut_version != new.agentmut_version:
        yield f"The versions of agentmut differ ({old.agentmut_version}, now {new.agentmut_version})."


def _number(rule: Mapping[str, float], name: str) -> str:
    return f"{rule[name]:g}" if name in rule else "unknown"


def _first(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
