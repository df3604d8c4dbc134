"""What `check_report_format` looks at."""

from collections.abc import Iterator, Sequence
from typing import Any

from agentmut._base import one_line
from agentmut.nouns import (
    AgentSummary,
    BaselineRow,
    Bounds,
    Controls,
    Cost,
    DestroyedControl,
    Evidence,
    IdentityControl,
    Intent,
    MutantRow,
    OperatorClass,
    Result,
    Score,
    Status,
    Target,
)
from agentmut.report import View

_HOSTILE = "\u202e\x1b[31m<script>alert(1)</script>| `x` \ud83d\ude00 ]]> \x00 &amp; {{7*7}}"
_STEERING = ("\x1b", "\x00", "\u202e")
"""Characters that steer a terminal, end a text, or turn it around."""


def report_format_faults(made: Any, results: Sequence[Result]) -> Iterator[str]:
    """Yield everything that is wrong with a report format, tried on results of all kinds."""
    for name, result in [*_samples(), *((f"the result {one.run_id}", one) for one in results)]:
        before = result.model_copy(deep=True)
        try:
            first, again = made.render(result, View()), made.render(result, View())
        except Exception as error:
            yield f"on {name} it raised {type(error).__name__}: {one_line(error)}"
            continue
        if not isinstance(first, str):
            yield f"on {name} it gave a {type(first).__name__}; expected text"
            continue
        if first != again:
            yield f"on {name} it wrote the same result twice and differently"
        if not first.endswith("\n"):
            yield f"on {name} its document does not end with a line break"
        if found := [character for character in _STEERING if character in first]:
            yield f"on {name} characters that steer a terminal went through: {found!r}"
        if result != before:
            yield f"on {name} it changed the result"


def _samples() -> Iterator[tuple[str, Result]]:
    yield "a result without mutants", _result()
    yield "a mutant of every status", _result(*(_row(status, "drop a rule") for status in Status))
    yield "texts of an attacker", _result(_row(Status.SURVIVED, _HOSTILE), project=_HOSTILE)
    yield "a run that a budget stopped", _result(status="budget", problem="the budget of 10 trials is spent")


def _row(status: Status, text: str) -> MutantRow:
    return MutantRow(
        id=status.value,
        operator="prompt.drop_instruction",
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        status=status,
        target=Target(path="prompts/system.md", line=3),
        before=text,
        after="",
        description=text,
        reason=text,
        evidence=(Evidence(scenario=text, trials=20, failures=1, decision=status.value),),
        trials=20,
    )


def _result(
    *rows: MutantRow, status: str = "finished", problem: str = "", project: str = "agentmut.yaml"
) -> Result:
    bounds = Bounds(low=0.8, high=0.97, level=0.95, method="wilson")
    baseline = BaselineRow(
        scenario="one", trials=50, passes=46, rate=0.92, interval=bounds, threshold=0.9, testable=True
    )
    counts = {one.value: sum(row.status is one for row in rows) for one in Status}
    score = Score(value=None, low=None, high=None, **counts)
    return Result(
        agentmut_version="0",
        run_id="20260101-000000-000",
        status=status,
        problem=problem,
        seed=1,
        project=project,
        agent=AgentSummary(adapter="python", digest="d" * 64),
        baseline=(baseline,),
        controls=Controls(
            identity=IdentityControl(mutants=1, killed=0, trials=30),
            destroyed=DestroyedControl(status=Status.KILLED, trials=4),
        ),
        score=score,
        robustness=Score(value=None, low=None, high=None),
        classes={"prompt": score},
        operators={"prompt.drop_instruction": score},
        mutants=rows,
        cost=Cost(trials=84, baseline_trials=50, tokens=1234, usd=0.5, seconds=12),
        rule={"alpha": 0.05, "beta": 0.1, "delta": 0.2, "n_max": 100, "baseline": 50},
    )
