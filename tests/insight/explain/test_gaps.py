"""Gaps in the result of a campaign, and how reports put them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.mutant import Status
from agentmut.nouns.mutant_row import BehaviourChange, MutantRow
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result
from agentmut.nouns.scenario import EvaluatorSpec
from agentmut.nouns.suggestion import AssertionSuggestion, Basis, Rate
from agentmut.report.terminal.mutant_page import Proposals, render_mutant
from agentmut.report.terminal.run_page import render
from agentmut.report.terminal.survivor_gap import gap_in_words
from agentmut.usecases.campaigns import measure, merge_shards
from tests.campaign.conftest import AGENT, Projects

# An agent that greets if its prompt says so, which no scenario looks at, and answers in many words.
GREETING = AGENT.replace(
    "    return word",
    """    greeting = "Good day, dear customer. " if "greet" in config.prompt else ""
    number = int(uniform("number") * 100)
    return f"{greeting}Number {number} says: {word}" """,
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Projects, Result]:
    folder = tmp_path_factory.mktemp("greeting")
    projects = Projects(folder, tmp_path_factory.mktemp("tables"))
    return projects, measure(greeting(projects))


def greeting(projects: Projects) -> Any:
    projects.write(("alpha",), agent=GREETING, idle=1, statistics={"baseline": 100})
    prompt = projects.folder / "prompt.md"
    prompt.write_text(prompt.read_text() + "- Always greet the customer.\n")
    return projects.load()


def row(result: Result, text: str) -> MutantRow:
    return next(row for row in result.mutants if text in row.before)


@pytest.mark.whole
def test_a_change_that_no_evaluator_looks_at_is_an_assertion_gap(measured: tuple[Projects, Result]) -> None:
    lost = row(measured[1], "greet")
    assert (lost.status, lost.gap) == (Status.SURVIVED, "assertion")
    assert lost.behaviour is not None
    assert (lost.behaviour.changed, lost.behaviour.scenario) == (True, "alpha")
    assert lost.behaviour.feature == "answers say “Good day, dear customer.” less often"


def test_a_change_of_nothing_is_a_scenario_gap(measured: tuple[Projects, Result]) -> None:
    idle = row(measured[1], "topic")
    assert (idle.status, idle.gap) == (Status.SURVIVED, "scenario")
    assert idle.behaviour is not None
    assert idle.behaviour.changed is False
    assert idle.behaviour.visible is not None


def test_gaps_move_no_score_and_are_in_the_file(measured: tuple[Projects, Result]) -> None:
    projects, result = measured
    assert (result.score.killed, result.score.survived) == (1, 2)
    assert row(result, "alpha").behaviour is None
    (path,) = projects.folder.glob(".agentmut/runs/*/result.json")
    assert read_result(path) == result


@pytest.mark.whole
def test_the_same_trials_give_the_same_gaps_again(measured: tuple[Projects, Result]) -> None:
    projects, result = measured
    again = measure(projects.load())
    assert again.cost.trials == 0
    assert [(r.id, r.gap, r.behaviour) for r in again.mutants] == [
        (r.id, r.gap, r.behaviour) for r in result.mutants
    ]


@pytest.mark.whole
def test_shards_that_are_merged_have_the_gaps_of_an_undivided_run(
    measured: tuple[Projects, Result], tmp_path: Path
) -> None:
    _, whole = measured
    folders = [tmp_path / name for name in ("base", "one", "two", "all")]
    source = measured[0].folder
    for folder in folders:
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("runs", "store.db*"), symlinks=True)
    measure(folders[0], baseline_only=True)
    for number, folder in enumerate(folders[1:3], 1):
        shutil.copy(folders[0] / ".agentmut" / "store.db", folder / ".agentmut" / "store.db")
        measure(folder, shard=f"{number}/2")
    merged = merge_shards([folder / ".agentmut" for folder in folders[1:3]], folders[3])
    assert [(r.id, r.gap, r.behaviour) for r in merged.mutants] == [
        (r.id, r.gap, r.behaviour) for r in whole.mutants
    ]


def test_reports_name_the_gap(measured: tuple[Projects, Result]) -> None:
    _, result = measured
    report = render(result)
    assert "    gap: assertion\n" in report
    assert "    gap: scenario\n" in report
    assert "behaviour changed, and no evaluator looks at that" in " ".join(report.split())
    shown = " ".join(render_mutant(result, row(result, "greet")).split())
    assert "Its behaviour has changed, and no evaluator looks at that: the gap is an assertion." in shown
    assert "On alpha, answers" in shown
    assert "Add an assertion that looks at what changed" in shown


def test_proposals_are_shown_with_lines_to_copy_and_no_escape_codes(
    measured: tuple[Projects, Result],
) -> None:
    _, result = measured
    phrase = AssertionSuggestion(
        id="0123abcd", scenario="alpha", evaluator=EvaluatorSpec(name="contains", argument="dear \x1b[31mred\u202e"),
        why="the answer has \x1b[31mthis", mutants=("m", "n"), baseline=Rate(held=9, of=9),
        held_out=Rate(held=4, of=4), mutant=Rate(held=0, of=9), margin=0.4, generality=0.5, basis=Basis.RULE,
    )  # fmt: skip
    proposals = Proposals((phrase,), {"alpha": "scenarios.yaml:3"}, ("some are left out",))
    shown = render_mutant(result, row(result, "greet"), proposals=proposals)
    assert "# scenarios.yaml:3, scenario alpha, under evaluators:" in shown
    assert r'- contains: "dear \e[31mred\u202E"' in shown
    assert r'assert "dear \u001b[31mred\u202e" in trace.text.casefold()' in shown
    assert "kills 1 other survivor as" in " ".join(shown.split())
    assert "Note: some are left out." in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            BehaviourChange(changed=None, p=0.4, trials=22, visible=0.6),
            "what is new in 60 % of them or more",
        ),
        (BehaviourChange(changed=None, p=0.4, trials=22), "That does not prove that there is none"),
        (
            BehaviourChange(changed=False, p=0.4, trials=22, visible=0.42),
            "what is new in 42 % of its runs of a scenario",
        ),
    ],
)
def test_what_is_not_known_is_said_with_the_power_of_the_test(
    measured: tuple[Projects, Result], change: BehaviourChange, said: str
) -> None:
    survivor = row(measured[1], "topic").model_copy(update={"behaviour": change})
    assert said in " ".join(gap_in_words(survivor))
