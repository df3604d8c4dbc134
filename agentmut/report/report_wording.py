"""Numbers and names as every report writes them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from agentmut.nouns import (
    BaselineRow,
    Bounds,
    CiRed,
    CiRun,
    Cost,
    JudgeUse,
    Origins,
    Score,
    Status,
    SuitePart,
    nothing_decided,
)
from agentmut.report.paint import clean

if TYPE_CHECKING:
    from agentmut.store import Rescored

_MARKER = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
ROUNDED_UP = (
    "Of R runs, threshold times R must pass, rounded up: at 0.9 all of 3, but 9 of 10. So more runs can be red "
    "more often."
)
"""Why more runs of a scenario may be red more often."""
WHY_CHOSEN = {
    "typical": "a typical run of each",
    "telling": "the run of the mutant that differs most",
    "another": "another run of the mutant, and a typical run of the original",
    "asked for": "the run that was asked for, and a typical run of the original",
}
"""`SideBySide.chosen` -> what the two runs are."""


def ci_left_out(runs: Sequence[CiRun]) -> Iterator[str]:
    """Yield a sentence for the killed mutants, and one for the scenarios, that a table of CI runs leaves out."""
    if left := max((run.killed.left_out for run in runs), default=0):
        yield f"{counted(left, 'killed mutant')} without enough runs after the kill: left out here."
    if left := max((run.left_out for run in runs), default=0):
        yield f"{counted(left, 'scenario')} without a run that says anything: left out here."


def interval(score: Score | CiRed) -> str:
    """Return value and bounds as text.

    >>> interval(Score(value=0.5, low=0.25, high=0.75))
    '0.50 [0.25, 0.75]'
    >>> interval(Score(value=None, low=None, high=None))
    'n/a'
    >>> interval(Score(value=None, low=0, high=1, undecided=2, not_drawn=10))
    'none of 12 decided'
    """
    if isinstance(score, Score) and score.value is None:
        return nothing_decided(score)
    if score.low is None or score.high is None:
        return "n/a"
    value = "n/a" if score.value is None else f"{score.value:.2f}"
    return f"{value} [{score.low:.2f}, {score.high:.2f}]"


def bounds_text(found: Bounds | None, style: str = ".3f") -> str:
    """Return an estimate and its bounds, each written in a style.

    >>> bounds_text(Bounds(estimate=-0.25, low=-0.5, high=0.0, level=0.95, method="wald"), "+.2f")
    '-0.25 [-0.50, +0.00]'
    >>> bounds_text(None)
    '-'
    """
    if found is None or found.estimate is None:
        return "-"
    return f"{found.estimate:{style}} [{found.low:{style}}, {found.high:{style}}]"


def judged_again(rescored: "Rescored") -> str:
    """Return a sentence with the score of a run after rescoring, which the run's own report does not have."""
    left = f", {counted(rescored.after.undecided, 'mutant')} open" if rescored.after.undecided else ""
    return (
        "Judged again by later evaluators (`agentmut rescore`), the stored trials give "
        f"{interval(rescored.after)}{left}. "
        "This report shows what the run decided; `agentmut run` decides again and reuses the trials."
    )


def without_marker(text: str) -> str:
    """Return the text without the bullet or number of its list item.

    >>> without_marker("- Never guess.")
    'Never guess.'
    """
    return _MARKER.sub("", text.strip())


def origins_line(origins: Origins) -> str:
    """Return a sentence with the share of the evidence that other tools recorded.

    >>> origins_line(Origins(runs=8, foreign=2))
    'Recorded by other tools: 2 of 8 runs (25 %).'
    >>> origins_line(Origins(runs=8))
    'Recorded by other tools: 0 of 8 runs.'
    >>> origins_line(Origins(runs=0))
    'No run was used.'
    """
    if not origins.runs:
        return "No run was used."
    share = f" ({100 * origins.foreign_share:.3g} %)" if origins.foreign else ""
    return f"Recorded by other tools: {origins.foreign} of {counted(origins.runs, 'run')}{share}."


def timeouts_line(outcomes: Mapping[str, int], in_time: Bounds | None) -> str:
    """Return how many runs timed out and how the others ended; empty without a timeout.

    >>> timeouts_line({"pass": 4, "fail": 1}, None)
    ''
    """
    late = outcomes.get("timeout", 0)
    if not late or in_time is None:
        return ""
    said = f"{counted(late, 'run')} timed out and count as failures"
    if not in_time.n:
        return f"{said}; none ended in time"
    return f"{said}; of the {in_time.n} that ended in time {bounds_text(in_time, '.2f')} passed"


def confirming_line(rows: Iterable[BaselineRow]) -> str:
    """Return a sentence on the trials of the original that confirmed kills and count in the baseline; empty for none.

    >>> confirming_line([])
    ''
    """
    beside = sum(row.beside for row in rows)
    if not beside:
        return ""
    return f"{counted(beside, 'run')} of the original confirmed kills; the rounds for smaller drops count them, too."


