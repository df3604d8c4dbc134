"""The reliability of repeated runs, as sentences for every format that is read by people."""

from collections.abc import Callable, Iterator, Sequence

from agentmut.campaign import baseline_reliability
from agentmut.nouns import Reliability, RepeatedRuns, Result
from agentmut.report.paint import clean
from agentmut.report.report_wording import bounds_text, counted

KS = (1, 2, 4, 8)
"""The numbers of runs that pages show; the JSON has all up to 8."""
SHOWN_FLAKY = 5
SHOWN_VARIABLE = 3
VARIABLE_MEANS = (
    "The most variable scenarios follow. The decay curve is pass^k by the pass rate of the first k runs alone. "
    "Variance amplification is 0 where all runs agree, and 100 where half of them pass. Graceful degradation is 100 "
    "where all runs pass, and late failures lower it most."
)


def campaign_reliability(result: Result, named: Callable[[str], str] = clean) -> list[str]:
    """Return the sentences on a campaign's unchanged agent; none where no run of it is evidence."""
    found = baseline_reliability(result)
    return [*reliability_lines(found, named), *reliability_details(found, named)] if found else []


def reliability_lines(found: Reliability, named: Callable[[str], str] = clean) -> Iterator[str]:
    """Yield the suite's pass rate, pass^k and pass@k, flaky scenarios and latency, each as a sentence or two.

    `named` makes a scenario's name safe in the format at hand.
    """
    yield _pass_rate(found)
    yield from _over_runs(found)
    yield from _by_category(found, named)
    yield _flaky(found, named)
    if wanting := [row for row in found.scenarios if row.runs < row.runs_needed]:
        most = max(row.runs_needed for row in wanting)
        few = counted(len(wanting), "scenario")
        yield f"To know a pass rate within 10 points, a scenario needs at most {most} runs. {few} had too few."
    if found.p95 is not None:
        high = "no upper bound yet" if found.p95.high is None else f"at most {found.p95.high:.3g} s"
        yield f"95 % of the runs take at most {found.p95.seconds:.3g} s ({high}, {counted(found.p95.runs, 'run')})."
    if prepared := [row.setup_seconds for row in found.scenarios if row.setup_seconds is not None]:
        each = f"{min(prepared):.3g} to {max(prepared):.3g}" if len(prepared) > 1 else f"{prepared[0]:.3g}"
        yield f"The setup of a run takes {each} s on average, apart from these durations."
    if found.early_stopping:
        yield "Outcomes decided how many runs there are, so these intervals describe the runs and guarantee nothing."


def _pass_rate(found: Reliability) -> str:
    naive = found.naive
    return (
        f"Pass rate of the suite {bounds_text(found.pass_rate)}. The interval rests on "
        f"{_rests_on(found.pass_rate.method)}. If all runs were independent, it would be "
        f"[{naive.low:.3f}, {naive.high:.3f}]{_likeness(found.design_effect)}."
    )


def _rests_on(method: str) -> str:
    """Return what the interval of a mean over scenarios rests on; the JSON names the method itself.

    >>> _rests_on("t or gaffke over scenarios"), _rests_on("clopper-pearson")
    ('the differences between scenarios', 'all runs together')
    """
    if "agree" in method:
        return "the number of scenarios, which all agree"
    return "the differences between scenarios" if "over scenarios" in method else "all runs together"


def _likeness(design_effect: float | None) -> str:
    """Return how much less the runs tell than independent ones; empty where that cannot be told, or they are no less.

    >>> _likeness(4.0), _likeness(1.0)
    ('. But runs of one scenario are alike: 100 of these runs tell as much as 25 independent ones', '')
    """
    if design_effect is None or round(100 / max(design_effect, 1e-9)) >= 100:
        return ""
    runs = 100 / design_effect
    return (
        f". But runs of one scenario are alike: 100 of these runs tell as much as {runs:.2g} independent ones"
    )


def _by_category(found: Reliability, named: Callable[[str], str]) -> Iterator[str]:
    for row in found.categories:
        name = f"category {named(row.category)}" if row.category else "scenarios without a category"
        counts = f"{row.passes} of {counted(row.runs, 'run')}, {counted(row.scenarios, 'scenario')}"
        yield f"Pass rate of {name} {bounds_text(row.pass_rate)} ({counts})."


def _over_runs(found: Reliability) -> Iterator[str]:
    shown = [each for each in found.chances if each.k in KS and each.k > 1]
    if not shown:
        yield "pass^k and pass@k need two runs of a scenario or more."
        return
    every = ", ".join(f"{bounds_text(each.pass_hat)} for {each.k}" for each in shown)
    some = ", ".join(f"{bounds_text(each.pass_at)} for {each.k}" for each in shown)
    yield f"The chance that all of k runs of a scenario pass (pass^k): {every} runs."
    yield f"The chance that at least one of k runs passes (pass@k): {some} runs."


