"""The summary of a run fits 25 lines, names the survivors to begin with, and says what to do about each."""

import pytest

from agentmut.nouns import CheapModel, Cost, MutantRow, Score, SpentBudget, Status
from agentmut.report.report_wording import duration, money
from agentmut.report.terminal.run_page import render
from agentmut.report.terminal.summary_page import LINES, render_summary
from tests.report.results import result, row


def survivors(number: int, **changes: object) -> list[MutantRow]:
    return [
        row(f"{index:08x}", Status.SURVIVED, description=f"drop rule {index}", **changes)
        for index in range(number)
    ]


def with_classes(number: int) -> dict[str, Score]:
    names = ("context", "model", "orchestration", "prompt", "tool", "higher_order")[:number]
    return {name: Score(value=0.5, low=0.2, high=0.8, killed=5, survived=5, no_coverage=1) for name in names}


@pytest.mark.parametrize("classes", [1, 4, 6])
def test_a_summary_has_at_most_25_lines_of_80_columns(classes: int) -> None:
    notes = ("a note " * 40, "another")
    robust = Score(value=1.0, low=0.4, high=1.0, survived=9)
    found = result(*survivors(40), classes=with_classes(classes), robustness=robust, notes=notes)
    lines = render_summary(found, where=" --project somewhere/else").splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 80


LONG = " --project /srv/workspace-of-a-team/services/customer-support/agents/support_desk"


@pytest.mark.parametrize("gap", ["", "assertion", "scenario"])
def test_a_long_path_of_the_project_costs_no_survivor(gap: str) -> None:
    robust = Score(value=1.0, low=0.4, high=1.0, survived=9)
    found = result(
        *survivors(13, gap=gap), classes=with_classes(4), robustness=robust, notes=("a note " * 40,)
    )
    lines = render_summary(found, where=LONG).splitlines()
    assert "The 5 most important of 13 unnoticed changes" in lines
    assert [line[:11] for line in lines if line[:2] in {f"{n}." for n in range(1, 6)}] == [
        f"{n}. 0000000{n - 1}"[:11] for n in range(1, 6)
    ]
    assert len(lines) <= LINES
    assert lines[-1] == f"Each of these commands takes{LONG}"  # on one line, to copy
    assert sum("/srv/" in line for line in lines) == 1


def test_where_little_room_is_left_an_advice_stands_once_for_all_that_share_it() -> None:
    rows = [*survivors(3, gap="assertion"), row("cccccccc", Status.NO_COVERAGE)]
    found = result(*rows, row("dddddddd", Status.SURVIVED), classes=with_classes(6), problem="it broke " * 15)
    robust = Score(value=1.0, low=0.4, high=1.0, survived=9)
    text = render_summary(found.model_copy(update={"robustness": robust}), where=LONG)
    assert "5. " in text
    assert "1, 2, 3: Its behaviour changed unseen: add an assertion, `agentmut suggest`." in text
    assert text.count("\n") <= LINES


def test_five_survivors_are_shown_with_what_to_do_about_each() -> None:
    rows = [
        row("aaaaaaaa", Status.SURVIVED, gap="assertion", before="Never lie."),
        row("bbbbbbbb", Status.SURVIVED, gap="scenario", before="Be kind."),
        row("cccccccc", Status.NO_COVERAGE, before="Never smile."),
        *survivors(7, gap="unknown"),
    ]
    text = render_summary(result(*rows))
    assert "The 5 most important of 10 unnoticed changes" in text
    assert "add an assertion, `agentmut suggest`" in text.split("aaaaaaaa")[1].splitlines()[1]
    assert "add a scenario in which it matters" in text.split("bbbbbbbb")[1].splitlines()[1]
    assert "No scenario reaches it: add one" in text.split("cccccccc")[1].splitlines()[1]
    assert "`agentmut show 00000000`" in text
    assert "Next   `agentmut suggest` for assertions; `agentmut report --full` for all" in text


def test_classes_say_how_many_were_noticed_and_how_surely() -> None:
    classes = {
        "prompt": Score(value=0.45, low=0.2, high=0.8, killed=5, survived=5, no_coverage=1, undecided=2),
        "tool": Score(value=0.5, low=0.0, high=1.0, killed=1, survived=1, strong=1),
    }
    text = render_summary(result(*survivors(1), classes=classes))
    assert "prompt  5 of 11 noticed  0.45 [0.20, 0.80]  1 no coverage, 2 undecided" in text
    assert "tool    1 of 2 noticed   strong kills" in text


def test_an_unfinished_run_says_so_and_how_to_go_on() -> None:
    ended_by = SpentBudget(budget="trials", limit=3)
    problem = "the budget of 3 trials is used up"
    text = render_summary(result(*survivors(2), status="budget", problem=problem, ended_by=ended_by))
    assert problem in text
    assert "Next   `agentmut resume --trials N` with N above 3; " in text


