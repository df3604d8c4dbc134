"""Which killed mutants are alike, and which stand for others."""

from collections.abc import Sequence
from typing import Any

import pytest

from agentmut.insight.groups import dominators, grouped
from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import Evidence, MutantRow, Target
from agentmut.nouns.result import (
    SUITE,
    AgentSummary,
    Controls,
    Cost,
    DestroyedControl,
    IdentityControl,
    Result,
)
from agentmut.nouns.result_figures import Score
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render

NO_SCORE = Score(value=None, low=None, high=None)


def row(id: str, *killers: str, failures: int = 5, of: int = 10, failure: str = "", **more: Any) -> MutantRow:
    evidence = [
        Evidence(scenario=s, trials=of, failures=failures, decision="killed", failure=failure)
        for s in killers
        if s != SUITE
    ]
    fields: dict[str, Any] = {
        "id": id,
        "operator": "prompt.negate",
        "operator_class": OperatorClass.PROMPT,
        "intent": Intent.DEGRADE,
        "status": Status.KILLED if killers else Status.SURVIVED,
        "target": Target(path="p.md", line=1),
        "before": "a",
        "after": "b",
        "description": "",
        "killed_by": killers,
        "evidence": evidence,
        "trials": of,
    }
    return MutantRow.model_validate({**fields, **more})


def result(rows: Sequence[MutantRow]) -> Result:
    return grouped(
        Result(
            agentmut_version="0",
            run_id="r",
            status="finished",
            seed=1,
            agent=AgentSummary(adapter="python", digest="d" * 64),
            baseline=(),
            controls=Controls(identity=IdentityControl(mutants=1, killed=0), destroyed=DestroyedControl(status=None)),
            score=NO_SCORE,
            robustness=NO_SCORE,
            classes={},
            operators={},
            mutants=tuple(rows),
            cost=Cost(trials=0, baseline_trials=0, tokens=0, usd=0.0, seconds=0.0),
        )
    )  # fmt: skip


def groups(*rows: MutantRow) -> list[str]:
    return [found.group for found in result(rows).mutants]


def standing(*rows: MutantRow) -> list[str]:
    return [found.subsumed_by for found in result(rows).mutants]


def test_mutants_that_the_same_scenarios_kill_are_a_group_named_by_the_first() -> None:
    assert groups(row("m1", "a"), row("m2", "a", "b"), row("m3", "a"), row("m4", "b")) == ["m1", "", "m1", ""]


def test_failures_of_another_kind_make_another_group() -> None:
    lookup = "expected a call of lookup; called nothing"
    same = "expected a call of lookup; called refund, refund"
    other = "output lacks 'sorry': 'No.'"
    rows = [row("m1", "a", failure=lookup), row("m2", "a", failure=other), row("m3", "a", failure=same)]
    assert groups(*rows) == ["m1", "", "m1"]


def test_a_mutant_that_fewer_scenarios_kill_stands_for_those_that_they_kill_too() -> None:
    assert standing(row("m1", "a", "b"), row("m2", "a"), row("m3", "b", "c")) == ["m2", "", ""]


def test_of_those_that_the_same_scenarios_kill_the_hardest_stands_for_the_others() -> None:
    rows = [row("m1", "a", failures=9), row("m2", "a", failures=4), row("m3", "a", failures=6)]
    assert standing(*rows) == ["m2", "", "m2"]
    # equally hard: more trials were needed for it, then the smaller id
    assert standing(row("m1", "a", failures=2, of=4), row("m2", "a", failures=6, of=12)) == ["m2", ""]
    assert standing(row("m2", "a"), row("m1", "a")) == ["m1", ""]


def test_what_stands_for_others_is_itself_subsumed_by_none() -> None:
    rows = [row("m1", "a", "b", "c"), row("m2", "a", "b"), row("m3", "a"), row("m4", "b")]
    found = {r.id: r.subsumed_by for r in result(rows).mutants}
    assert found == {"m1": "m3", "m2": "m3", "m3": "", "m4": ""}


def test_an_open_decision_is_no_kill() -> None:
    seen = Evidence(scenario="b", trials=3, failures=3, decision="continue")
    open_too = row("m1", "a")
    open_too = open_too.model_copy(update={"evidence": (*open_too.evidence, seen)})
    assert standing(open_too, row("m2", "b")) == ["", ""]


@pytest.mark.parametrize(
    "other",
    [
        row("m2"),
        row("m2", "a", intent=Intent.PRESERVE),
        row("m2", "a", operator_class=OperatorClass.HIGHER_ORDER),
        row("m2", SUITE),
        row("m2", "a", status=Status.UNDECIDED),
    ],
    ids=["survivor", "preserving", "pair", "by the suite alone", "undecided"],
)
def test_only_degrading_mutants_that_single_scenarios_kill_are_compared(other: MutantRow) -> None:
    assert groups(row("m1", "a"), other) == standing(row("m1", "a"), other) == ["", ""]


def test_grouping_again_changes_nothing_and_forgets_what_no_longer_holds() -> None:
    once = result([row("m1", "a", failures=3), row("m2", "a")])
    assert grouped(once) == once
    alone = once.model_copy(update={"mutants": once.mutants[1:]})
    assert [(r.group, r.subsumed_by) for r in grouped(alone).mutants] == [("", "")]


def test_the_report_shows_the_few_with_how_many_stand_behind_each() -> None:
    found = result(
        [row(f"m{n}", "a", failures=9 - n) for n in range(4)] + [row("m8", "b"), row("m9", "c", "b")]
    )
    assert dominators(found.mutants) == {"m3": ("m0", "m1", "m2"), "m8": ("m9",)}
    text = render(found)
    assert "Killed mutants that stand for others: 2, for 4 of 6 killed" in text
    assert "m3  prompt.negate  p.md:1  (stands for 3)" in text
    assert "stand for others" not in render(result([row("m1", "a")]))


def test_show_names_its_company() -> None:
    found = result([row("m1", "a", failures=2), row("m2", "a")])
    assert "m1 stands for this mutant" in render_mutant(_with_baseline(found), found.mutants[1])
    assert "This mutant stands for m2" in render_mutant(_with_baseline(found), found.mutants[0])
    assert "The same scenarios kill m2 in the same way." in render_mutant(
        _with_baseline(found), found.mutants[0]
    )


def _with_baseline(found: Result) -> Result:
    from agentmut.nouns.result import BaselineRow

    row = BaselineRow(scenario="a", trials=9, passes=9, rate=1.0, interval=None, threshold=0.9, testable=True)
    return found.model_copy(update={"baseline": (row,)})
