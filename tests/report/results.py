"""Results made by hand, for the tests of every format."""

from typing import Any

from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import Evidence, MutantRow, Target, TextChange
from agentmut.nouns.result import (
    AgentSummary,
    BaselineRow,
    Controls,
    Cost,
    DestroyedControl,
    IdentityControl,
    Result,
    SourceText,
)
from agentmut.nouns.result_figures import Bounds, Score

PROMPT = "You are a clerk.\n- \U0001f600 Be kind. Never share notes.\n- End with a greeting.\n"
SOURCE = SourceText(path="prompts/system.md", line=1, text=PROMPT)


def dropping(id: str, said: str, status: Status, **changes: Any) -> MutantRow:
    """A mutant that drops what the prompt says there."""
    start = PROMPT.index(said)
    line, column = PROMPT.count("\n", 0, start) + 1, start - PROMPT.rfind("\n", 0, start)
    return row(
        id,
        status,
        before=said,
        target=Target(path=SOURCE.path, line=line, column=column),
        changes=(TextChange(text=0, start=start, end=start + len(said), after=""),),
        **changes,
    )


def row(id: str, status: Status, **changes: Any) -> MutantRow:
    """A mutant of a tool, unless told otherwise."""
    fields: dict[str, Any] = {
        "id": id,
        "operator": "prompt.drop_instruction",
        "operator_class": OperatorClass.PROMPT,
        "intent": Intent.DEGRADE,
        "status": status,
        "target": Target(path="tools.py", line=7),
        "before": "refund",
        "after": "",
        "description": "drop an instruction",
        "evidence": (Evidence(scenario="refund", trials=20, failures=1, decision=str(status)),),
        "killed_by": ("refund",) if status is Status.KILLED else (),
        "trials": 20,
        **changes,
    }
    return MutantRow.model_validate(fields)


def result(*rows: MutantRow, **changes: Any) -> Result:
    """A run with these mutants; its scores are counted from them."""
    counted = [row for row in rows if row.intent is Intent.DEGRADE and not row.parts]
    score = counts(counted)
    bounds = Bounds(low=0.8, high=0.97, level=0.95, method="wilson")
    baseline = BaselineRow(
        scenario="refund", trials=50, passes=46, rate=0.92, interval=bounds, threshold=0.9, testable=True
    )
    fields: dict[str, Any] = {
        "agentmut_version": "0",
        "run_id": "r1",
        "status": "finished",
        "seed": 1,
        "project": "agentmut.yaml",
        "agent": AgentSummary(adapter="python", digest="d" * 64),
        "baseline": (baseline,),
        "controls": Controls(
            identity=IdentityControl(mutants=1, killed=0, trials=30),
            destroyed=DestroyedControl(status=Status.KILLED, trials=4),
        ),
        "score": score,
        "robustness": Score(value=None, low=None, high=None),
        "classes": {"prompt": score},
        "operators": {"prompt.drop_instruction": score},
        "mutants": rows,
        "cost": Cost(trials=84, baseline_trials=50, tokens=1234, usd=0.5, seconds=12),
        "rule": {"alpha": 0.05, "beta": 0.1, "delta": 0.2, "n_max": 100, "baseline": 50},
        "sources": (SOURCE,),
        **changes,
    }
    return Result.model_validate(fields)


def counts(rows: list[MutantRow]) -> Score:
    """The score of these mutants, with bounds that are made up."""
    of = {status.value: sum(row.status is status for row in rows) for status in Status}
    total = of["killed"] + of["survived"] + of["no_coverage"]
    value = of["killed"] / total if total else None
    return Score(value=value, low=0.1 if total else None, high=0.9 if total else None, **of)