def test_an_ended_run_goes_on_with_the_budget_that_ended_it() -> None:
    ended = (
        (SpentBudget(budget="usd", limit=0.5), "`agentmut resume --usd N` with N above 0.5"),
        (SpentBudget(budget="minutes", limit=30), "`agentmut resume --minutes N` with N above 30"),
        (SpentBudget(budget="trials", limit=2e6), "`agentmut resume --trials N` with N above 2000000"),
        (None, "`agentmut resume --usd N` with a larger budget (or --trials, --minutes)"),
    )
    for ended_by, command in ended:
        found = result(*survivors(2), status="budget", problem="a control failed", ended_by=ended_by)
        assert f"Next {command}; " in " ".join(render_summary(found).split())
        assert f"{command} goes on." in " ".join(render(found).split())


def test_a_budget_that_ended_too_early_says_what_is_missing() -> None:
    missing = "the budget (0.01 USD) ended before a mutant had its answer: about 9 further trials are missing"
    cut = "cut by the budget: 2 trials under way cost $0.41 and ended at their next model call"
    found = result(status="budget", notes=("another note", missing, cut))
    text = " ".join(render_summary(found).split())
    assert f"T{missing[1:]}." in text
    assert f"C{cut[1:]}." in text
    assert "another note" not in text


def test_a_run_without_survivors_has_no_list() -> None:
    text = render_summary(result(row("aaaaaaaa", Status.KILLED)))
    assert "unnoticed" not in text
    assert "Next   `agentmut report --full` for all" in text


def test_simulated_money_is_marked() -> None:
    cost = Cost(trials=3001, baseline_trials=500, tokens=9, usd=19.7479, seconds=530, simulated=True)
    assert "3,001 runs of the agent, 9 tokens, $19.75 simulated, 8 min 50 s" in render_summary(
        result(cost=cost)
    )
    assert money(cost.model_copy(update={"simulated": False})) == "$19.75"
    assert money(cost.model_copy(update={"usd": None})) == "cost unknown"
    assert duration(3600) == "1 h 0 min"


def test_the_page_is_named_once_it_is_written() -> None:
    assert "Page   .agentmut/runs/r1/report.html" in render_summary(
        result(), html=".agentmut/runs/r1/report.html"
    )
    assert "Page   `agentmut report --project p --format html" in render_summary(
        result(), where=" --project p"
    )


def test_runs_that_were_not_compared_are_not_said_to_show_no_change() -> None:
    """A project that keeps no texts has no gaps: nothing tells whether behaviour changed."""
    text = render_summary(result(*survivors(1, gap=None)))
    assert "Its runs were not compared" in text
    assert "No change was found" not in text


@pytest.mark.parametrize(
    ("rho", "worth", "said"),
    [(0.67, True, "rho 0.67: saves 14 % of the mutants"), (0.2, False, "rho 0.20: not worth it")],
)
def test_a_cheap_model_is_told_with_its_agreement_and_its_price(rho: float, worth: bool, said: str) -> None:
    cheap = CheapModel(
        model="a-family/a-model-with-a-long-name-2026-11-27",
        run_id="r0",
        decided=17,
        both=11,
        rho=rho,
        weight=0.16,
        saved=0.14,
        is_worth_it=worth,
        trials=84,
        usd=0.0147,
    )
    page = render_summary(result(*survivors(40), cheap_model=cheap))
    flat = " ".join(page.split())
    assert said in flat and "84 runs, $0.01 extra" in flat
    assert len(page.splitlines()) <= LINES and max(map(len, page.splitlines())) <= 80


def test_a_class_without_a_decision_is_a_sentence() -> None:
    text = render_summary(result(classes={"prompt": Score(value=None, low=0, high=1, undecided=16)}))
    assert "prompt  the run decided none of 16 mutants" in text


def test_all_unnoticed_changes_are_not_called_the_most_important() -> None:
    text = render_summary(result(*survivors(3)))
    assert "\n3 unnoticed changes\n" in text and "most important" not in text


def test_a_class_without_a_decision_leaves_the_columns_of_the_others_narrow() -> None:
    classes = {
        "context": Score(value=None, low=0.0, high=1.0, undecided=12),
        "tool": Score(value=0.5, low=0.0, high=1.0, killed=1, survived=1, strong=1),
    }
    text = render_summary(result(*survivors(1), classes=classes))
    assert "context  the run decided none of 12 mutants" in text
    assert "tool     1 of 2 noticed  strong kills" in text


def test_a_command_stays_on_one_line() -> None:
    text = render_summary(result(*survivors(2, gap="assertion")), where=" --project a_folder_of_mine")
    assert all(line.count("`") % 2 == 0 for line in text.splitlines())


def test_a_long_reason_of_what_was_left_out_does_not_cut_the_command() -> None:
    reason = "the graph does not compile; " * 12
    note = f"left out of this run: 2 mutants of a.b: {reason}no. `agentmut mutants` lists them"
    text = " ".join(render_summary(result(*survivors(1), notes=(note,))).split())
    assert "... `agentmut mutants` lists them." in text and "more characters" not in text


def test_a_class_of_untestable_mutants_says_so() -> None:
    all_of_them = Score(value=None, low=0, high=1, untestable=16)
    some = Score(value=0.75, low=0.2, high=1, killed=3, survived=1, untestable=2, strong=3)
    found = result(classes={"prompt": all_of_them, "tool": some})
    text = render_summary(found)
    assert "prompt  16 mutants untestable: the agent fails too often" in text
    assert "tool    3 of 4 noticed" in text and "2 untestable" in text