def reliability_details(found: Reliability, named: Callable[[str], str] = clean) -> Iterator[str]:
    """Yield what the sentences of `reliability_lines` leave out: the plug-in estimators, and the most variable runs."""
    if shown := [each for each in found.chances if each.k in KS and each.k > 1]:
        every = ", ".join(f"{each.k}: {each.pass_hat_plug_in:.3f}" for each in shown)
        some = ", ".join(f"{each.k}: {each.pass_at_plug_in:.3f}" for each in shown)
        yield f"From observed rates alone, pass^k is {every} (too high on average), pass@k {some} (too low on average)."
    variable = _most_variable(found)[:SHOWN_VARIABLE]
    if variable:
        yield VARIABLE_MEANS
    for row in variable:
        yield f"{named(row.scenario)}: {', '.join(_variable(row))}."


def _variable(row: RepeatedRuns) -> Iterator[str]:
    """Yield the figures of a scenario whose runs differ; `VARIABLE_MEANS` explains them."""
    if row.decay_curve:
        yield f"decay curve {_curve(row.decay_curve)}"
    yield f"variance amplification {row.variance_amplification}"
    if row.graceful_degradation is not None:
        yield f"graceful degradation {row.graceful_degradation}"


def _curve(percents: Sequence[int]) -> str:
    """Return the curve after 1, 2, 4, ... runs and after the last; JUnit and JSON have every run."""
    shown = [k for k in range(1, len(percents) + 1) if k & (k - 1) == 0 or k == len(percents)]
    after = f"{', '.join(map(str, shown[:-1]))}{', ' if shown[1:] else ''}{counted(shown[-1], 'run')}"
    return f"{', '.join(str(percents[k - 1]) for k in shown)} % after {after}"


def reliability_properties(found: Reliability) -> Iterator[tuple[str, str]]:
    """Yield the figures of a suite by name, as JUnit has properties."""
    for name, bounds in (("pass_rate", found.pass_rate), ("naive", found.naive)):
        yield f"agentmut.reliability.{name}", f"{bounds.estimate or 0:g}"
        yield f"agentmut.reliability.{name}.low", f"{bounds.low:g}"
        yield f"agentmut.reliability.{name}.high", f"{bounds.high:g}"
    if found.design_effect is not None:
        yield "agentmut.reliability.design_effect", f"{found.design_effect:g}"
    yield "agentmut.reliability.flaky", str(found.flaky)
    yield "agentmut.reliability.runs_needed", str(max(row.runs_needed for row in found.scenarios))
    for each in found.chances:
        yield f"agentmut.reliability.pass_hat_{each.k}", f"{each.pass_hat.estimate or 0:g}"
        yield f"agentmut.reliability.pass_at_{each.k}", f"{each.pass_at.estimate or 0:g}"
        yield f"agentmut.reliability.pass_hat_plug_in_{each.k}", f"{each.pass_hat_plug_in:g}"
        yield f"agentmut.reliability.pass_at_plug_in_{each.k}", f"{each.pass_at_plug_in:g}"
    if found.p95 is not None:
        yield "agentmut.reliability.p95", f"{found.p95.seconds:g}"


def scenario_properties(row: RepeatedRuns) -> Iterator[tuple[str, str]]:
    """Yield the figures of one scenario by name, as JUnit has properties."""
    yield "agentmut.reliability.flaky", str(row.flaky).lower()
    yield "agentmut.reliability.runs_needed", str(row.runs_needed)
    yield "agentmut.reliability.variance_amplification", str(row.variance_amplification)
    if row.decay_curve:
        yield "agentmut.reliability.decay_curve", " ".join(map(str, row.decay_curve))
    if row.graceful_degradation is not None:
        yield "agentmut.reliability.graceful_degradation", str(row.graceful_degradation)
    if row.p95_seconds is not None:
        yield "agentmut.reliability.p95", f"{row.p95_seconds:g}"


def _most_variable(found: Reliability) -> list[RepeatedRuns]:
    return sorted((row for row in found.scenarios if row.flaky), key=lambda row: -row.variance_amplification)


def _flaky(found: Reliability, named: Callable[[str], str]) -> str:
    rows = _most_variable(found)
    if not rows:
        return "No scenario is flaky: on each, all runs agree."
    listed = ", ".join(f"{named(row.scenario)} {row.passes}/{row.runs}" for row in rows[:SHOWN_FLAKY])
    more = f" and {len(rows) - SHOWN_FLAKY} more" if len(rows) > SHOWN_FLAKY else ""
    share = f"{len(rows)} of {counted(len(found.scenarios), 'scenario')}"
    return f"Flaky: on {share} some runs pass and some do not. Runs that passed: {listed}{more}."
