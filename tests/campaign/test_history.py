"""What earlier runs say of operators: the order of work, and selective mutation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.history import (
    History,
    Record,
    by_yield,
    effectiveness,
    read_history,
    select_operators,
)
from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection, checked_share
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.mutant_row import MutantRow, Target
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import write_result
from agentmut.usecases.campaigns import measure
from tests.report.results import result

Told = Callable[[Result], dict[str, tuple[Any, ...]]]


def row(
    id: str, operator: str, status: Status, trials: int = 10, intent: Intent = Intent.DEGRADE
) -> MutantRow:
    return MutantRow(
        id=id,
        operator=operator,
        operator_class=OperatorClass(operator.partition(".")[0]),
        intent=intent,
        status=status,
        target=Target(path=None),
        before="",
        after="",
        description="",
        trials=trials,
    )


def history(*rows: MutantRow) -> History:
    return History({row.id: row for row in rows})


def some(operator: str, killed: int, survived: int, trials: int = 10, **more: Any) -> list[MutantRow]:
    statuses = [Status.KILLED] * killed + [Status.SURVIVED] * survived
    return [row(f"{operator}-{i}", operator, status, trials, **more) for i, status in enumerate(statuses)]


def mutant(id: str, operator: str, **more: Any) -> Mutant:
    return Mutant(
        id=id,
        operator=operator,
        version=1,
        operator_class=OperatorClass(operator.partition(".")[0]),
        intent=Intent.DEGRADE,
        reach=Reach.SENT,
        description="",
        edits=(),
        **more,
    )


ONE, TWO, THREE = mutant("1", "prompt.a"), mutant("2", "tool.b"), mutant("3", "prompt.a")


def test_without_history_mutants_keep_their_order_and_pairs_come_last() -> None:
    both = mutant("0", "higher_order.pair", parts=(ONE, TWO))
    assert by_yield([both, ONE, TWO, THREE], history()) == ("1", "2", "3", "0")


def test_operators_that_kill_cheaply_come_first() -> None:
    known = history(*some("tool.b", 4, 0, trials=5), *some("prompt.a", 4, 0, trials=50))
    assert by_yield([ONE, TWO, THREE], known) == ("2", "1", "3")


def test_the_order_goes_by_smoothed_kills_a_trial() -> None:
    # tool.b: class (1 + 2) / (1 + 4) = 0.6 at (100 + 160) / 5 = 52 trials; operator (1 + 2.4) / 5 = 0.68 at
    # (100 + 208) / 5 = 61.6: 0.0110. prompt.a: class 6 / 12 at (40 + 160) / 12 = 16.7; operator (4 + 2) / 12 =
    # 0.5 at (40 + 66.7) / 12 = 8.9: 0.056.
    known = history(row("x", "tool.b", Status.KILLED, 100), *some("prompt.a", 4, 4, trials=5))
    assert by_yield([TWO, ONE], known) == ("1", "2")


def test_an_operator_without_history_goes_by_its_class() -> None:
    known = history(*some("tool.other", 8, 0, trials=4), *some("prompt.other", 0, 8, trials=100))
    assert by_yield([ONE, TWO], known) == ("2", "1")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Record(killed=5, scored=10), 1.0),
        (Record(killed=10, scored=10), 4 * (11 / 12) * (1 / 12)),
        (Record(killed=0, scored=10), 4 * (11 / 12) * (1 / 12)),
        (Record(killed=1, scored=1), 4 * (2 / 3) * (1 / 3)),
    ],
)
def test_operators_whose_mutants_all_end_alike_tell_little(record: Record, expected: float) -> None:
    assert effectiveness(record) == pytest.approx(expected)


MIXED = history(
    *some("prompt.half", 5, 5),
    *some("prompt.all", 10, 0),
    *some("prompt.none", 0, 10),
    *some("tool.some", 3, 7),
)
NAMES = ("prompt.all", "prompt.half", "prompt.none", "tool.some", "tool.unknown")


@pytest.mark.parametrize(
    ("share", "left_out"),
    [
        (0.5, ["prompt.all", "prompt.none"]),
        (0.51, []),
        (0.1, ["prompt.all", "prompt.none", "tool.some"]),
        (1.0, []),
    ],
)
def test_the_share_of_operators_that_tell_most_is_kept_and_unknown_ones_too(
    share: float, left_out: list[str]
) -> None:
    selected = select_operators(NAMES, share, MIXED)
    assert [empty.operator for empty in selected.left_out] == left_out
    assert selected.kept == tuple(name for name in NAMES if name not in left_out)


def test_operators_that_are_level_or_have_hardly_any_mutants_are_kept() -> None:
    """The order of their names would decide, or two mutants."""
    level = history(*some("prompt.a", 3, 0), *some("prompt.b", 0, 3), *some("prompt.c", 2, 0))
    names = ("prompt.a", "prompt.b", "prompt.c")
    assert select_operators(names, 0.3, level).kept == names
    told = history(*some("prompt.a", 2, 1), *some("prompt.b", 0, 3), *some("prompt.c", 2, 0))
    assert select_operators(names, 0.3, told).kept == ("prompt.a", "prompt.c")


def test_an_operator_left_out_says_what_it_did() -> None:
    (left, _) = select_operators(NAMES, 0.5, MIXED).left_out
    assert left.reason == (
        "left out by selective mutation: effectiveness 0.31 (10 of 10 killed in earlier runs)"
    )


def test_harmless_operators_are_chosen_among_themselves() -> None:
    known = history(
        *some("prompt.half", 5, 5),
        *some("prompt.all", 10, 0),
        *some("prompt.calm", 0, 10, intent=Intent.PRESERVE),
        *some("prompt.edgy", 2, 8, intent=Intent.PRESERVE),
    )
    names = ("prompt.half", "prompt.all", "prompt.calm", "prompt.edgy")
    assert select_operators(names, 0.5, known).kept == ("prompt.half", "prompt.edgy")


@pytest.mark.whole
def test_a_mutant_counts_once_by_its_latest_result_and_damaged_results_are_passed_over(
    projects: Any,
) -> None:
    project = projects.write(("alpha",), idle=1)
    measure(project, seed=1)
    measure(project, seed=2)
    runs = projects.folder / ".agentmut" / "runs"
    budget = projects.write(("alpha",), idle=1, budget={"minutes": 0.000001})
    assert measure(budget, seed=3).score.undecided == 2  # tells nothing
    (runs / "00000000-broken").mkdir()
    (runs / "00000000-broken" / "result.json").write_text("{")
    known = read_history(runs).by_operator()["prompt.drop_instruction"]
    assert (known.killed, known.scored, known.tried) == (1, 2, 2)
    assert read_history(Path(projects.folder) / "nowhere") == History({})


def test_a_run_that_left_mutants_open_tells_nothing_since_kills_come_first(tmp_path: Path) -> None:
    kills = some("prompt.a", killed=3, survived=0)
    open_ = row("prompt.a-9", "prompt.a", Status.UNDECIDED, trials=0)
    for run, status, rows in (("1", "budget", [*kills, open_]), ("2", "budget", some("tool.b", 1, 1))):
        write_result(result(*rows, run_id=run, status=status), tmp_path / run)
    assert set(read_history(tmp_path).by_operator()) == {"tool.b"}
    write_result(result(*kills, open_, run_id="3", status="finished"), tmp_path / "3")
    assert read_history(tmp_path).by_operator()["prompt.a"].killed == 3


TOOLS = """
NAMES = ("lookup", "search", "browse")
TOOLS = [{"name": name, "description": name, "parameters": {"type": "object"}} for name in NAMES]
"""


def toolbox(projects: Any, **sections: Any) -> Any:
    agent = {"config": {"prompt": "prompt.md", "tools": f"{projects.module}:TOOLS"}}
    operators = {"operators": ["prompt.drop_instruction", "tool.remove"]}
    mutation = operators | sections.pop("mutation", {})
    return projects.write(("alpha",), extra=TOOLS, agent_section=agent, idle=2, mutation=mutation, **sections)


@pytest.mark.whole
def test_the_order_changes_no_decision(projects: Any, told: Told) -> None:
    project = projects.write(("alpha", "beta"), idle=2)
    first = measure(project)
    session = open_session(project)
    plan = make_plan(session, make_mutants(session, Selection()), None, 0.0)
    assert sorted(plan.order) == sorted(m.id for m in plan.mutants)
    again = measure(project, fresh=True)
    assert told(again) == told(first)
    assert [m.id for m in again.mutants] == [m.id for m in first.mutants]


@pytest.mark.whole
def test_operators_that_have_killed_before_are_tried_first_in_the_next_run(projects: Any) -> None:
    project = projects.write(
        ("alpha", "beta"), idle=1, mutation={"operators": ["prompt.synonym", "prompt.drop_instruction"]}
    )
    measure(project)
    session = open_session(project)
    plan = make_plan(session, make_mutants(session, Selection()), 9, 0.0)
    operators = {m.id: m.operator for m in plan.mutants}
    tried = [operators[id] for id in plan.order]
    assert set(tried) == {"prompt.synonym", "prompt.drop_instruction"}
    assert tried == sorted(tried)  # synonyms, which are harmless, have killed nothing


@pytest.mark.whole
def test_selective_mutation_scores_the_operators_kept_and_says_which(projects: Any) -> None:
    project = toolbox(projects)
    with pytest.raises(UsageError, match="no finished run yet"):
        measure(project, selection=Selection(selective=0.5))
    whole = measure(project)
    assert whole.selective is None
    assert (whole.score.value, whole.score.no_coverage) == (0.166667, 3)
    result = measure(toolbox(projects, mutation={"selective": 0.5}))
    assert (result.selective, result.score.value) == (0.5, 0.333333)
    assert list(result.operators) == ["prompt.drop_instruction"]
    (note,) = [note for note in result.notes if note.startswith("selective mutation")]
    assert all(operator in note for operator in whole.operators)
    assert "do not compare it with a score of all" in note
    listed = make_mutants(open_session(project), Selection(selective=0.5))
    assert any("left out by selective mutation" in empty.reason for empty in listed.empty)


@pytest.mark.parametrize("share", [0, -1, 1.5])
def test_a_share_outside_of_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="--selective: a share"):
        checked_share(share)