def percent(share: float) -> str:
    """Return a share in whole percent.

    >>> percent(0.168)
    '17 %'
    """
    return f"{100 * share:.0f} %"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def status_name(status: Status) -> str:
    """Return a status in the words of every report.

    >>> status_name(Status.NO_COVERAGE)
    'no coverage'
    """
    return status.value.replace("_", " ")


def money(cost: Cost) -> str:
    """Return what a run cost at list prices, marked where a simulated model answered and nothing was paid.

    >>> money(Cost(trials=1, baseline_trials=1, tokens=9, usd=1.5, seconds=1, simulated=True))
    '$1.50 simulated'
    >>> money(Cost(trials=1, baseline_trials=1, tokens=9, usd=0.0123, seconds=1))
    '$0.0123'
    >>> money(Cost(trials=1, baseline_trials=1, tokens=9, usd=0.5, seconds=1, cached_tokens=8, saved_usd=1.2))
    '$0.5000 (prompt caches saved $1.20)'
    """
    if cost.usd is None:
        return "cost unknown"
    written = f"${cost.usd:,.2f}" if cost.usd >= 1 else f"${cost.usd:.4f}"
    written = f"{written} simulated" if cost.simulated and cost.usd else written
    if round(cost.saved_usd, 4) <= 0:
        return written
    saved = f"${cost.saved_usd:,.2f}" if cost.saved_usd >= 1 else f"${cost.saved_usd:.4f}"
    return f"{written} (prompt caches saved {saved})"


def duration(seconds: float) -> str:
    """Return a time in the units that people use.

    >>> duration(8.4), duration(133), duration(7300)
    ('8 s', '2 min 13 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def status_counts(score: Score) -> str:
    """Return how many mutants have each status.

    >>> status_counts(Score(value=0.5, low=0.1, high=0.9, killed=2, no_coverage=2))
    '2 killed, 2 no coverage'
    """
    parts = [
        f"{getattr(score, status.value)} {status_name(status)}"
        for status in Status
        if getattr(score, status.value)
    ]
    return ", ".join(parts) or "no mutants"


MEANING = {
    Status.KILLED: "The suite notices this change: the pass rate of a scenario has dropped.",
    Status.SURVIVED: "The suite does not notice this change: every scenario that reaches the part passes as before.",
    Status.EQUIVALENT: "The change makes no difference.",
    Status.NO_COVERAGE: "No scenario reaches the changed part, so none could notice.",
    Status.UNDECIDED: "There is not enough evidence either way.",
    Status.UNTESTABLE: "The unchanged agent fails too often where the change is reached: no drop could show.",
    Status.NOT_APPLIED: "The change never reached the agent, so this says nothing about the suite.",
    Status.NOT_DRAWN: "A random sample of the mutants was tried, and this one was not drawn.",
    Status.IGNORED: "The project file tells to ignore it.",
    Status.ERROR: "The changed agent could not be run, so this says nothing about the suite.",
}


class HasJudges(Protocol):
    """A report with the tokens and cost of model judges and of scenarios' hooks."""

    @property
    def cost(self) -> Cost:
        """Return the cost of the agent's runs; the hooks' is told apart in it."""
        ...

    @property
    def judges(self) -> tuple[JudgeUse, ...]:
        """Return the use of judges, by model."""
        ...


def judged_with(report: HasJudges) -> Iterator[str]:
    """Yield tokens and money of model judges and of hooks, which the line on the agent's runs does not count."""
    for judge in report.judges:
        money = "cost unknown" if judge.usd is None else f"${judge.usd:.4f}"
        tokens = f"{judge.input_tokens + judge.output_tokens} tokens"
        asked = f"{judge.questions} questions, " if judge.questions or judge.reused else ""
        reused = f"; {judge.reused} opinions reused from earlier" if judge.reused else ""
        yield f"judge {clean(judge.model)}: {asked}{tokens}, {money}, in addition to the agent's runs{reused}"
    for hook in report.cost.hooks:
        money = "cost unknown" if hook.usd is None else f"${hook.usd:.4f}"
        tokens = f"{hook.input_tokens + hook.output_tokens} tokens"
        asked = counted(hook.requests, "request")
        yield f"setup and teardown asked {clean(hook.model)}: {asked}, {tokens}, {money}, apart from the agent's runs"


def part_of_suite(part: SuitePart) -> str:
    """Return what the score of a part of the suite says of the whole.

    >>> from agentmut.nouns import SuitePart
    >>> part_of_suite(SuitePart(scenarios=3, of=10))
    'Measured with 3 of 10 scenarios: the whole suite notices at least what these notice, perhaps more.'
    """
    return (
        f"Measured with {part.scenarios} of {part.of} scenarios: the whole suite notices at least what these notice, "
        "perhaps more."
    )
