"""The findings of single evaluators over the trials of a scenario: contract violations, and judges' pass rates."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentmut._base import NotJudgedError
from agentmut.campaign import bounds_of
from agentmut.judging import Contract, ModelJudge, Satisfaction, unwrapped
from agentmut.nouns import Bounds, Check, Scenario
from agentmut.seams import Evaluator
from agentmut.stats import Labels, Verdict, guarantee, transferred, windows
from agentmut.store import ClauseRow, ContractRow, JudgedRate, SatisfactionRow

LEVEL = 0.95
FEW = 3
"""The correction takes the judge's errors in different runs as independent; fewer opinions than a third of the runs
are far from that."""
Clause = dict[str, Any]


@dataclass
class CheckCounts:
    """Counts over trials, by the evaluator's position in its scenario."""

    trials: Counter[int] = field(default_factory=Counter)
    passed: Counter[int] = field(default_factory=Counter)
    violated: Counter[tuple[int, str]] = field(default_factory=Counter)
    recovered: Counter[tuple[int, str]] = field(default_factory=Counter)
    asked: dict[int, set[str]] = field(default_factory=dict)
    """What model judges were asked, as digests: equal answers of the agent get the opinion that is there already."""
    first: dict[tuple[int, str], Clause] = field(default_factory=dict)
    """The first violation of each clause of a contract that did not recover, else the first of all."""

    def take_in(self, checks: Sequence[Check]) -> None:
        """Add one trial that is evidence; a trial that failed before it was judged has no checks."""
        for position, check in enumerate(checks):
            self.trials[position] += 1
            self.passed[position] += check.passed
            if asked := (check.details or {}).get("asked"):
                self.asked.setdefault(position, set()).add(str(asked))
            self._violations(position, (check.details or {}).get("violations"))

    def _violations(self, position: int, found: Any) -> None:
        seen: dict[str, bool] = {}
        for one in found if isinstance(found, list) else ():
            key, again = (position, one["clause"]), "recovered" in one
            seen[one["clause"]] = seen.get(one["clause"], True) and again
            if key not in self.first or ("recovered" in self.first[key] and not again):
                self.first[key] = one
        for clause, again in seen.items():
            (self.recovered if again else self.violated)[position, clause] += 1


def contract_rows(
    evaluators: Sequence[Evaluator],
    scenario: Scenario,
    checked: CheckCounts,
    passed: Sequence[bool],
    bounds: Bounds | None,
    verdict: Verdict,
) -> Iterator[ContractRow]:
    """Yield every contract of a scenario. `bounds` are of the pass rate, which `passed` has trial by trial."""
    for position, evaluator in enumerate(map(unwrapped, evaluators)):
        if isinstance(evaluator, Contract):
            vacuous = evaluator.why_vacuous(scenario)
            asked = evaluator.spec.satisfaction
            yield ContractRow(
                contract=evaluator.spec.name,
                vacuous=vacuous,
                clauses=tuple(_clauses(checked, position)),
                satisfaction=_satisfaction(asked, passed, bounds, verdict) if asked and not vacuous else None,
            )


def clause_rows(evaluators: Sequence[Evaluator], checked: CheckCounts) -> Iterator[ContractRow]:
    """Yield every contract with its violated clauses, over all these scenarios."""
    for position, evaluator in enumerate(map(unwrapped, evaluators)):
        if isinstance(evaluator, Contract):
            yield ContractRow(contract=evaluator.spec.name, clauses=tuple(_clauses(checked, position)))


def judge_rows(evaluators: Sequence[Evaluator], checked: CheckCounts) -> Iterator[JudgedRate]:
    """Yield every model judge of a scenario that has a calibration, with its pass rate corrected."""
    for position, evaluator in enumerate(map(unwrapped, evaluators)):
        if isinstance(evaluator, ModelJudge) and evaluator.spec.calibration is not None:
            passes, trials = checked.passed[position], checked.trials[position]
            try:
                counts = evaluator.calibrate()
            except NotJudgedError as error:
                said = f"the calibration could not be judged: {error}"
                yield JudgedRate(judge=str(evaluator.model), passes=passes, trials=trials, problem=said)
                continue
            assert counts is not None
            different = len(checked.asked.get(position, ()))
            yield _corrected(str(evaluator.model), passes, trials, counts, different)


def _corrected(judge: str, passes: int, trials: int, counts: Labels, different: int) -> JudgedRate:
    found = transferred(passes, trials, counts, LEVEL)
    useless = "" if found.estimate is not None or not trials else _useless(counts)
    return JudgedRate(
        judge=judge,
        passes=passes,
        trials=trials,
        different=different or None,
        note=_few(different, trials) if found.estimate is not None else "",
        labels=counts.labelled,
        sensitivity=bounds_of(counts.sensitivity(LEVEL)),
        specificity=bounds_of(counts.specificity(LEVEL)),
        corrected=bounds_of(found),
        problem=useless,
    )


def _few(different: int, trials: int) -> str:
    """Return a warning if the judge gave far fewer opinions than it judged runs; an empty text otherwise."""
    if not different or different * FEW >= trials:
        return ""
    return (
        f"only {different} of {trials} answers differ, and equal answers have one opinion: its errors repeat, so the "
        "corrected interval is narrower than it should be"
    )


def _useless(counts: Labels) -> str:
    if not (counts.both_pass + counts.human_only and counts.both_fail + counts.judge_only):
        return "the human's labels are all of one kind; both are needed"
    return (
        "the judge passes what the human failed as readily as what the human passed; its verdicts say nothing"
    )


def _clauses(checked: CheckCounts, position: int) -> Iterator[ClauseRow]:
    for (where, clause), one in checked.first.items():
        if where == position:
            yield ClauseRow(
                clause=clause,
                kind=one["kind"],
                severity=one["severity"],
                trials=checked.violated[where, clause],
                recovered=checked.recovered[where, clause],
                step=one.get("step"),
                tool=one.get("tool"),
                turn=one.get("turn"),
                said=one["said"],
            )


def _satisfaction(
    asked: Satisfaction, passed: Sequence[bool], bounds: Bounds | None, verdict: Verdict
) -> SatisfactionRow:
    lacking = "; ".join(_lacking(asked, len(passed), bounds, verdict))
    observed = windows(passed, asked.k)
    found = guarantee(bounds.low, asked.k, asked.delta, LEVEL) if bounds and not lacking else None
    return SatisfactionRow(
        **asked.model_dump(),
        lacking=lacking,
        true_rate=bounds if found else None,
        rate=round(found.rate, 6) if found else None,
        drift=round(found.drift, 6) if found else None,
        chance=LEVEL,
        lowest=round(observed.lowest, 6) if observed else None,
        drop=round(observed.drop, 6) if observed else None,
    )


def _lacking(asked: Satisfaction, n: int, bounds: Bounds | None, verdict: Verdict) -> Iterator[str]:
    """Yield the conditions of the proposition that are not met."""
    if verdict is not Verdict.PASS:
        yield f"the verdict is {verdict}"
    if n < asked.k:
        yield f"{n} trials are fewer than k = {asked.k}"
    if bounds is None or bounds.low < asked.p:
        low = "unknown" if bounds is None else f"{bounds.low:.3f}"
        yield f"the lower bound of the pass rate is {low}, and p is {asked.p:g}"
