"""Contracts and corrected judges in the verdicts of a suite, for a terminal."""

from collections.abc import Iterator

from agentmut.nouns import Bounds
from agentmut.report.paint import clean, shorten
from agentmut.store import ClauseRow, ContractRow, JudgedRate, SatisfactionRow, ScenarioVerdict

_SHOWN = 160


def contract_lines(row: ScenarioVerdict) -> Iterator[str]:
    """Yield the results of the contracts of a scenario."""
    for contract in row.contracts:
        yield from _contract(row, contract)


def judge_lines(row: ScenarioVerdict) -> Iterator[str]:
    """Yield the judges' pass rates on a scenario, corrected for the judges' errors."""
    for judged in row.judged:
        yield from _judged(row, judged)


def _contract(row: ScenarioVerdict, contract: ContractRow) -> Iterator[str]:
    name = f"contract {clean(contract.contract)}"
    if contract.vacuous:
        yield f"{name}: does not apply, so it checks nothing: {clean(contract.vacuous)}"
        return
    found = [one for one in contract.clauses if one.trials]
    failed = row.trials - row.passes
    held = (
        f"held in all {row.trials} runs"
        if not failed
        else f"no clause was violated; {failed} of {row.trials} runs failed otherwise"
    )
    yield f"{name}: {'these clauses were violated' if found else held}"
    for clause in contract.clauses:
        yield f"  {_clause(clause)}"
    if contract.satisfaction is not None:
        yield from _satisfaction(contract.satisfaction)


def _clause(row: ClauseRow) -> str:
    where = "at the end" if row.step is None else f"step {row.step}"
    tool = f" ({clean(row.tool)})" if row.tool else ""
    trials = f"violated in {row.trials} runs" if row.trials else ""
    again = f"held again in time in {row.recovered}" if row.recovered else ""
    counted = ", ".join(filter(None, (trials, again)))
    return (
        f"{clean(row.clause)} ({row.severity}): {counted}; first {where}{tool}: {shorten(row.said, _SHOWN)}"
    )


def _satisfaction(found: SatisfactionRow) -> Iterator[str]:
    asked = f"({found.p:g}, {found.delta:g}, {found.k})-satisfaction"
    if found.lacking:
        yield f"  {asked} does not follow: {found.lacking}"
    elif found.true_rate is not None:
        bounds = found.true_rate
        yield (
            f"  {asked} follows from PASS: the true rate is at least {bounds.low:.3f} (interval {_interval(bounds)}, "
            f"{100 * bounds.level:.4g} % {bounds.method}). If so, {found.k} further independent runs of the same agent "
            f"satisfy it at a rate of {found.rate:.3f} or more with a chance of {found.chance:g}, and fall "
            f"{found.delta:g} or more below the true rate with a chance of at most {found.drift:.3f}"
        )
    if found.lowest is not None:
        yield f"  observed over any {found.k} runs in a row: a rate of {found.lowest:.3f} or more"


def _judged(row: ScenarioVerdict, judged: JudgedRate) -> Iterator[str]:
    name = f"judge {clean(judged.judge)}"
    raw = f"{judged.passes}/{judged.trials} passed"
    if judged.corrected is None or judged.corrected.estimate is None:
        yield f"{name}: {raw}; not corrected: {clean(judged.problem or 'it judged no run')}"
        return
    sensitivity, specificity = judged.sensitivity, judged.specificity
    assert sensitivity is not None and specificity is not None
    yield (
        f"{name}: {raw}; corrected for its errors {_interval(judged.corrected)} (95 % rogan-gladen, for a fixed "
        f"number of runs; {judged.labels} human labels: it passes {_interval(sensitivity)} of what a human passes, and "
        f"fails {_interval(specificity)} of what a human fails)"
    )
    if judged.note:
        yield f"  {clean(judged.note)}"
    if row.threshold is not None and not judged.corrected.low <= row.threshold <= judged.corrected.high:
        side = "below" if judged.corrected.high < row.threshold else "above"
        yield f"  corrected, the rate is {side} the {row.threshold:g} asked; the verdict is on what the judge says"


def _interval(bounds: Bounds) -> str:
    estimate = "-" if bounds.estimate is None else f"{bounds.estimate:.2f}"
    return f"{estimate} [{bounds.low:.2f}, {bounds.high:.2f}]"
